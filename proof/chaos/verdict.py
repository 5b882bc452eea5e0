"""What is left of a campaign: the checker's verdict, and whether each loss, end and repetition has its fault."""

from __future__ import annotations

import signal
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from haulwright.stores.store import Store
from proof.chaos.blows import Blow, Blows
from proof.chaos.fleet import Ended, Fleet
from proof.chaos.load import LEDGERED, Load
from proof.support.checker import PROCESS_DIED, Evidence, Verdict, check
from proof.support.diary import Entry
from proof.support.facts import Facts

MINUTE = 60_000_000
OWN_FAILURE = "Retryable"
"""What the tasks raise themselves: every other failure of a run is somebody else's."""
PROCESS_BLOWS = ("kill -9", "SIG")
TERM = "SIGTERM to a worker"
CHILD = "kill -9 of a child"
MARGIN_SECONDS = 15.0
"""So long around an outage a worker may refuse to start, and one that was told to stop may fail to give back."""
NO_DATABASE = 69
SHOWN = 40
REFUSED_WRITES = "writes refused after the lease was lost"


@dataclass(frozen=True)
class Acts:
    """What happened outside, by an append-only log that has one order for all processes."""

    repeated: list[str]
    """Done again although it had been done, and whoever did it could have seen that."""
    overlapping: int
    """Done by two runs at once, of which one had lost its lease in the middle of it: under one key, and unavoidable."""


@dataclass(frozen=True)
class Findings:
    """The findings of a campaign."""

    verdict: Verdict
    acts: Acts
    blows: Blows
    harm: list[str]
    figures: dict[str, int]
    seconds: float

    def report(self) -> Iterator[str]:
        """Lines for a person."""
        figures = ", ".join(f"{name} {figure}" for name, figure in self.figures.items())
        yield f"{self.seconds:.0f} s, {len(self.blows.all)} faults; {figures}"
        yield f"{self.verdict}; effects done by two runs at once {self.acts.overlapping}"
        yield "faults: " + ", ".join(f"{kind} {times}" for kind, times in sorted(self.blows.counts().items()))
        yield from self.harm[:SHOWN]


@dataclass(frozen=True)
class Rest:
    """How a campaign came to rest."""

    drained: bool
    codes: list[int]
    """Of the workers that were told to stop at last."""
    seconds: float


def judge(load: Load, fleet: Fleet, blows: Blows, rest: Rest) -> Findings:
    """Weigh everything that is left."""
    facts, diary, outside = Facts.read(load.app.store), load.diary.read(), load.outside.read()
    acts = acts_of(outside)
    verdict = check(Evidence(facts, diary, due_slots=_due_slots(facts), ledgered=LEDGERED))
    strays = [line for crew in fleet.crews for line in crew.strays()]
    losses = [*_losses(facts, _pids_of(load.app.store))]
    refused = [entry for entry in diary if entry.event == "refused"]
    harm = [
        *([] if rest.drained else ["stuck: there were still active jobs when the time to come to rest was over"]),
        *verdict.wrong,
        *acts.repeated,
        *(f"stale accepted: {row}" for row in _stale_rows(load.app.store)),
        *(f"unfinished: {job}" for job in facts.jobs if job.state != "succeeded"),
        *_burnt(facts),
        *_unexplained(losses, blows),
        *_deaths_of_children(facts, blows),
        *_unexplained_ends(fleet, blows),
        *(f"a worker ended with {code} at last" for code in rest.codes if code),
        *_misinformed(facts, refused),
        *(f"a client saw {entry.more['kind']}" for entry in diary if entry.event == "stray"),
        *(f"stray: {line}" for line in strays),
    ]
    figures = {
        "acknowledged": sum(entry.event == "enqueue.ok" for entry in diary),
        "refused": sum(not entry.more["unknown"] for entry in refused),
        "unknown": sum(entry.more["unknown"] for entry in refused),
        "runs": sum(entry.event == "run.begin" for entry in diary),
        "leases lost": len(losses),
        REFUSED_WRITES: sum(entry.event == "write" and not entry.more["accepted"] for entry in diary),
        "workers": sum(len(crew.members) for crew in fleet.crews),
        "clients": fleet.client_starts,
        "slots": len(facts.slots),
    }
    return Findings(verdict, acts, blows, harm, figures, rest.seconds)


def acts_of(outside: list[Entry]) -> Acts:
    """Find what was done twice: an act counts as seen by whoever began to look, or to act, after it."""
    first: dict[str, int] = {}
    recorded: dict[str, int] = {}
    """By key: the highest fence under which the act is known to be recorded."""
    looked: dict[tuple[str, int], bool] = {}
    """By key and fence: whether the act was there when this run began to look."""
    repeated, overlapping = [], 0
    for place, entry in enumerate(outside):
        key, fence = str(entry.job), entry.fence or 0
        if entry.event in {"look", "begins"}:
            looked.setdefault((key, fence), key in first)
            if entry.event == "begins" and recorded.get(key, 0) and fence >= recorded[key]:
                repeated.append(f"duplicated: {key} began again under fence {fence} after it was recorded")
        elif entry.event == "charge" and key in first:
            if looked.get((key, fence), True):
                repeated.append(f"duplicated: {key} was done again under fence {fence}, line {place}")
            else:
                overlapping += 1
        elif entry.event == "charge":
            first[key] = place
        elif entry.event == "recorded":
            recorded[key] = max(fence, recorded.get(key, 0))
    return Acts(repeated, overlapping)


