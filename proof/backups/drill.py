"""The drill: workers and a client under load, a backup taken online, more load, the database put back, more load."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from haulwright.errors import DatabaseLost
from haulwright.stores.store import Store
from proof.backups.held import QUEUE, Held, go
from proof.faults.crew import Crew, Member, is_drained, until
from proof.support.checker import _rows_twice, _stuck
from proof.support.diary import Entry
from proof.support.facts import Facts
from proof.support.site import ROOT, Site
from proof.support.workload import QUEUES, Workload

APP = "proof.backups.app:app"
OPEN_SECONDS = 0.5
_OPEN = f"""
select 1 from pg_stat_activity where xact_start is not null and pid <> pg_backend_pid()
and clock_timestamp() - greatest(state_change, query_start) > interval '{OPEN_SECONDS / 2} seconds'
"""
MARKS = ("backup.begin", "backup.end", "restore.begin", "restore.end")
"""What the drill writes into the diary: by these an acknowledgement has its time."""
BETWEEN = "between"


@dataclass(frozen=True)
class Drill:
    """What was there, and what is."""

    acknowledged: dict[str, set[str]]
    """The jobs that a client was told of, by the mark before it; `start` before the first. Of one that was asked for
    before a mark and noted after it nobody knows which came first: it stands under `between`."""
    facts: Facts
    refused: Counter[str]
    """Enqueues that were refused, by the reason."""
    writes: list[dict[str, Any]]
    """What became of the writes of the held job's runs, in order."""
    acts: Counter[str]
    """How often something was done outside, by its key."""
    codes: list[int]
    """How the workers ended that ran on."""
    put_backs: int
    """Workers that noticed it and went on."""
    backup: dict[str, Any]
    strays: list[str]

    def _absent(self, mark: str) -> set[str]:
        return self.acknowledged[mark] - set(self.facts.by_id())

    @property
    def gone(self) -> int:
        """Jobs that were acknowledged and are in no file."""
        return sum(len(self._absent(mark)) for mark in self.acknowledged)

    @property
    def wrong(self) -> list[str]:
        """What the promise does not allow; empty is what the drill wants to see."""
        kept = {mark: self._absent(mark) for mark in ("start", "restore.end")}
        returned = self.acknowledged["backup.end"] - self._absent("backup.end")
        return [
            *(f"acknowledged {mark} and gone: {job}" for mark, jobs in kept.items() for job in jobs),
            *(f"acknowledged after the backup and there: {job}" for job in returned),
            *(f"not ended: {job.id} is {job.state}" for job in self.facts.jobs if job.state != "succeeded"),
            *(f"stuck: {job}" for job in _stuck(self.facts)),
            *_rows_twice(self.facts),
            *self._without_rows(),
            *self.strays,
        ]

    def _without_rows(self) -> list[str]:
        """Jobs that ended and whose commit is not in the history that survived."""
        rows = {job_id for _, job_id, _ in self.facts.sink}
        return [f"{job.id} has no row" for job in self.facts.jobs if job.task != "note" and job.id not in rows]

    @property
    def repeated(self) -> int:
        """Effects outside that happened again, under the key that they had."""
        return sum(times > 1 for times in self.acts.values())

    def __str__(self) -> str:
        counts = {mark: len(jobs) for mark, jobs in self.acknowledged.items()}
        refusals = sum(not write["accepted"] for write in self.writes)
        return (
            f"acknowledged {counts}; gone {self.gone}, not allowed {len(self.wrong)}; enqueues refused "
            f"{sum(self.refused.values())} {dict(self.refused)}; acts repeated under their key {self.repeated}; stale "
            f"writes refused {refusals} of {len(self.writes)}; put back noticed by {self.put_backs}, workers ended "
            f"with {self.codes}; backup {self.backup['size_bytes']} bytes in {self.backup['seconds']} s"
        )


def hold_a_drill(work: Workload, *, jobs: int, workers: int) -> Drill:
    """Take a backup under load, put it back under load, and let everything end."""
    site, target = work.site, work.site.folder / "backup"
    (held,) = work.enqueue(Held(work).task, range(1))
    queues = ",".join(QUEUES)
    with Crew(site, app=APP, queues=queues) as crew, Crew(site, app=APP, queues=QUEUE, name="held") as holders:
        crew.start(workers)
        client = site.spawn("proof.backups.client", "the first load ends")
        until("the load is on", lambda: _count(work) >= jobs)
        backup = _back_up(work, target)
        until("the load goes on", lambda: _count(work) >= 2 * jobs)
        (stale,) = holders.start(1)
        until("a worker runs the held job", lambda: _runs(work, held) == 1)
        until("it stands still between two transactions", partial(_stop, site, stale))
        _put_back(work, target, backup)
        codes = _run_on(site, crew, workers)
        after = site.spawn("proof.backups.client", "the load ends")
        _let_both_write(work, held, stale, holders)
        until("the load goes on", lambda: _count(work) >= 3 * jobs)
        for flag in ("the first load ends", "the load ends"):
            site.raise_flag(flag)
        assert (client.wait(60), after.wait(60)) == (0, 0)
        with closing(site.open_store()) as store:
            until("all jobs are finished", lambda: is_drained(store))
            until("the settlers are done", lambda: not list(_unfinished(store)))
            facts = Facts.read(store)
        crew.stop()
        holders.stop()
        put_backs = len(crew.told("put back to an earlier time")) + len(holders.told("put back to an earlier time"))
        strays = [line for line in [*crew.strays(), *holders.strays()] if "Traceback" in line]
    return _drill(work, facts, codes=codes, put_backs=put_backs, backup=backup, strays=strays)


