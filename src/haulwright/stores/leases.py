"""Leases: the right to run a job, for a while. Every write under one carries its fence.

A claim takes a batch of due jobs, tenants in turn, each job under a new fence. Here is what is the same on every
database: whose turn it is, how a batch is shared out, and the gates. How a database takes the jobs themselves is in its
folder. How a lease ends is in `settlements`, and what becomes of one that nobody ends in `recovery`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from haulwright.clock import Instant
from haulwright.engine.job import HeldLease, Lease, LeaseKey
from haulwright.engine.lease import Share, fill_up, gate_wait_us, shares_of
from haulwright.engine.settlement import PutBack, Settlement, events_of, started_event
from haulwright.errors import DatabaseUnavailable
from haulwright.stores.books import Entry, book
from haulwright.stores.claim_cursor import ClaimCursor, Pair, ScannedPair
from haulwright.stores.connection import Columns, Connection, Database, Params, Row, first
from haulwright.stores.events import Events
from haulwright.stores.job_rows import fenced
from haulwright.stores.payloads import Payloads
from haulwright.stores.permits import GATE, Permits
from haulwright.stores.settlements import Settlements
from haulwright.stores.sources.gate import Gates

HIGHEST = "\U0010ffff"
"""Sorts after every tenant."""
NEXT = "\x01"
"""Behind the name of a tenant: sorts after it and before every other."""
ALL_PAIRS = 100_000
TENANTS_AT_ONCE = 100
"""How many tenants one claim serves at most: each costs a look at the index, and the others are the next claim's."""
CLAIM_BYTES = 32 << 20
"""How many bytes of large arguments one claim takes at most, but for the last of them."""
ROUNDS = 10
"""How often a claim looks again in one queue that has more tenants, or where jobs that wait for a permit took room."""
NO_LENGTHS: Mapping[str, int] = MappingProxyType({})
Scan = Callable[[tuple[str, str], int], list[ScannedPair]]
"""Finds the pairs after one tenant and before another, until so many tenants have something due."""
Take = Callable[[list[Share], int], list[Lease]]
"""Takes what the shares say, and so many at most."""