def _due_slots(facts: Facts) -> dict[str, set[int]]:
    """Every minute from the first that was opened to the last one."""
    opened: dict[str, list[int]] = defaultdict(list)
    for schedule, moment, _, _ in facts.slots:
        opened[schedule].append(moment)
    return {schedule: set(range(min(at), max(at) + 1, MINUTE)) for schedule, at in opened.items()}


def _stale_rows(store: Store) -> list[tuple[object, ...]]:
    """Rows that a commit wrote while its job ran under another fence, or did not run."""
    sql = "select owner, job_id, fence, held from proof_sink where held is null or held <> fence"
    return store.database.read(lambda connection: list(connection.execute(sql)))


def _pids_of(store: Store) -> dict[str, int]:
    rows = store.database.read(lambda connection: list(connection.execute("select id, pid from haulwright_workers")))
    return {str(worker): int(pid) for worker, pid in rows}


def _losses(facts: Facts, pids: dict[str, int]) -> Iterator[tuple[str, int, int | None]]:
    """(job, fence, process of the worker that held it) of each lease that was taken back."""
    for event in facts.events:
        if event.name == "job.lease_expired":
            yield event.job, event.fence or 0, pids.get(str(event.data["held_by"]))


def _unexplained(losses: list[tuple[str, int, int | None]], blows: Blows) -> Iterator[str]:
    """Leases that were taken from a worker that was neither killed, nor stopped, nor cut off."""
    outages = [blow for blow in blows.all if not blow.kind.startswith(PROCESS_BLOWS)]
    for job, fence, pid in losses:
        struck = blows.on(pid) if pid is not None else []
        if not any(blow.kind != TERM or _is_near_one(blow, outages) for blow in struck):
            yield f"burnt: job {job} lost its lease of fence {fence} under worker {pid}, to whom nothing was done"


def _is_near_one(blow: Blow, outages: list[Blow]) -> bool:
    return any(outage.is_near(blow.began, blow.ended, MARGIN_SECONDS) for outage in outages)


def _burnt(facts: Facts) -> Iterator[str]:
    """Attempts that were counted for what was not the task's fault, nor that of a process that died under it."""
    failures: dict[str, int] = Counter()
    for event in facts.events:
        if event.name == "job.failed":
            failures[event.job] += event.data["error_class"] == OWN_FAILURE
            if event.data["error_class"] != OWN_FAILURE and event.data["error_code"] != PROCESS_DIED:
                yield f"burnt: job {event.job} failed by {event.data}"
    for job in facts.jobs:
        if job.is_final and job.attempts > 1 + failures[job.id] + job.losses:
            yield f"burnt: {job} failed {failures[job.id]} times by itself"


def _deaths_of_children(facts: Facts, blows: Blows) -> Iterator[str]:
    died = [event for event in facts.events if event.name == "job.failed" and event.data["error_code"] == PROCESS_DIED]
    killed = sum(len(blow.pids) for blow in blows.all if blow.kind == CHILD)
    if len(died) > killed:
        yield f"burnt: {len(died)} children died, and {killed} were killed: {[event.data for event in died[:3]]}"


def _unexplained_ends(fleet: Fleet, blows: Blows) -> Iterator[str]:
    """Workers that ended by themselves: only one that cannot reach its database may refuse to start."""
    outages = [blow for blow in blows.all if not blow.kind.startswith(PROCESS_BLOWS)]
    for ended in fleet.ended:
        kinds = {blow.kind for blow in blows.on(ended.member.pid)}
        if not _is_expected(ended, kinds, outages):
            last = " | ".join(ended.member.last_words())
            yield f"worker {ended.member.pid} ended with {ended.code} after {sorted(kinds) or 'nothing'}: {last}"


def _is_expected(ended: Ended, kinds: set[str], outages: list[Blow]) -> bool:
    if ended.code == -signal.SIGKILL:
        return any(kind.startswith("kill -9 of a") for kind in kinds)
    if TERM in kinds and (ended.code == 0 or (ended.code == -signal.SIGTERM and not ended.was_at_work)):
        return True
    away = any(outage.is_near(ended.at, ended.at, MARGIN_SECONDS) for outage in outages)
    return ended.code == NO_DATABASE and not ended.had_started and away


def _misinformed(facts: Facts, refused: list[Entry]) -> Iterator[str]:
    """Jobs that are there although the client was told that nothing was written."""
    jobs = facts.by_id()
    for entry in refused:
        if not entry.more["unknown"] and entry.job in jobs:
            yield f"denied, and yet enqueued: {entry.job}"
