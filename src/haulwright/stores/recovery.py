"""Recovery: jobs that nobody would end, taken back from the lost and buried past their deadline. Under their fences."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from haulwright import events
from haulwright.clock import Instant
from haulwright.engine.job import LeaseKey
from haulwright.engine.lease import had_neighbours
from haulwright.engine.outcome import REASON_DEADLINE
from haulwright.engine.settlement import RELEASE, Finish, Settlement, events_of, resolve_loss
from haulwright.engine.transitions import State
from haulwright.events import Event
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database
from haulwright.stores.events import Events
from haulwright.stores.permits import Permits
from haulwright.stores.settlements import Settlements
from haulwright.stores.sources.gate import Gates

UNKNOWN_LIMIT = 25_000
"""More than a worker can hold."""
Believe = Callable[[Sequence[LeaseKey]], Collection[LeaseKey]]
"""Which of the leases that ran out are to be taken back."""


@dataclass(frozen=True, slots=True)
class Reaped:
    """A job whose lease was taken back, and who had held it."""

    id: str
    fence: int
    tenant: str
    worker_id: str
    state: State

    @property
    def key(self) -> LeaseKey:
        """The lease that it was."""
        return LeaseKey(self.id, self.fence, self.worker_id)


class Recovery:
    """The end of leases and of waits that nobody else would end."""

    def __init__(
        self, database: Database, record: Events, permits: Permits, gates: Gates, settlements: Settlements
    ) -> None:
        self._db = database
        self._events = record
        self._permits = permits
        self._gates = gates
        self._settlements = settlements
        self._book = book("haulwright.stores", database.dialect, "jobs")
        self._workers = book("haulwright.stores", database.dialect, "workers")

    def reap(self, limit: int = 100, *, believe: Believe = set) -> list[Reaped]:
        """Take back leases that ran out. Guarded and bounded: safe on every worker at once.

        `believe` picks from what is found: while the database stood still, nobody could renew.
        """
        return self._take_back("stale", {"now": self._db.clock.now(), "limit": limit}, "sweep", believe)

    def recover(self, worker_ids: Sequence[str], limit: int = 100) -> list[Reaped]:
        """Take back leases of workers whose process is provably gone."""
        params = {"workers": list(worker_ids), "limit": limit}
        return self._take_back("leases_of", params, "worker_startup_recovery") if worker_ids else []

    def give_back_unknown(self, worker_id: str, keys: Collection[LeaseKey]) -> frozenset[str]:
        """Release what a worker holds without knowing it: the reply to its claim was lost."""
        params = {"workers": [worker_id], "limit": UNKNOWN_LIMIT}

        def work(connection: Connection) -> frozenset[str]:
            held = [StaleLease(*row) for row in connection.run(self._book["leases_of"], params)]
            unknown = [lease for lease in held if lease.key not in keys]
            self._gates.give_back(connection, [lease.key for lease in unknown])
            return self._settlements.settle_on(connection, [Settlement(lease, RELEASE) for lease in unknown], worker_id)

        return self._db.transact(work)

    def expire(self, limit: int = 100) -> list[str]:
        """Bury jobs that waited past their deadline."""
        params = {"now": self._db.clock.now(), "limit": limit}

        def work(connection: Connection) -> list[str]:
            overdue = connection.run(self._book["overdue"], params)
            step = Finish(State.DEAD, REASON_DEADLINE)
            ends = [(LeaseKey(job_id, fence, None), step) for job_id, fence, _, _ in overdue]
            keys = self._settlements.finish(connection, ends, was=State.QUEUED)
            record = [
                Event(events.JOB_DEAD_LETTERED, tenant, job_id, fence=fence, data=_overdue(job_id, attempts))
                for job_id, fence, tenant, attempts in overdue
                if LeaseKey(job_id, fence, None) in keys
            ]
            self._events.record(connection, record)
            return sorted(key.id for key in keys)

        return self._db.transact(work)

    def _take_back(self, entry: str, params: dict[str, Any], detected_by: str, believe: Believe = set) -> list[Reaped]:
        def work(connection: Connection) -> list[Reaped]:
            suspects = [StaleLease(*row) for row in connection.run(self._book[entry], params)]
            lost = set(believe([lease.key for lease in suspects]))
            stale = [lease for lease in suspects if lease.key in lost]
            shared = self._with_neighbours(connection, stale)
            taken = [self._lose(connection, lease, detected_by, shared=lease.id in shared) for lease in stale]
            self._remember(connection, stale)
            return taken

        return self._db.transact(work)

    def _with_neighbours(self, connection: Connection, stale: Sequence[StaleLease]) -> set[str]:
        """The jobs that were lost together with others of their worker, whoever takes those back, and whenever."""
        if not stale:
            return set()
        rows = connection.run(self._book["held_by"], {"workers": _workers_of(stale)})
        workers = {worker_id: (held, lost_at) for worker_id, held, lost_at in rows}
        return {lease.id for lease in stale if lease.had_neighbours(*workers[lease.worker_id])}

    def _remember(self, connection: Connection, stale: Sequence[StaleLease]) -> None:
        """Leave the time of the loss with the workers: leases of theirs that are taken back later were not alone."""
        if stale:
            connection.run(self._workers["lost"], {"workers": _workers_of(stale), "now": self._db.clock.now()})

    def _lose(self, connection: Connection, lease: StaleLease, detected_by: str, *, shared: bool) -> Reaped:
        step = resolve_loss(lease, lease.cancel_reason, shared=shared)
        loss = Settlement(lease, step)
        if isinstance(step, Finish):
            self._settlements.finish(connection, [(lease.key, step)])
        else:
            self._settlements.put_back(connection, [loss])
        self._permits.free(connection, [lease])
        self._gates.give_back(connection, [lease.key])
        started, *ends = events_of(loss, lease.worker_id)
        self._events.record(connection, [started, lease.event(detected_by), *ends])
        state = step.state if isinstance(step, Finish) else State.QUEUED
        return Reaped(lease.id, lease.fence, lease.tenant, lease.worker_id, state)


def _workers_of(stale: Sequence[StaleLease]) -> list[str]:
    return sorted({lease.worker_id for lease in stale})


def _overdue(job_id: str, attempts: int) -> dict[str, Any]:
    data = {"job_id": job_id, "reason": REASON_DEADLINE, "retry_count": max(attempts - 1, 0)}
    return {**data, "error_code": REASON_DEADLINE, "error_message": "waited past its deadline"}


@dataclass(frozen=True, slots=True)
class StaleLease:
    """A lease as a sweep finds it: what its end needs, and how it may have been lost."""

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
    source: str | None
    event_fields: str | None

    @property
    def key(self) -> LeaseKey:
        """Its id, fence and holder."""
        return LeaseKey(self.id, self.fence, self.worker_id)

    def had_neighbours(self, held: int, lost_at: Instant | None) -> bool:
        """Whether its worker, which holds so many and lost one then, held others when it fell silent."""
        return had_neighbours(held, self.heartbeat_at, lost_at)

    def event(self, detected_by: str) -> Event:
        """That the lease was lost, by whom, and how it was found."""
        data = {"job_id": self.id, "held_by": self.worker_id, "losses": self.losses + 1, "detected_by": detected_by}
        return Event(
            events.JOB_LEASE_EXPIRED, self.tenant, self.id, self.attempts, self.fence, self.worker_id, data=data
        )
