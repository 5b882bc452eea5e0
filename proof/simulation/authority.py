"""Who may change what: after every call the tables are compared with what they were, row by row.

Nothing is believed that the store says about itself. A row that changed must have been the caller's to change: a
lease's, under its fence and running; an expired one's, for a reaper; a waiting one's, for a claim.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from haulwright.stores.store import Store
from proof.simulation.acts import Act

LEASED = {"run", "renew", "settle"}
MAKES_JOBS = {"enqueue", "requeue", "open", "declare", "run"}
_COLUMNS = (
    "id, state, fence, attempts, deferrals, run_at, waiting_on, worker_id, lease_expires_at, deadline_at, "
    "cancel_reason, progress, concurrency_key, concurrency_limit"
)


class Row(NamedTuple):
    """An active job."""

    id: str
    state: str
    fence: int
    attempts: int
    deferrals: int
    run_at: int
    waiting_on: str | None
    worker_id: str | None
    lease_expires_at: int | None
    deadline_at: int | None
    cancel_reason: str | None
    progress: str | None
    key: str | None
    limit: int | None


@dataclass(frozen=True)
class Snapshot:
    """The tables between two calls."""

    jobs: dict[str, Row]
    history: dict[str, tuple[Any, ...]]
    owned: dict[tuple[Any, ...], tuple[Any, ...]]
    """Effects, stages and rows of commits: whose they are (job and fence) and what they say."""
    permits: dict[tuple[str, int], tuple[str, int]]
    """(key, number) to (job, fence)."""

    @classmethod
    def of(cls, store: Store) -> Snapshot:
        """Look at the tables as they are on disk."""
        return store.database.read(_look)


def _look(connection: Any) -> Snapshot:
    jobs = (Row(*row) for row in connection.execute(f"select {_COLUMNS} from haulwright_jobs"))
    history = connection.execute("select id, state, reason, fence, result, requeued_to from haulwright_history")
    effects = connection.execute("select 'effect', tenant || key, job_id, fence, state, result from haulwright_effects")
    stages = connection.execute(
        "select 'stage', tenant || job_key, generation, job_id, fence, stage from haulwright_stages"
    )
    rows = connection.execute("select 'row', owner, job_id, fence, count(*) from proof_sink group by 1, 2, 3, 4")
    permits = connection.execute("select key, number, job_id, fence from haulwright_permits")
    owned = (
        {row[:2]: row[2:] for row in effects}
        | {row[:3]: row[3:] for row in stages}
        | {row[:2]: row[2:] for row in rows}
    )
    return Snapshot(
        {job.id: job for job in jobs},
        {row[0]: row[1:] for row in history},
        owned,
        {row[:2]: row[2:] for row in permits},
    )


class Judge:
    """Looks at each call, and remembers what must not have happened and what was rightly refused."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last = Snapshot.of(store)
        self._version = store.database.read(_version)
        self.wrong: list[str] = []
        self.refused: Counter[str] = Counter()
        self.turned_away = 0
        """Claims that found no permit."""

    def _snapshot(self) -> Snapshot:
        """The tables as they are now; those of the last look where nobody has written since."""
        version = self._store.database.read(_version)
        if version == self._version:
            return self._last
        self._version = version
        return Snapshot.of(self._store)

    def look(self, act: Act, now: int) -> None:
        """Compare the tables with what they were before this call."""
        before, after = self._last, self._snapshot()
        self._last = after
        stale = [lease for lease in act.leases if not _is_current(before, lease.id, lease.fence)]
        found = [*_jobs(act, before, after, now), *_history(act, before, after), *_owned(act, before, after)]
        found += _permits(before, after)
        self.refused[act.verb] += len(stale)
        self.turned_away += act.verb == "claim" and _deferrals(after) > _deferrals(before)
        self.wrong += [f"{act.verb}: {what}" for what in found]


def _version(connection: Any) -> int:
    """Changes whenever another connection has written to the file."""
    return int(connection.execute("pragma data_version")[0][0])


def _is_current(snapshot: Snapshot, job: str, fence: int) -> bool:
    row = snapshot.jobs.get(job)
    return row is not None and row.state == "running" and row.fence == fence


def _deferrals(snapshot: Snapshot) -> int:
    return sum(job.deferrals for job in snapshot.jobs.values())