def _stop(site: Site, member: Member) -> bool:
    """Let a worker stand still; where it holds a transaction open, which a restore would wait for, let it go on."""
    member.process.send_signal(signal.SIGSTOP)
    if site.database == "sqlite":
        return True
    time.sleep(OPEN_SECONDS)
    with closing(site.open_store()) as store:
        is_open = store.database.read(lambda connection: connection.execute(_OPEN))
    if is_open:
        member.process.send_signal(signal.SIGCONT)
    return not is_open


def _back_up(work: Workload, target: Path) -> dict[str, Any]:
    work.diary.write("backup.begin")
    command = [sys.executable, "-m", "haulwright", "db", "backup", str(target), "--json", "--database", work.site.url]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    work.diary.write("backup.end")
    return dict(json.loads(answer.stdout))


def _put_back(work: Workload, target: Path, backup: dict[str, Any]) -> None:
    """By the lines that the backup said; a file comes by a rename, as it must where others still have it open."""
    work.diary.write("restore.begin")
    if backup["format"] == "pg_dump":
        from haulwright.stores.postgres.backup import libpq_environment  # noqa: PLC0415 - the driver is optional

        (line,) = backup["restore"]
        until("the restore is through", partial(_restore, shlex.split(line), libpq_environment(work.site.url)))
    else:
        path = Path(work.site.url.removeprefix("sqlite:///"))
        copy = path.with_name("next.db")
        copy.write_bytes(target.read_bytes())
        for end in ("-wal", "-shm"):
            path.with_name(f"{path.name}{end}").unlink(missing_ok=True)
        copy.replace(path)
    work.diary.write("restore.end")


def _restore(command: list[str], environment: dict[str, str]) -> bool:
    """Type the line; where it met workers in a deadlock and gave way, nothing was changed, and it is typed again."""
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert answer.returncode == 0 or "deadlock detected" in answer.stderr, answer.stderr
    return answer.returncode == 0


def _run_on(site: Site, crew: Crew, workers: int) -> list[int]:
    """On PostgreSQL the workers go on; on SQLite they end with the reason, and new ones take their place."""
    if site.database == "sqlite":
        codes = [member.process.wait(60) for member in crew.members]
        assert set(codes) == {DatabaseLost.exit_code}, crew.members[0].last_words()
        crew.start(workers)
        return codes
    return []


def _let_both_write(work: Workload, held: str, stale: Member, holders: Crew) -> None:
    """Another worker has the held job under the same number, before the first one goes on."""
    (second,) = holders.start(1)
    until("another worker runs the held job", lambda: _runs(work, held) == 2)
    for tries, member in enumerate((stale, second), 1):
        work.site.raise_flag(go(member.pid))
        if member is stale:  # it may go on at once: a worker that sees that its file was replaced ends, with its runs
            stale.process.send_signal(signal.SIGCONT)
        until("it has tried to write", partial(_has_written, work, tries))


def _drill(work: Workload, facts: Facts, **found: Any) -> Drill:
    diary: list[Entry] = work.diary.read()
    refused = Counter(str(entry.more["kind"]) for entry in diary if entry.event == "refused")
    acts = Counter(str(entry.job) for entry in work.outside.read())
    writes = [entry.more for entry in diary if entry.event == "write"]
    return Drill(acknowledged_by_mark(diary), facts, refused, writes, acts, **found)


def acknowledged_by_mark(diary: Iterable[Entry]) -> dict[str, set[str]]:
    """The jobs of a diary whose intent and acknowledgement both lie between the same two marks, and those of others."""
    acknowledged: dict[str, set[str]] = {mark: set() for mark in ("start", *MARKS, BETWEEN)}
    mark, intents = "start", dict[str, str]()
    for entry in diary:
        if entry.event in MARKS:
            mark = entry.event
        elif entry.event == "enqueue.intent" and entry.job:
            intents[entry.job] = mark
        elif entry.event == "enqueue.ok" and entry.job:
            acknowledged[mark if intents.get(entry.job, mark) == mark else BETWEEN].add(entry.job)
    return acknowledged


def _count(work: Workload) -> int:
    return len(work.diary.of("enqueue.ok"))


def _has_written(work: Workload, times: int) -> bool:
    return len(work.diary.of("write")) >= times


def _runs(work: Workload, job: str) -> int:
    return sum(entry.job == job for entry in work.diary.of("run.begin"))


def _unfinished(store: Store) -> list[str]:
    return [job.id for job in Facts.read(store).jobs if not job.is_final]
