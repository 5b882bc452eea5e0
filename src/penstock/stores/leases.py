"""Leases: the right to run a job, for a while. Every write under one carries its fence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from penstock import events
from penstock.clock import Instant
from penstock.engine.job import Lease
from penstock.engine.lease import had_neighbours
from penstock.engine.outcome import REASON_DEADLINE
from penstock.engine.settlement import RELEASE, Finish, Settlement, events_of, resolve_loss
from penstock.engine.transitions import State
from penstock.events import Event
from penstock.stores.books import book
from penstock.stores.claiming import Claiming, Turn
from penstock.stores.connection import Connection, Database, as_columns
from penstock.stores.events import Events
from penstock.stores.permits import Permits
from penstock.stores.settling import Held, Settling, is_plain_success
from penstock.stores.sources import Sources

UNKNOWN_LIMIT = 25_000
"""More than a worker can hold."""
Believe = Callable[[Sequence[Held]], Collection[Held]]
"""Which of the leases that ran out are to be taken back."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """What a renewal found: leases that are gone, and jobs that somebody wants cancelled."""

    lost: frozenset[str]
    cancelled: dict[str, str]


@dataclass(frozen=True, slots=True)
class Reaped:
    """A job whose lease was taken back, and who had held it."""

    id: str
    fence: int
    tenant: str
    worker_id: str
    state: State


class Leases:
    """The rights to run jobs: claimed, renewed, settled, and taken back."""

    def __init__(self, database: Database, record: Events, sources: Sources) -> None:
        self._db = database
        self._events = record
        self._permits = Permits(database)
        self._sources = sources
        self._settling = Settling(database, record, self._permits, sources)
        self._claiming = Claiming(database, record, self._permits, self._settling, sources)
        self._book = book("penstock.stores", database.dialect, "jobs")
        self._workers = book("penstock.stores", database.dialect, "workers")

    def claim(self, worker_id: str, queues: Sequence[str], batch: int = 1, turn: Turn | None = None) -> list[Lease]:
        """Take up to a batch of due jobs, tenants in turn, each under a new fence."""
        return self._claiming.claim(worker_id, queues, batch, turn or Turn())

    def due_pairs(self, queue: str) -> list[tuple[str, int]]:
        """The (tenant, priority) pairs of a queue that have a due job: what a claim would look at. Writes nothing."""
        return self._claiming.due_pairs(queue)

    def renew(self, leases: Sequence[Lease]) -> Renewal:
        """Prolong leases, all in one statement, and learn which are gone or cancelled."""
        if not leases:
            return Renewal(frozenset(), {})
        held = as_columns([{"id": lease.id, "fence": lease.fence} for lease in leases])
        now = {"now": self._db.clock.now()}
        rows = self._db.alone(self._book["renew"], now, held)
        alive = {job_id for job_id, _ in rows}
        cancelled = {job_id: reason for job_id, reason in rows if reason is not None}
        return Renewal(frozenset(held["id"]) - alive, cancelled)

    def hold(self, connection: Connection, lease: Lease) -> bool:
        """Lock the job under its fence for the rest of a transaction; False means the lease is gone."""
        return bool(connection.all(self._book["lock"], {"id": lease.id, "fence": lease.fence}))

    def progress(self, lease: Lease, progress: str) -> bool:
        """Record how far a run has come; False means the lease is gone."""
        params = {"id": lease.id, "fence": lease.fence, "progress": progress, "now": self._db.clock.now()}
        return bool(self._db.transact(lambda connection: connection.all(self._book["progress"], params)))

    def settle(self, settlements: Sequence[Settlement], worker: str = "") -> frozenset[str]:
        """Record how runs ended, all in one transaction, and return the ids that were accepted.

        An id that does not come back had lost its lease: its outcome is discarded.
        """
        if all(is_plain_success(one) for one in settlements):
            return self._settling.settle_plain(settlements)
        work = partial(self.settle_on, settlements=settlements, worker=worker)
        return self._db.transact(work, rows=len(settlements))

    def ended_by(self, lease: Lease) -> bool:
        """Whether the job stands as after a settlement of this very lease: to be asked after a lost reply."""
        params = {"id": lease.id, "fence": lease.fence, "losses": lease.losses}
        return bool(self._db.read(lambda connection: connection.all(self._book["ended"], params)))

    def settle_on(self, connection: Connection, settlements: Sequence[Settlement], worker: str = "") -> frozenset[str]:
        """Record how runs ended, inside a transaction of the caller."""
        return self._settling.settle(connection, settlements, worker)

    def reap(self, limit: int = 100, *, believe: Believe = set) -> list[Reaped]:
        """Take back leases that ran out. Guarded and bounded: safe on every worker at once.

        `believe` picks from what is found: while the database stood still, nobody could renew.
        """
        return self._take_back("stale", {"now": self._db.clock.now(), "limit": limit}, "sweep", believe)

    def recover(self, worker_ids: Sequence[str], limit: int = 100) -> list[Reaped]:
        """Take back leases of workers whose process is provably gone."""
        params = {"workers": list(worker_ids), "limit": limit}
        return self._take_back("leases_of", params, "worker_startup_recovery") if worker_ids else []

    def give_back_unknown(self, worker_id: str, known: Collection[tuple[str, int]]) -> frozenset[str]:
        """Release what a worker holds without knowing it, by (id, fence): the reply to its claim was lost."""
        params = {"workers": [worker_id], "limit": UNKNOWN_LIMIT}

        def work(connection: Connection) -> frozenset[str]:
            held = [_Stale(*row) for row in connection.all(self._book["leases_of"], params)]
            unknown = [Settlement(one.as_lease(), RELEASE) for one in held if (one.id, one.fence) not in known]
            self._sources.give_back(connection, [one.lease for one in unknown])
            return self._settling.settle(connection, unknown, worker_id)

        return self._db.transact(work)

    def expire(self, limit: int = 100) -> list[str]:
        """Bury jobs that waited past their deadline."""
        params = {"now": self._db.clock.now(), "limit": limit}

        def work(connection: Connection) -> list[str]:
            overdue = connection.all(self._book["overdue"], params)
            step = Finish(State.DEAD, REASON_DEADLINE)
            steps = [(job_id, fence, step) for job_id, fence, _, _ in overdue]
            gone = self._settling.finish(connection, steps, was=State.QUEUED)
            told = [
                Event(events.JOB_DEAD_LETTERED, tenant, job_id, fence=fence, data=_overdue(job_id, attempts))
                for job_id, fence, tenant, attempts in overdue
                if (job_id, fence) in gone
            ]
            self._events.record(connection, told)
            return sorted(job_id for job_id, _ in gone)

        return self._db.transact(work)

    def finish_queued(self, connection: Connection, job_id: str, fence: int, step: Finish) -> bool:
        """End a job that waits, inside a transaction of the caller."""
        return bool(self._settling.finish(connection, [(job_id, fence, step)], was=State.QUEUED))

    def wake(self, gate: str, count: int) -> int:
        """Make the oldest waiters of a gate due at once, as many as it admits now."""
        return self._db.transact(lambda connection: self._permits.wake(connection, gate, count))

    def _take_back(self, entry: str, params: dict[str, Any], detected_by: str, believe: Believe = set) -> list[Reaped]:
        def work(connection: Connection) -> list[Reaped]:
            found = [_Stale(*row) for row in connection.all(self._book[entry], params)]
            lost = set(believe([(one.id, one.fence) for one in found]))
            stale = [one for one in found if (one.id, one.fence) in lost]
            shared = self._with_neighbours(connection, stale)
            taken = [self._lose(connection, one, detected_by, shared=one.id in shared) for one in stale]
            self._remember(connection, stale)
            return taken

        return self._db.transact(work)

    def _with_neighbours(self, connection: Connection, stale: Sequence[_Stale]) -> set[str]:
        """The jobs that were lost together with others of their worker, whoever takes those back, and whenever."""
        if not stale:
            return set()
        rows = connection.all(self._book["held_by"], {"workers": _workers_of(stale)})
        known = {worker_id: (held, lost_at) for worker_id, held, lost_at in rows}
        return {one.id for one in stale if one.had_neighbours(*known[one.worker_id])}

    def _remember(self, connection: Connection, stale: Sequence[_Stale]) -> None:
        """Leave the time of the loss with the workers: leases of theirs that are taken back later were not alone."""
        if stale:
            connection.all(self._workers["lost"], {"workers": _workers_of(stale), "now": self._db.clock.now()})

    def _lose(self, connection: Connection, stale: _Stale, detected_by: str, *, shared: bool) -> Reaped:
        lease = stale.as_lease()
        step = resolve_loss(lease, stale.cancel_reason, shared=shared)
        lost = Settlement(lease, step)
        if isinstance(step, Finish):
            self._settling.finish(connection, [(stale.id, stale.fence, step)])
        else:
            self._settling.put_back(connection, [lost])
        self._permits.free(connection, [lost.lease])
        self._sources.give_back(connection, [lost.lease])
        started, *ends = events_of(lost, stale.worker_id)
        self._events.record(connection, [started, stale.event(detected_by), *ends])
        state = step.state if isinstance(step, Finish) else State.QUEUED
        return Reaped(stale.id, stale.fence, stale.tenant, stale.worker_id, state)


def _workers_of(stale: Sequence[_Stale]) -> list[str]:
    return sorted({one.worker_id for one in stale})


def _overdue(job_id: str, attempts: int) -> dict[str, Any]:
    told = {"job_id": job_id, "reason": REASON_DEADLINE, "retry_count": max(attempts - 1, 0)}
    return {**told, "error_code": REASON_DEADLINE, "error_message": "waited past its deadline"}


@dataclass(frozen=True, slots=True)
class _Stale:
    """A running job as the sweep finds it."""

    id: str
    fence: int
    tenant: str
    task: str
    attempts: int
    max_attempts: int
    losses: int
    cancel_reason: str | None
    worker_id: str
    leased_at: Instant
    heartbeat_at: Instant
    concurrency_key: str | None
    facts: str | None

    def had_neighbours(self, held: int, lost_at: Instant | None) -> bool:
        """Whether its worker, which holds so many and lost one then, held others when it fell silent."""
        return had_neighbours(held, self.heartbeat_at, lost_at)

    def event(self, detected_by: str) -> Event:
        """That the lease was lost, by whom, and how it was found."""
        data = {"job_id": self.id, "held_by": self.worker_id, "losses": self.losses + 1, "detected_by": detected_by}
        return Event(
            events.JOB_LEASE_EXPIRED, self.tenant, self.id, self.attempts, self.fence, self.worker_id, data=data
        )

    def as_lease(self) -> Lease:
        """The lease that is taken back, as far as its settlement needs it."""
        return Lease(
            id=self.id, fence=self.fence, tenant=self.tenant, task=self.task, queue="", args="{}",
            attempts=self.attempts, max_attempts=self.max_attempts, losses=self.losses, deferrals=0, job_key="",
            priority=0, run_at=0, created_at=0, leased_at=self.leased_at, lease_us=0, timeout_us=None, deadline_at=None,
            concurrency_key=self.concurrency_key, concurrency_limit=None, source=None, correlation_id=None,
            tags="[]", requeued_from=None, facts=self.facts, worker_id=self.worker_id,
        )  # fmt: skip