class Round(NamedTuple):
    """What one round of a claim took."""

    leases: list[Lease]
    """The jobs that may run of those whose turn it was."""
    more_since: Instant | None
    """Since when more may be due, where that may be so."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """What a renewal found: leases that are gone, and jobs that somebody wants cancelled."""

    lost: frozenset[str]
    cancelled: dict[str, str]
    skipped: frozenset[str] = frozenset()
    """Held, and not renewed: a transaction has the row, mostly a commit of the run itself. To be tried again soon."""


class Leases(ABC):
    """The rights to run jobs: claimed, renewed, and held while something is written under them."""

    def __init__(
        self, database: Database, events: Events, permits: Permits, gates: Gates, settlements: Settlements
    ) -> None:
        self._db = database
        self._events = events
        self._permits = permits
        self._gates = gates
        self._settlements = settlements
        self._payloads = Payloads(database)
        self._book = book("haulwright.stores", database.dialect, "jobs")
        self._workers = book("haulwright.stores", database.dialect, "workers")

    def claim(  # noqa: PLR0913 - who takes how much from where, each with a name
        self,
        worker_id: str,
        queues: Sequence[str],
        batch: int = 1,
        cursor: ClaimCursor | None = None,
        *,
        most_bytes: int = CLAIM_BYTES,
        lengths: Mapping[str, int] = NO_LENGTHS,
    ) -> list[Lease]:
        """Take up to a batch of due jobs from the queues, in their order; tenants in turn, each under a new fence.

        A batch ends where the large arguments of its jobs reach `most_bytes`. `lengths` are those of the leases of
        tasks, in microseconds, where this worker goes by another than who enqueued the job.
        """
        cursor = cursor or ClaimCursor()
        cursor.next_due = None
        cursor.room_bytes = most_bytes
        taken: list[Lease] = []
        for queue in queues:
            if len(taken) < batch and not cursor.is_cut:
                taken += self._claim_queue(worker_id, queue, batch - len(taken), cursor)
        return self._payloads.filled(self._with_lengths(taken, lengths))

    def claim_of_task(self, worker_id: str, queue: str, tenant: str, task: str) -> Lease | None:
        """Take the next due job of one task of a tenant, under a new fence: for whoever runs jobs by hand."""
        return self._claim_one("claim_of_task", worker_id=worker_id, queue=queue, tenant=tenant, task=task)

    def claim_by_id(self, worker_id: str, tenant: str, job_id: str, *, early: bool = False) -> Lease | None:
        """Take one job that waits, under a new fence: when it is due, or at once where it is claimed `early`."""
        return self._claim_one("claim_by_id", worker_id=worker_id, tenant=tenant, id=job_id, early=early)

    def claim_some(self, worker_id: str, ids: Sequence[str], queues: Sequence[str], batch: int) -> list[Lease]:
        """Take those of some jobs that are due in the queues, each under a new fence and through its gates."""

        def work(connection: Connection) -> list[Lease]:
            some = {"worker_id": worker_id, "ids": list(ids), "queues": list(queues), "limit": batch}
            rows = connection.run(self._book["claim_some"], {**some, "now": self._db.clock.now()})
            return self._admit(connection, worker_id, [Lease._make(row) for row in rows])

        return self._payloads.filled(sorted(self._db.transact(work, rows=batch), key=_order))

    def find(self, key: LeaseKey) -> Lease | None:
        """A lease that somebody holds, by the right that he names; None where it is gone."""
        row = self._db.read(lambda connection: first(connection.run(self._book["held"], key._asdict())))
        return None if row is None else self._payloads.filled([Lease._make(row)])[0]

    def due_pairs(self, queue: str) -> list[tuple[str, int]]:
        """The (tenant, priority) pairs of a queue that have a due job: what a claim would look at. Writes nothing."""
        scanned = self._db.read(lambda connection: self._scan(connection, queue, ("", HIGHEST), ALL_PAIRS))
        return [(tenant, -rank) for tenant, rank in due(scanned)]

    def renew(self, leases: Sequence[Lease]) -> Renewal:
        """Prolong leases, all in one statement that waits for nobody, and learn which are gone or cancelled."""
        if not leases:
            return Renewal(frozenset(), {})
        keys = fenced(leases)
        rows = self._renew(self._book["renew"], {"now": self._db.clock.now()}, keys)
        held = {job_id for job_id, _, _ in rows}
        cancelled = {job_id: reason for job_id, reason, _ in rows if reason is not None}
        skipped = frozenset(job_id for job_id, _, is_renewed in rows if not is_renewed)
        return Renewal(frozenset(keys["id"]) - held, cancelled, skipped)

    def renew_on(self, connection: Connection, lease: Lease) -> None:
        """Prolong one lease in a transaction that holds it."""
        connection.run_batch(self._book["renew"], fenced([lease.key]), {"now": self._db.clock.now()})

    def set_lengths(self, leases: Sequence[Lease]) -> frozenset[str]:
        """Have leases last as long as they say, from their claim on; the ids of those that are held come back."""
        columns = {**fenced(leases), "lease_us": [lease.lease_us for lease in leases]}
        return frozenset(job_id for (job_id,) in self._db.run_single(self._book["set_lease_length"], {}, columns))

    def _with_lengths(self, leases: list[Lease], lengths: Mapping[str, int]) -> list[Lease]:
        """The leases as this worker wants them: mostly as they are."""
        pairs = {(lease.task, lease.lease_us) for lease in leases}  # a few, however many jobs a claim took
        if all(lengths.get(task, lease_us) == lease_us for task, lease_us in pairs):
            return leases
        fitted = [_as_long(lease, lengths.get(lease.task, lease.lease_us)) for lease in leases]
        try:
            self.set_lengths([new for new, old in zip(fitted, leases, strict=True) if new is not old])
        except DatabaseUnavailable:
            # Nobody knows which of the two is in force: who renews for the shorter one is in time for both.
            return [_as_long(old, min(old.lease_us, new.lease_us)) for new, old in zip(fitted, leases, strict=True)]
        return fitted

    def hold(self, connection: Connection, lease: HeldLease) -> bool:
        """Lock the job under its fence for the rest of a transaction; False means the lease is gone."""
        return bool(connection.run(self._book["lock"], lease.key._asdict()))

    def progress(self, lease: HeldLease, progress: str) -> bool:
        """Record how far a run has come; False means the lease is gone."""
        params = {**lease.key._asdict(), "progress": progress, "now": self._db.clock.now()}
        return bool(self._db.transact(lambda connection: connection.run(self._book["progress"], params)))

    def _renew(self, entry: Entry, params: Params, keys: Columns) -> list[Row]:
        """Run the renewal at once, however many leases it is about."""
        return self._db.run_single(entry, params, keys)

    @abstractmethod
    def _claim_round(self, worker_id: str, queue: str, batch: int, cursor: ClaimCursor) -> Round:
        """Take the jobs whose turn it is."""

    @abstractmethod
    def _take(self, connection: Connection, shares: list[Share], common: dict[str, Any]) -> list[Lease]:
        """Lease what the shares say, in the transaction of a gated claim."""

    def _claim_one(self, entry: str, **params: Any) -> Lease | None:
        """Take the job that an entry finds, and pass its gates in the same transaction."""

        def work(connection: Connection) -> list[Lease]:
            rows = connection.run(self._book[entry], {**params, "now": self._db.clock.now()})
            return self._admit(connection, params["worker_id"], [Lease._make(row) for row in rows])

        leases = self._payloads.filled(self._db.transact(work))
        return leases[0] if leases else None

    def _claim_queue(self, worker_id: str, queue: str, batch: int, cursor: ClaimCursor) -> list[Lease]:
        """Claim from one queue, again where it has more tenants, or where jobs that found their key full took room."""
        taken: list[Lease] = []
        more_since: Instant | None = None
        for _ in range(ROUNDS):
            leases, more_since = self._claim_round(worker_id, queue, batch - len(taken), cursor)
            taken += leases
            if more_since is None or len(taken) == batch or cursor.is_cut:
                return taken
        if more_since is not None:
            cursor.notice(more_since)
        return taken

    def _claim_gated(self, worker_id: str, queue: str, batch: int, cursor: ClaimCursor) -> Round:
        """Scan, claim and pass the gates in one transaction: no job runs that its gate did not let through.

        Jobs that are audited are claimed here too, with the event of their start.
        """

        def work(connection: Connection) -> tuple[list[ScannedPair], list[Lease], list[Lease]]:
            scanned = scan_around(partial(self._scan, connection, queue), batch, cursor.last_tenant.get(queue, ""))
            common = {"worker_id": worker_id, "queue": queue, "gated": True, "now": self._db.clock.now()}
            room = cursor.room_bytes

            def take(shares: list[Share], most: int) -> list[Lease]:
                nonlocal room
                leases = self._take(connection, shares, {**common, "batch": most, "bytes": room})
                room -= bytes_of(leases)
                return leases

            leases = share_out(due(scanned), batch, take)
            return scanned, leases, self._admit(connection, worker_id, leases)

        scanned, leases, admitted = self._db.transact(work, rows=batch)
        cursor.room_bytes -= bytes_of(leases)
        has_more = remember(cursor, queue, scanned, leases, batch) or len(admitted) < len(leases)
        if any(lease.concurrency_key or lease.source or lease.audited for lease in leases):
            cursor.gated.add(queue)
        else:
            cursor.gated.discard(queue)
        return in_order(admitted, scanned, has_more=has_more)

    def _scan(self, connection: Connection, queue: str, between: tuple[str, str], tenants: int) -> list[ScannedPair]:
        rows = connection.run(self._book["scan_tenants"], self._scanning(queue, between, tenants))
        return [ScannedPair._make(row) for row in rows]

    def _scanning(self, queue: str, between: tuple[str, str], tenants: int) -> dict[str, Any]:
        after, before = between
        return {"queue": queue, "after": after, "before": before, "tenants": tenants, "now": self._db.clock.now()}

    def _admit(self, connection: Connection, worker_id: str, leases: list[Lease]) -> list[Lease]:
        """Those that may run, with the starts of those that are audited."""
        admitted = self._pass_gates(connection, leases)
        self._record_starts(connection, worker_id, [lease for lease in admitted if lease.audited])
        return admitted

    def _pass_gates(self, connection: Connection, leases: list[Lease]) -> list[Lease]:
        """Keep the jobs that may run; those that find a gate closed wait for it, from this transaction on."""
        waiting = [
            Settlement(lease, _wait_for_permit(lease))
            for lease in sorted(leases, key=_permit_order)
            if lease.concurrency_key and not self._permits.take(connection, lease)
        ]
        waiting += self._pass_sources(connection, leases, {s.lease.id for s in waiting})
        if not waiting:
            return leases
        self._settlements.put_back(connection, waiting)
        self._events.record(connection, [events_of(s, s.lease.worker_id)[-1] for s in waiting])
        turned_away = {s.lease.id for s in waiting}
        return [lease for lease in leases if lease.id not in turned_away]

    def _record_starts(self, connection: Connection, worker_id: str, leases: list[Lease]) -> None:
        """Write the starts of jobs that are audited with their claim: who follows the events sees them begin."""
        if leases:
            row = first(connection.run(self._workers["name_of"], {"id": worker_id}))
            worker = worker_id if row is None else row[0]
            self._events.record(connection, [started_event(lease, worker) for lease in leases])

    def _pass_sources(self, connection: Connection, leases: list[Lease], held_up: set[str]) -> list[Settlement]:
        """Ask the sources of the jobs that are not held up already; a permit of theirs goes back with those refused."""
        asking = [lease for lease in leases if lease.source is not None and lease.id not in held_up]
        if not asking:
            return []
        waiting = [Settlement(lease, step) for lease, step in self._gates.pass_claim(connection, asking)]
        self._permits.free(connection, [s.lease for s in waiting])
        return waiting


def bytes_of(leases: Sequence[Lease]) -> int:
    """How large the large arguments of some jobs are together."""
    return sum([lease.payload_bytes for lease in leases if lease.payload_bytes])


def tenants_of(batch: int) -> int:
    """How many tenants a claim of so many jobs serves."""
    return min(batch, TENANTS_AT_ONCE)


def scan_around(scan: Scan, batch: int, last: str) -> list[ScannedPair]:
    """Scan from the tenant after the last one, and around to it, until one claim's tenants are found."""
    most = tenants_of(batch)
    scanned = scan((last, HIGHEST), most)
    tenants = len({pair.tenant for pair in scanned if pair.is_due})
    if last and tenants < most:
        scanned += scan(("", last + NEXT), most - tenants)
    return scanned


