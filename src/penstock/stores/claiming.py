"""Claiming: a batch of due jobs, tenants in turn, each job under a new fence."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.clock import Instant
from penstock.engine.job import Lease
from penstock.engine.lease import Share, fill_up, gate_wait_us, shares
from penstock.engine.settlement import PutBack, Settlement, events_of
from penstock.stores.books import book
from penstock.stores.connection import Columns, Connection, Database, Row, as_columns
from penstock.stores.events import Events
from penstock.stores.permits import GATE, Permits
from penstock.stores.settling import Settling
from penstock.stores.sources import Sources

HIGHEST = "\U0010ffff"
"""Sorts after every tenant."""
NEXT = "\x01"
"""Behind the name of a tenant: sorts after it and before every other."""
Take = Callable[[list[Share], int], list[Lease]]
"""Takes what the shares say, and so many at most."""
Round = tuple[list[Lease], Instant | None]
"""The jobs that may run of those whose turn it was, and since when more may be due, where that may be so."""
THE_FRONT: tuple[Instant, str] = (-(2**63), "00000000-0000-0000-0000-000000000000")
TRAIL_SECONDS = 1.0
TRAIL_PAIRS = 32
TENANTS_AT_ONCE = 100
"""How many tenants one claim serves at most: each costs a look at the index, and the others are the next claim's."""
ROUNDS = 10
"""How often a claim looks again in one queue that has more tenants, or where jobs that wait for a permit took room."""


PAIR_COLUMNS = 4
"""The columns of a walk: a tenant, a rank, the first `run_at`, and whether that is due."""
Pair = tuple[str, int]
"""A tenant and a rank."""
Ends = dict[Pair, tuple[Instant, str]]
"""When the last job that was claimed from a pair was due, and its id."""


@dataclass(slots=True)
class Turn:
    """Where a worker's claims stand in the round of tenants, queue by queue."""

    last_tenant: dict[str, str] = field(default_factory=dict)
    trails: dict[str, Trail] = field(default_factory=dict)
    next_due: Instant | None = None
    """The earliest time at which the last short claim saw something to do."""
    gated: set[str] = field(default_factory=set)
    """Queues whose last claim met jobs with a gate before them."""

    def notice(self, moment: Instant) -> None:
        """Something is to do at this moment."""
        self.next_due = moment if self.next_due is None else min(self.next_due, moment)


class Trail:
    """Where the last claims from a queue ended, pair by pair: the next one goes on from there.

    PostgreSQL keeps what was claimed as dead entries at the front of the index, and steps over all of them in every
    claim while somebody's snapshot is open. So full batches go on behind the last job of the one before. A short one,
    or a second later, begins at the front again: nothing earlier waits for longer.
    """

    def __init__(self, time_of: Callable[[], float] = time.monotonic) -> None:
        self._time_of = time_of
        self._begun = time_of()
        self.ends: Ends = {}

    @property
    def is_fresh(self) -> bool:
        """Whether it may still be followed."""
        return self._time_of() - self._begun < TRAIL_SECONDS

    def follow(self, leases: Sequence[Lease]) -> bool:
        """Note where a full batch ended; False where it came from too many pairs to be worth it."""
        for lease in leases:
            pair, end = (lease.tenant, -lease.priority), (lease.run_at, lease.id)
            self.ends[pair] = max(end, self.ends.get(pair, end))
        return len(self.ends) <= TRAIL_PAIRS

    def past(self, shares: Sequence[Share]) -> Columns:
        """The shares as columns, each with the place from which it is taken."""
        ends = [self.ends.get((share.tenant, share.rank), THE_FRONT) for share in shares]
        return {
            "tenant": [share.tenant for share in shares],
            "rank": [share.rank for share in shares],
            "limit": [share.limit for share in shares],
            "past_run_at": [run_at for run_at, _ in ends],
            "past_id": [job_id for _, job_id in ends],
        }


