"""Recovery: jobs that nobody would end, taken back from the lost and buried past their deadline. Under their fences."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from haulwright import events
from haulwright.clock import Instant
from haulwright.engine.job import LeaseKey
from haulwright.engine.lease import had_neighbours
from haulwright.engine.outcome import REASON_DEADLINE, Failure, deadline_failure, read_frames
from haulwright.engine.settlement import RELEASE, Finish, Settlement, events_of, resolve_loss
from haulwright.engine.transitions import State
from haulwright.events import Event
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database, Row, as_columns
from haulwright.stores.events import Events
from haulwright.stores.job_rows import fenced
from haulwright.stores.permits import Permits
from haulwright.stores.settlements import Settlements
from haulwright.stores.sources.gate import Gates

STEP_LIMIT = 100
"""What one transaction takes back at most."""
UNKNOWN_LIMIT = 25_000
"""More than a worker can hold."""
EXTENSIONS = 100
"""How many batches of deadlines a sweep moves before others have their turn; the next sweep goes on."""


@dataclass(frozen=True, slots=True)
class Reaped:
    """A job whose lease was taken back, and who had held it."""

    id: str
    fence: int
    tenant: str
    worker_id: str
    worker_name: str
    """What it is called; its id where nobody knows that any more."""
    state: State

    @property
    def key(self) -> LeaseKey:
        """The lease that it was."""
        return LeaseKey(self.id, self.fence, self.worker_id)


class OverdueJob(NamedTuple):
    """A job that waited past its deadline, and what it last met."""

    id: str
    fence: int
    tenant: str
    attempts: int
    paused_us: int
    """What pauses that are over took from it: so long it was kept from running, and is not overdue."""
    error_class: str | None
    error_code: str | None
    error_message: str | None
    error_frames: str | None
    waiting_on: str | None

    @property
    def key(self) -> LeaseKey:
        """Its id and fence; nobody holds it."""
        return LeaseKey(self.id, self.fence, None)

    @property
    def failure(self) -> Failure:
        """Why it is dead."""
        frames = read_frames(self.error_frames)
        last = Failure(self.error_class or "", self.error_code or "", self.error_message or "", frames)
        return deadline_failure(last if self.error_class else None, self.waiting_on)

    def event(self) -> Event:
        """That it is dead."""
        failure = self.failure
        data = {"job_id": self.id, "reason": REASON_DEADLINE, "retry_count": max(self.attempts - 1, 0)}
        words = {"error_code": failure.code, "error_message": failure.message}
        return Event(events.JOB_DEAD_LETTERED, self.tenant, self.id, fence=self.fence, data={**data, **words})


class Holder(NamedTuple):
    """A worker that lost a lease."""

    held: int
    """How many leases it holds, this one among them."""
    lost_at: Instant | None
    """When one was last taken back from it."""
    name: str


class EndingLease(NamedTuple):
    """A lease that has run out, or will soon, as a look finds it."""

    id: str
    fence: int
    worker_id: str
    heartbeat_at: Instant
    expires_at: Instant
    lease_us: int

    @property
    def key(self) -> LeaseKey:
        """Its id, fence and holder."""
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

    def reap(self, limit: int = 100) -> list[Reaped]:
        """Take back leases that ran out. Guarded and bounded: safe on every worker at once.

        By the database's clock alone: for who knows that this clock can be relied on, as a test that sets it does.
        """
        params = {"now": self._db.clock.now(), "limit": limit}
        return self._take_back(lambda connection: connection.run(self._book["stale"], params), "sweep")

    def ending(self, since: Instant, within_us: int, limit: int) -> tuple[Instant, list[EndingLease]]:
        """The database's time, and the leases that ran out since a moment, or will soon. It reads and locks nothing."""
        params = {"since": since, "within_us": within_us, "limit": limit, "now": self._db.clock.now()}
        rows = self._db.read(lambda connection: connection.run(self._book["ending"], params))
        return int(rows[0][0]), [EndingLease._make(row[1:]) for row in rows if row[1] is not None]

    def reap_silent(self, watched: Sequence[EndingLease]) -> list[Reaped]:
        """Take back those of the leases that have run out at this moment too, their heartbeats where they were seen."""
        steps = [watched[start : start + STEP_LIMIT] for start in range(0, len(watched), STEP_LIMIT)]
        return [reaped for step in steps for reaped in self._reap_silent(step)]

    def _reap_silent(self, watched: Sequence[EndingLease]) -> list[Reaped]:
        heartbeats = [lease.heartbeat_at for lease in watched]
        columns = {**fenced([lease.key for lease in watched]), "heartbeat_at": heartbeats}
        now = {"now": self._db.clock.now()}
        return self._take_back(lambda connection: connection.run_batch(self._book["silent"], columns, now), "sweep")

    def recover(self, worker_ids: Sequence[str], limit: int = 100) -> list[Reaped]:
        """Take back leases of workers whose process is provably gone."""
        if not worker_ids:
            return []
        params = {"workers": list(worker_ids), "limit": limit}
        find = self._book["leases_of"]
        return self._take_back(lambda connection: connection.run(find, params), "worker_startup_recovery")

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
        """Bury jobs that waited past their deadline, which pauses that are over move first."""
        for _ in range(EXTENSIONS):
            buried, has_extended = self._db.transact(partial(self._expire_on, limit=limit), rows=limit)
            if buried or not has_extended:
                return buried
        return []

    def _expire_on(self, connection: Connection, limit: int) -> tuple[list[str], bool]:
        """Give back what pauses took from the jobs that come first, and bury those of whom they took nothing."""
        rows = connection.run(self._book["overdue"], {"now": self._db.clock.now(), "limit": limit})
        waiting = [OverdueJob(*row) for row in rows]
        kept_waiting = [
            {"id": job.id, "fence": job.fence, "paused_us": job.paused_us} for job in waiting if job.paused_us > 0
        ]
        if kept_waiting:
            common = {"now": self._db.clock.now()}
            connection.run_batch(self._book["extend_deadlines"], as_columns(kept_waiting), common)
        overdue = [job for job in waiting if job.paused_us <= 0]
        ends = [(job.key, Finish(State.DEAD, REASON_DEADLINE, failure=job.failure)) for job in overdue]
        keys = self._settlements.finish(connection, ends, was=State.QUEUED)
        self._events.record(connection, [job.event() for job in overdue if job.key in keys])
        return sorted(key.id for key in keys), bool(kept_waiting)

    def _take_back(self, find: Callable[[Connection], list[Row]], detected_by: str) -> list[Reaped]:
        def work(connection: Connection) -> list[Reaped]:
            stale = [StaleLease(*row) for row in find(connection)]
            holders = self._holders(connection, stale)
            taken = [self._lose(connection, lease, detected_by, holders[lease.worker_id]) for lease in stale]
            self._remember(connection, stale)
            return taken

        return self._db.transact(work)

    def _holders(self, connection: Connection, stale: Sequence[StaleLease]) -> dict[str, Holder]:
        """Who held the leases, and what else they held when these were lost, whoever takes that back, and whenever."""
        if not stale:
            return {}
        rows = connection.run(self._book["held_by"], {"workers": _workers_of(stale)})
        return {worker_id: Holder(held, lost_at, name or worker_id) for worker_id, held, lost_at, name in rows}

    def _remember(self, connection: Connection, stale: Sequence[StaleLease]) -> None:
        """Leave the time of the loss with the workers: leases of theirs that are taken back later were not alone."""
        if stale:
            connection.run(self._workers["lost"], {"workers": _workers_of(stale), "now": self._db.clock.now()})

    def _lose(self, connection: Connection, lease: StaleLease, detected_by: str, holder: Holder) -> Reaped:
        shared = had_neighbours(holder.held, lease.heartbeat_at, holder.lost_at)
        step = resolve_loss(lease, lease.cancel_reason, shared=shared)
        loss = Settlement(lease, step)
        if isinstance(step, Finish):
            self._settlements.finish(connection, [(lease.key, step)])
        else:
            self._settlements.put_back(connection, [loss])
        self._permits.free(connection, [lease])
        self._gates.give_back(connection, [lease.key])
        record = events_of(loss, lease.worker_id)
        start = 0 if lease.audited else 1  # that of an audited job was written when it was claimed
        record.insert(start, lease.event(detected_by, holder.name))
        self._events.record(connection, record)
        state = step.state if isinstance(step, Finish) else State.QUEUED
        return Reaped(lease.id, lease.fence, lease.tenant, lease.worker_id, holder.name, state)


def _workers_of(stale: Sequence[StaleLease]) -> list[str]:
    return sorted({lease.worker_id for lease in stale})


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
    audited: bool

    @property
    def key(self) -> LeaseKey:
        """Its id, fence and holder."""
        return LeaseKey(self.id, self.fence, self.worker_id)

    def event(self, detected_by: str, holder: str) -> Event:
        """That the lease was lost, by whom, and how it was found."""
        who = {"held_by": self.worker_id, "held_by_name": holder}
        data = {"job_id": self.id, **who, "losses": self.losses + 1, "detected_by": detected_by}
        return Event(
            events.JOB_LEASE_EXPIRED, self.tenant, self.id, self.attempts, self.fence, self.worker_id, data=data
        )