def due(scanned: Sequence[ScannedPair]) -> list[Pair]:
    """The pairs that have a due job."""
    return [(pair.tenant, pair.rank) for pair in scanned if pair.is_due]


def in_order(leases: list[Lease], scanned: Sequence[ScannedPair], *, has_more: bool) -> Round:
    """What a round took, the first to run first, and since when there is more."""
    more_since = min(pair.run_at for pair in scanned if pair.is_due) if has_more else None
    return Round(sorted(leases, key=_order), more_since)


def share_out(pairs: list[Pair], batch: int, take: Take, *, all_or_nothing: bool = False) -> list[Lease]:
    """Take the share of each pair, and what some did not have from the others."""
    if not pairs:
        return []
    shares = shares_of(pairs, batch)
    leases = take(shares, batch)
    missing = batch - len(leases)
    if missing and (leases or not all_or_nothing):
        counts = Counter((lease.tenant, -lease.priority) for lease in leases)
        more = fill_up(pairs, shares, counts, missing)
        leases += take(more, missing) if more else []
    return leases


def remember(
    cursor: ClaimCursor, queue: str, scanned: Sequence[ScannedPair], leases: Sequence[Lease], batch: int
) -> bool:
    """Note who is next, and return whether there may be more tenants than one claim serves.

    The next claim starts after the last tenant that got something; a short one knows when to come back. A short one
    took all that was due, so nobody is owed a turn, and nobody is where there is one tenant: then the next one starts
    where a single scan sees all. Unless there may be more tenants: they are next.
    """
    is_short, has_more = len(leases) < batch and not cursor.is_cut, _serves_some(scanned, batch)
    if has_more and not leases:
        cursor.last_tenant[queue] = due(scanned)[-1][0]
    elif (is_short and not has_more) or (batch > 1 and len({pair.tenant for pair in scanned}) == 1):
        cursor.last_tenant.pop(queue, None)
    elif leases:
        served = {lease.tenant for lease in leases}
        cursor.last_tenant[queue] = [pair.tenant for pair in scanned if pair.tenant in served][-1]
    if is_short:
        for pair in scanned:
            if not pair.is_due:
                cursor.notice(pair.run_at)
    return has_more


def _serves_some(scanned: Sequence[ScannedPair], batch: int) -> bool:
    """Whether a scan ended at as many tenants as one claim serves, although the batch has room for more."""
    return batch > TENANTS_AT_ONCE <= len({pair.tenant for pair in scanned if pair.is_due})


def _as_long(lease: Lease, lease_us: int) -> Lease:
    return lease if lease.lease_us == lease_us else lease._replace(lease_us=lease_us)


def _wait_for_permit(lease: Lease) -> PutBack:
    delay = gate_wait_us(lease.deferrals)
    return PutBack("snooze", delay, refund=1, deferral=1, waiting_on=f"{GATE}{lease.concurrency_key}")


def _order(lease: Lease) -> tuple[int, Instant, str]:
    return (-lease.priority, lease.run_at, lease.id)


def _permit_order(lease: Lease) -> tuple[str, int, Instant, str]:
    """Key by key, so that two claims at once never wait for each other's permits in a circle."""
    return (lease.concurrency_key or "", *_order(lease))