def _jobs(act: Act, before: Snapshot, after: Snapshot, now: int) -> Iterator[str]:
    for job in before.jobs.keys() | after.jobs.keys():
        old, new = before.jobs.get(job), after.jobs.get(job)
        if old == new:
            continue
        if old is None:
            if act.verb not in MAKES_JOBS or job in before.history or new is None or new[1:4] != ("queued", 0, 0):
                yield f"I2: job {job} appeared as {new}"
        elif new is None:
            if job not in after.history or not _may_end(act, old, now):
                yield f"I6: {old} ended"
        elif not _may_change(act, old, new, now):
            yield f"I6: {old} became {new}"
        elif new.state == "queued" and new.cancel_reason is not None:
            yield f"I8: {new} was asked to cancel, and waits to run again"


def _may_end(act: Act, old: Row, now: int) -> bool:
    if old.state == "queued":
        overdue = old.deadline_at is not None and old.deadline_at <= now
        return act.verb == "cancel" or (act.verb == "expire" and overdue)
    return _holds(act, old) or _may_take_back(act, old, now)


def _may_change(act: Act, old: Row, new: Row, now: int) -> bool:
    if new == old._replace(run_at=new.run_at) and old.waiting_on and new.run_at <= old.run_at:
        return True  # a freed permit wakes its waiters
    if act.verb == "claim":
        return _is_claim(old, new, now)
    if act.verb == "cancel":
        return old.state == "running" and new == old._replace(cancel_reason=new.cancel_reason)
    if act.verb == "resume":
        return old.state == "queued" and new == old._replace(deadline_at=new.deadline_at)
    return new.fence == old.fence and (_holds(act, old) or _may_take_back(act, old, now))


def _is_claim(old: Row, new: Row, now: int) -> bool:
    """Due, and one fence further: running, or waiting for a permit without a burnt attempt."""
    if old.state != "queued" or old.run_at > now or new.fence <= old.fence:
        return False
    if new.state == "running":
        return new.fence == old.fence + 1 and new.attempts == old.attempts + 1
    return new.attempts == old.attempts and new.deferrals > old.deferrals and new.waiting_on is not None


def _holds(act: Act, old: Row) -> bool:
    """Whether the call carries the lease under which this job runs."""
    held = {(lease.id, lease.fence) for lease in act.leases}
    return act.verb in LEASED and old.state == "running" and (old.id, old.fence) in held


def _may_take_back(act: Act, old: Row, now: int) -> bool:
    if act.verb == "reap":
        return old.state == "running" and (old.lease_expires_at or 0) < now
    return act.verb == "recover" and old.state == "running" and old.worker_id in act.workers


def _history(act: Act, before: Snapshot, after: Snapshot) -> Iterator[str]:
    """I7: what is finished stays as it is, but for the one mark of a requeue."""
    for job, old in before.history.items():
        new = after.history.get(job)
        marked = act.verb == "requeue" and new is not None and (new[:-1], old[-1]) == (old[:-1], None)
        if new != old and not marked:
            yield f"I7: finished job {job} changed from {old} to {new}"


def _owned(act: Act, before: Snapshot, after: Snapshot) -> Iterator[str]:
    """I6, I10: the ledger, stages and rows of commits change only under a lease that holds."""
    current = {lease.id for lease in act.leases if act.verb == "run" and _is_current(before, lease.id, lease.fence)}
    for key in before.owned.keys() | after.owned.keys():
        old, new = before.owned.get(key), after.owned.get(key)
        if old != new and (new is None or new[0] not in current):
            yield f"I6: {key} changed from {old} to {new}"


def _permits(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """I17: a permit is held by a job that runs under its fence, and no more run under a key than its limit."""
    for (key, number), (job, fence) in after.permits.items():
        if not _is_current(after, job, fence):
            yield f"I17: permit {number} of {key} is held by {job} under fence {fence}, which does not run"
    for permit, (job, fence) in before.permits.items():
        if permit not in after.permits and _is_current(after, job, fence):
            yield f"I17: permit {permit} was taken from {job} while it runs under fence {fence}"
    running = [job for job in after.jobs.values() if job.state == "running"]
    for (shared, limit), jobs in Counter((job.key, job.limit) for job in running).items():
        if limit is not None and jobs > limit:
            yield f"I17: {jobs} jobs run under {shared}, whose limit is {limit}"