class Claiming:
    """Takes leases."""

    def __init__(
        self, database: Database, events: Events, permits: Permits, settling: Settling, sources: Sources
    ) -> None:
        self._db = database
        self._events = events
        self._permits = permits
        self._settling = settling
        self._sources = sources
        self._book = book("penstock.stores", database.dialect, "jobs")

    def claim(self, worker_id: str, queues: Sequence[str], batch: int, turn: Turn) -> list[Lease]:
        """Take up to a batch of due jobs from the queues, in their order."""
        turn.next_due = None
        taken: list[Lease] = []
        for queue in queues:
            if len(taken) < batch:
                taken += self._claim_queue(worker_id, queue, batch - len(taken), turn)
        return taken

    def due_pairs(self, queue: str) -> list[tuple[str, int]]:
        """The (tenant, priority) pairs of a queue that have a due job. Nothing is written."""
        walked = self._db.read(lambda connection: self._walk(connection, queue, ("", HIGHEST), 100_000, {}))
        return [(tenant, -rank) for tenant, rank in _due(walked)]

    def _claim_queue(self, worker_id: str, queue: str, batch: int, turn: Turn) -> list[Lease]:
        """Claim from one queue, again where it has more tenants, or where jobs that found their key full took room."""
        taken: list[Lease] = []
        more_since: Instant | None = None
        for _ in range(ROUNDS):
            passed, more_since = self._claim_round(worker_id, queue, batch - len(taken), turn)
            taken += passed
            if more_since is None or len(taken) == batch:
                return taken
        if more_since is not None:
            turn.notice(more_since)
        return taken

    def _claim_round(self, worker_id: str, queue: str, batch: int, turn: Turn) -> Round:
        """Take the jobs whose turn it is."""
        if self._db.dialect == "postgres" and queue not in turn.gated:
            walked, leases = self._claim_ungated(worker_id, queue, batch, turn)
            if leases or not _due(walked):
                has_more = _remember(turn, queue, walked, leases, batch)
                return sorted(leases, key=_order), _due_since(walked) if has_more else None
        return self._claim_gated(worker_id, queue, batch, turn)

    def _claim_ungated(self, worker_id: str, queue: str, batch: int, turn: Turn) -> tuple[list[Row], list[Lease]]:
        """A walk, and a statement that is its own transaction: two trips where nothing but the jobs is to be written.

        One, where a walk from the front finds a lone pair.
        Nothing is taken where a gate stands before one of the jobs, or where others were faster.
        """
        trail = turn.trails.pop(queue, None)
        if trail is not None and trail.is_fresh:
            walked, leases = self._claim_along(trail, worker_id, queue, batch, turn)
            if leases:
                return walked, leases
        return self._claim_along(Trail(), worker_id, queue, batch, turn)

    def _claim_along(
        self, trail: Trail, worker_id: str, queue: str, batch: int, turn: Turn
    ) -> tuple[list[Row], list[Lease]]:
        last = turn.last_tenant.get(queue, "")
        common = {"worker_id": worker_id, "queue": queue, "now": self._db.clock.now()}

        def take(given: list[Share], most: int) -> list[Lease]:
            asked = {**common, "gated": False, "batch": most}
            return [Lease._make(row) for row in self._db.alone(self._book["claim"], asked, trail.past(given))]

        leases: list[Lease] | None = None
        if last or trail.ends:
            walked = self._db.read(lambda connection: self._round(connection, queue, batch, last, trail))
        else:
            walked, leases = self._claim_lone(common, batch)
        if leases is None:
            leases = _share_out(_due(walked), batch, take, all_or_nothing=True)
        if len(leases) == batch and trail.follow(leases):
            turn.trails[queue] = trail
        return walked, leases

    def _claim_lone(self, common: dict[str, Any], batch: int) -> tuple[list[Row], list[Lease] | None]:
        """Walk all around, and in the same trip take what is there where one pair alone has something due.

        None where there are several: then who gets how much is to be decided first.
        """
        asked = {**common, "after": "", "before": HIGHEST, "tenants": min(batch, TENANTS_AT_ONCE), "batch": batch}
        rows = self._db.alone(self._book["claim_lone"], asked)
        walked = list(dict.fromkeys(row[:PAIR_COLUMNS] for row in rows))
        if len(_due(walked)) > 1:
            return walked, None
        return walked, [Lease._make(row[PAIR_COLUMNS:]) for row in rows if row[PAIR_COLUMNS] is not None]

    def _claim_gated(self, worker_id: str, queue: str, batch: int, turn: Turn) -> Round:
        """Walk, claim and pass the gates in one transaction: no job runs that its gate did not let through."""

        def work(connection: Connection) -> tuple[list[Row], list[Lease], list[Lease]]:
            walked = self._round(connection, queue, batch, turn.last_tenant.get(queue, ""))
            common = {"worker_id": worker_id, "queue": queue, "gated": True, "now": self._db.clock.now()}

            def take(given: list[Share], most: int) -> list[Lease]:
                return self._take(connection, given, {**common, "batch": most})

            leases = _share_out(_due(walked), batch, take)
            return walked, leases, self._pass_gates(connection, leases)

        walked, leases, passed = self._db.transact(work, rows=batch)
        has_more = _remember(turn, queue, walked, leases, batch) or len(passed) < len(leases)
        if any(lease.concurrency_key or lease.source for lease in leases):
            turn.gated.add(queue)
        else:
            turn.gated.discard(queue)
        return sorted(passed, key=_order), _due_since(walked) if has_more else None

    def _round(
        self, connection: Connection, queue: str, batch: int, last: str, trail: Trail | None = None
    ) -> list[Row]:
        """Walk from the tenant after the last one, and around to it, until one claim's tenants are found."""
        known, most = {} if trail is None else trail.ends, min(batch, TENANTS_AT_ONCE)
        walked = self._walk(connection, queue, (last, HIGHEST), most, known)
        found = len({tenant for tenant, _, _, is_due in walked if is_due})
        if last and found < most:
            walked += self._walk(connection, queue, ("", last + NEXT), most - found, known)
        return walked

    def _walk(
        self, connection: Connection, queue: str, between: tuple[str, str], tenants: int, known: Ends
    ) -> list[Row]:
        after, before = between
        params = {"queue": queue, "after": after, "before": before, "tenants": tenants, "now": self._db.clock.now()}
        if not known:
            return connection.all(self._book["walk"], params)
        past = [
            {"past_tenant": tenant, "past_rank": rank, "past_run_at": run_at, "past_id": job_id}
            for (tenant, rank), (run_at, job_id) in known.items()
        ]
        return sorted(connection.each(self._book["walk_behind"], as_columns(past), params), key=_by_pair)

    def _take(self, connection: Connection, given: list[Share], common: dict[str, Any]) -> list[Lease]:
        if connection.dialect == "sqlite":
            return self._take_in_turn(connection, given, common)
        return [Lease._make(row) for row in connection.each(self._book["claim"], Trail().past(given), common)]

    def _take_in_turn(self, connection: Connection, given: list[Share], common: dict[str, Any]) -> list[Lease]:
        """SQLite has no lateral join: one statement a pair, until the batch is full."""
        leases: list[Lease] = []
        for share in given:
            most = min(share.limit, common["batch"] - len(leases))
            if most > 0:
                asked = {**common, "tenant": share.tenant, "rank": share.rank, "limit": most}
                leases += [Lease._make(row) for row in connection.all(self._book["claim"], asked)]
        return leases

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
        self._settling.put_back(connection, waiting)
        self._events.record(connection, [events_of(s, s.lease.worker_id)[-1] for s in waiting])
        turned_away = {s.lease.id for s in waiting}
        return [lease for lease in leases if lease.id not in turned_away]

    def _pass_sources(self, connection: Connection, leases: list[Lease], held_up: set[str]) -> list[Settlement]:
        """Ask the sources of the jobs that are not held up already; a permit of theirs goes back with those refused."""
        asking = [lease for lease in leases if lease.source is not None and lease.id not in held_up]
        if not asking:
            return []
        waiting = [Settlement(lease, step) for lease, step in self._sources.pass_claim(connection, asking)]
        self._permits.free(connection, [s.lease for s in waiting])
        return waiting


