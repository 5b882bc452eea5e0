"""The checker: from a client's diary, the workers' diary and the tables to a verdict.

It reports the five numbers of a queue under faults (lost, unexpected, duplicated, recovered, stuck), what a stale run
could and could not do, and the slots. Everything else that contradicts an invariant is an anomaly with its name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from proof.support.diary import Entry
from proof.support.facts import EventFact, Facts, JobFact

ENDS = {
    "job.completed", "job.retry", "job.dead_lettered", "job.snoozed", "job.released", "job.cancelled", "job.skipped",
}  # fmt: skip
FINAL_EVENTS = {"job.completed", "job.dead_lettered", "job.cancelled", "job.skipped"}
AFTER_THE_END = {"job.requeued", "effect.resolved", "slot.opened"}
FIRING = {"fired", "backfilled", "manual"}
PROCESS_DIED = "process_died"
"""The code of a loss that was seen at once: the job was alone in a child process, and that died."""
LEDGERED = frozenset({"pipeline", "settling", "failing", "snoozing", "joining", "governed", "visiting", "meeting"})
"""The tasks whose success means one effect and one commit in the ledger."""


@dataclass(frozen=True)
class Verdict:
    """What became of everything."""

    lost: list[str]
    """Acknowledged, and neither finished nor waiting."""
    unexpected: list[str]
    """Jobs that nobody asked for."""
    duplicated: list[str]
    """Leases that ran twice, effects that acted twice, commits with two rows."""
    recovered: list[str]
    """Enqueued although the client was never told so."""
    stuck: list[str]
    """Drained, and yet due or running."""
    stale_accepted: list[str]
    """Writes of runs that had lost their lease, and were taken."""
    stale_refused: int
    slot_dup: list[str]
    slot_missing: list[str]
    repeated: list[str]
    """Jobs that ran more than once because a lease was lost or a run failed: allowed, and worth knowing."""
    anomalies: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        """Everything that breaks the promise; empty is what a proof wants to see."""
        named = ("lost", "unexpected", "duplicated", "stuck", "stale_accepted", "slot_dup", "slot_missing")
        return [f"{name}: {what}" for name in named for what in getattr(self, name)] + self.anomalies

    @property
    def summary(self) -> str:
        """One word where nothing is wrong."""
        return "nothing wrong" if not self.wrong else f"{len(self.wrong)} WRONG"

    def __str__(self) -> str:
        lists = ("lost", "unexpected", "duplicated", "recovered", "stuck", "stale_accepted")
        told = [f"{name} {len(getattr(self, name))}" for name in lists]
        return ", ".join([*told, f"stale_refused {self.stale_refused}", f"anomalies {len(self.anomalies)}"])


@dataclass(frozen=True)
class Evidence:
    """What a verdict is made from."""

    facts: Facts
    diary: list[Entry] = field(default_factory=list)
    outside: list[Entry] = field(default_factory=list)
    due_slots: dict[str, set[int]] | None = None
    """By an evaluation of our own: the slots that each schedule owed; None where that is not asked."""
    drained: bool = True
    ledgered: frozenset[str] = LEDGERED


def check(evidence: Evidence) -> Verdict:
    """Weigh the evidence."""
    facts, diary = evidence.facts, evidence.diary
    jobs = facts.by_id()
    meant = {entry.job for entry in diary if entry.event == "enqueue.intent"}
    told = {entry.job for entry in diary if entry.event == "enqueue.ok"}
    begun = Counter(entry.job for entry in diary if entry.event == "run.begin")
    return Verdict(
        lost=sorted(job for job in told if job and job not in jobs),
        unexpected=_unexpected(facts, meant),
        duplicated=[*_runs_twice(diary), *_acts_twice(evidence.outside), *_rows_twice(facts)],
        recovered=sorted(job for job in meant - told if job in jobs),
        stuck=sorted(_stuck(facts)) if evidence.drained else [],
        stale_accepted=[
            f"{e.more['verb']} of {e.job} under fence {e.fence}" for e in _stale(diary) if e.more["accepted"]
        ],
        stale_refused=sum(not entry.more["accepted"] for entry in _stale(diary)),
        slot_dup=_slot_dup(facts),
        slot_missing=_slot_missing(facts, evidence.due_slots),
        repeated=sorted(job for job, runs in begun.items() if job and runs > 1),
        anomalies=[*_anomalies(evidence)],
    )


def _unexpected(facts: Facts, meant: set[str | None]) -> list[str]:
    by_slot = {job for _, _, _, job in facts.slots}
    return sorted(job.id for job in facts.jobs if job.id not in meant | by_slot and job.requeued_from is None)


def _runs_twice(diary: list[Entry]) -> list[str]:
    runs = Counter((entry.job, entry.fence) for entry in diary if entry.event == "run.begin")
    return [f"job {job} ran {times} times under fence {fence}" for (job, fence), times in runs.items() if times > 1]


def _acts_twice(outside: list[Entry]) -> list[str]:
    acts = Counter((entry.event, entry.job) for entry in outside)
    return [f"effect {event} of {key} acted {times} times" for (event, key), times in acts.items() if times > 1]


def _rows_twice(facts: Facts) -> list[str]:
    rows = Counter(key for key, _, _ in facts.sink)
    return [f"commit of {key} wrote {times} rows" for key, times in rows.items() if times > 1]


def _stuck(facts: Facts) -> Iterator[str]:
    for job in facts.jobs:
        if job.state == "running" or (job.state == "queued" and job.run_at <= facts.now):
            yield job.id


def _stale(diary: list[Entry]) -> Iterator[Entry]:
    """Writes that were tried under a fence after a newer one had begun to run."""
    newest: dict[str | None, int] = defaultdict(int)
    for entry in diary:
        if entry.event == "run.begin":
            newest[entry.job] = max(newest[entry.job], entry.fence or 0)
        elif entry.event == "write" and (entry.fence or 0) < newest[entry.job]:
            yield entry


def _slot_dup(facts: Facts) -> list[str]:
    jobs = Counter(job for _, _, disposition, job in facts.slots if disposition in FIRING)
    slots = Counter((schedule, moment) for schedule, moment, _, _ in facts.slots)
    return [f"job {job} of {n} slots" for job, n in jobs.items() if n > 1] + [
        f"slot {slot} opened {n} times" for slot, n in slots.items() if n > 1
    ]


def _slot_missing(facts: Facts, due: dict[str, set[int]] | None) -> list[str]:
    if due is None:
        return []
    opened = {(schedule, moment) for schedule, moment, _, _ in facts.slots}
    by_hand = {(schedule, moment) for schedule, moment, how, _ in facts.slots if how in {"manual", "backfilled"}}
    owed = {(schedule, moment) for schedule, moments in due.items() for moment in moments}
    missing = [f"{schedule} at {moment}" for schedule, moment in sorted(owed - opened)]
    return missing + [f"{name} at {moment}, which nobody owed" for name, moment in sorted(opened - by_hand - owed)]


def _anomalies(evidence: Evidence) -> Iterator[str]:
    facts = evidence.facts
    yield from _one_place(facts)
    yield from _one_job_per_key(facts)
    yield from _permits_have_owners(facts, drained=evidence.drained)
    yield from _gates_agree(facts, drained=evidence.drained)
    yield from _slots_have_jobs(facts)
    if evidence.drained:
        yield from (f"job {parent} still waits for job {child}" for child, parent in facts.joins)
    yield from _ledger_agrees(facts, evidence.ledgered)
    by_job: dict[str, list[EventFact]] = defaultdict(list)
    for event in facts.events:
        by_job[event.job].append(event)
    for job in facts.jobs:
        yield from _history_of(job, by_job[job.id])


def _one_place(facts: Facts) -> Iterator[str]:
    for job, places in Counter(job.id for job in facts.jobs).items():
        if places > 1:
            yield f"I12: job {job} is active and finished at once"


def _one_job_per_key(facts: Facts) -> Iterator[str]:
    """I3: a key stands for one job at a time, or for one job ever; only a requeue may give it another."""
    active = [job for job in facts.jobs if job.unique_scope == "while_active" and not job.is_final]
    first = [job for job in facts.jobs if job.requeued_from is None]
    forever = [job for job in first if job.unique_scope == "forever"]
    keys: dict[str, Counter[Any]] = {
        "active": Counter((job.tenant, job.task, job.unique_key) for job in active),
        "forever": Counter((job.tenant, job.task, job.unique_key) for job in forever),
        "planned": Counter((job.tenant, job.job_key) for job in first),
        "requeue": Counter(job.requeued_from for job in facts.jobs if job.requeued_from is not None),
    }
    for kind, counts in keys.items():
        for key, jobs in counts.items():
            if jobs > 1:
                yield f"I3: {jobs} jobs under the {kind} key {key}"


def _permits_have_owners(facts: Facts, *, drained: bool) -> Iterator[str]:
    """I17: a permit belongs to a running job under its fence, and to nobody when all is done."""
    running = {(job.id, job.fence) for job in facts.jobs if job.state == "running"}
    for key, number, job, fence in facts.permits:
        if drained or (job, fence) not in running:
            yield f"I17: permit {number} of {key} is held by {job} under fence {fence}, which does not run"


def _gates_agree(facts: Facts, *, drained: bool) -> Iterator[str]:
    """I17: a source counts the permits that there are, and none when all is done."""
    for source, held, permits in facts.gates:
        if held != permits or (drained and held):
            yield f"I17: source {source} counts {held} permits, and there are {permits}"


def _slots_have_jobs(facts: Facts) -> Iterator[str]:
    jobs = facts.by_id()
    for schedule, moment, disposition, job in facts.slots:
        if disposition in FIRING and job not in jobs:
            yield f"I12: the slot {moment} of {schedule} names job {job}, which does not exist"


def _ledger_agrees(facts: Facts, ledgered: frozenset[str]) -> Iterator[str]:
    """I10, I11, I12: rows of commits exist if and only if the ledger says so; success means that all is recorded."""
    done = {(f"{tenant}/{key}", name) for tenant, _, key, name, state, _ in facts.effects if state == "done"}
    committed = {key for key, name in done if name == "commit:save"}
    saved = {key for key, _, _ in facts.sink}
    for key in committed ^ saved:
        yield f"I12: the ledger and the rows of job key {key} disagree"
    for job in facts.jobs:
        if job.task in ledgered and job.state == "succeeded":
            for name in ("charge", "commit:save"):
                if (f"{job.tenant}/{job.job_key}", name) not in done:
                    yield f"I11: job {job.id} succeeded without its {name}"


def _history_of(job: JobFact, events: list[EventFact]) -> Iterator[str]:
    yield from _counters_agree(job, events)
    yield from _fences_are_told(job, events)
    yield from _end_is_final(job, events)


def _counters_agree(job: JobFact, events: list[EventFact]) -> Iterator[str]:
    """I9: each counter is the number of events that count it."""
    names = Counter(event.name for event in events)
    refunds = names["job.snoozed"] + names["job.released"]
    losses = names["job.lease_expired"] + sum(event.data.get("error_code") == PROCESS_DIED for event in events)
    wanted = {"attempts": job.fence - refunds, "deferrals": names["job.snoozed"], "losses": losses}
    if job.source is not None:  # it may have got its turn without a claim: put off, and there is no run to tell of
        wanted["deferrals"] = max(job.deferrals, names["job.snoozed"])
    for counter, value in wanted.items():
        if getattr(job, counter) != value:
            yield f"I9: job {job.id} has {counter} {getattr(job, counter)}, and its events say {value}"
    if job.attempts > job.max_attempts:
        yield f"I9: job {job.id} ran {job.attempts} times, and may run {job.max_attempts} times"


def _fences_are_told(job: JobFact, events: list[EventFact]) -> Iterator[str]:
    """I4: fences are 1, 2, 3, and each but a first success and the running one has its end in the events."""
    ended = [event.fence for event in events if event.name in ENDS and event.fence]
    silent = job.state == "running" or (job.state == "succeeded" and job.fence == 1)
    told = sorted({fence for fence in ended if fence} | ({job.fence} if silent else set()))
    if told != list(range(1, job.fence + 1)) and job.fence:
        yield f"I4: job {job.id} is at fence {job.fence}, and its events tell of {told}"
    started = Counter(event.fence for event in events if event.name == "job.started")
    for fence, times in started.items():
        if times > 1:
            yield f"I4: job {job.id} started {times} times under fence {fence}"


def _end_is_final(job: JobFact, events: list[EventFact]) -> Iterator[str]:
    """I7, I8: after the end comes nothing but what people do to dead letters; a final state has one final event."""
    finals = [event for event in events if event.name in FINAL_EVENTS]
    quiet = job.state == "succeeded" and job.fence == 1
    if len(finals) != (1 if job.is_final and not quiet else 0):
        yield f"I7: job {job.id} is {job.state} and has the final events {[event.name for event in finals]}"
    for event in events:
        if finals and event.seq > finals[0].seq and event.name not in AFTER_THE_END:
            yield f"I7: job {job.id} had {event.name} after its end"