def _due(walked: list[Row]) -> list[Pair]:
    """The pairs that have a due job."""
    return [(tenant, rank) for tenant, rank, _, is_due in walked if is_due]


def _due_since(walked: list[Row]) -> Instant:
    """Since when something was due."""
    return int(min(run_at for _, _, run_at, is_due in walked if is_due))


def _share_out(pairs: list[tuple[str, int]], batch: int, take: Take, *, all_or_nothing: bool = False) -> list[Lease]:
    """Take the share of each pair, and what some did not have from the others."""
    if not pairs:
        return []
    given = shares(pairs, batch)
    leases = take(given, batch)
    missing = batch - len(leases)
    if missing and (leases or not all_or_nothing):
        got = Counter((lease.tenant, -lease.priority) for lease in leases)
        more = fill_up(pairs, given, got, missing)
        leases += take(more, missing) if more else []
    return leases


def _wait_for_permit(lease: Lease) -> PutBack:
    delay = gate_wait_us(lease.deferrals)
    return PutBack("snooze", delay, refund=1, deferral=1, waiting_on=f"{GATE}{lease.concurrency_key}")


def _remember(turn: Turn, queue: str, walked: list[Row], leases: list[Lease], batch: int) -> bool:
    """Note who is next, and return whether there may be more tenants than one claim serves.

    The next claim starts after the last tenant that got something; a short one knows when to come back. A short one
    took all that was due, so nobody is owed a turn, and nobody is where there is one tenant: then the next one starts
    where a single walk sees all. Unless there may be more tenants: they are next.
    """
    is_short, has_more = len(leases) < batch, _serves_some(walked, batch)
    if has_more and not leases:
        turn.last_tenant[queue] = _due(walked)[-1][0]
    elif (is_short and not has_more) or (batch > 1 and len({tenant for tenant, _, _, _ in walked}) == 1):
        turn.last_tenant.pop(queue, None)
    elif leases:
        served = {lease.tenant for lease in leases}
        turn.last_tenant[queue] = [tenant for tenant, _, _, _ in walked if tenant in served][-1]
    if is_short:
        for _, _, run_at, is_due in walked:
            if not is_due:
                turn.notice(run_at)
    return has_more


def _serves_some(walked: list[Row], batch: int) -> bool:
    """Whether a walk ended at as many tenants as one claim serves, although the batch has room for more."""
    return batch > TENANTS_AT_ONCE <= len({tenant for tenant, _, _, is_due in walked if is_due})


def _by_pair(row: Row) -> Pair:
    return (row[0], row[1])


def _order(lease: Lease) -> tuple[int, Instant, str]:
    return (-lease.priority, lease.run_at, lease.id)


def _permit_order(lease: Lease) -> tuple[str, int, Instant, str]:
    """Key by key, so that two claims at once never wait for each other's permits in a circle."""
    return (lease.concurrency_key or "", *_order(lease))
