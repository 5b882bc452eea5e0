"""The line before a source: jobs that wait get turns, and new ones when the gate opens at another time than it said."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from penstock.clock import SECOND, Instant
from penstock.engine.job import Lease
from penstock.engine.lease import gate_wait_us
from penstock.engine.source import ASK_AGAIN_SECONDS, Standing, gate_name, gate_names
from penstock.stores.books import book
from penstock.stores.connection import Connection, Database, first
from penstock.stores.permits import Permits

FIRST_ID = "00000000-0000-0000-0000-000000000000"
PERMIT_WAIT_FACTOR = 10
"""A job that waits for a permit of a source is woken by the next one that is freed; its own look is for a lost one."""
MOST_WOKEN = 10_000


class Line:
    """The jobs that wait for a source."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._permits = Permits(database)
        self._book = book("penstock.stores", database.dialect, "sources")
        self._jobs = book("penstock.stores", database.dialect, "jobs")

    def park(self, connection: Connection, key: str, refused: Sequence[Lease]) -> int:
        """Give turns to jobs that are due behind refused ones, before they are claimed in vain; how many got one."""
        standing = self._standing(connection, key)
        if standing is None:
            return 0
        closing = standing.refusal()
        by_permits = closing.gate == "permits"
        wait_us = permit_wait_us(0) if by_permits else max(0, closing.until - standing.asked_at)
        interval_us = 0 if by_permits else standing.interval_us
        params = {
            "key": key,
            "gate": gate_name(key, closing.gate),
            "interval_us": interval_us,
            "opens_at": standing.asked_at + min(wait_us, round(ASK_AGAIN_SECONDS * SECOND)),
            "limit": self._db.rows_at_once,
            "now": self._db.clock.now(),
        }
        parked = 0
        for queue, tenant, rank in sorted({(lease.queue, lease.tenant, -lease.priority) for lease in refused}):
            first_turn = standing.next_turn + parked * interval_us
            pair = {"queue": queue, "tenant": tenant, "rank": rank, "first": 0 if by_permits else first_turn}
            parked += len(connection.all(self._book["park"], params | pair))
        if parked and not by_permits:
            self._move(connection, key, standing.turns_until + parked * standing.interval_us)
        return parked

    def wake(self, connection: Connection, key: str, permits: int) -> int:
        """Make the oldest waiters for a permit due at once, one for each that is free, and ring for them."""
        woken = self._permits.wake(connection, gate_name(key, "permits"), permits)
        if woken:
            self._ring(connection)
        return woken

    def respread(self, key: str, paused_us: int = 0) -> int:
        """Give all that wait turns of their own, the oldest first, from when the gate opens; how many they were.

        Bounded steps, each a transaction. Nobody depends on the last of them: a job that is left where it was asks at
        the time that it was told. `paused_us` is what a person's pause took from their deadlines.
        """
        moved, after, most = 0, FIRST_ID, self._db.rows_at_once
        while True:
            step = partial(self._step, key=key, after=after, offset=moved, paused_us=paused_us, most=most)
            ids = self._db.transact(step, rows=most)
            moved += len(ids)
            if len(ids) < most:
                return moved
            after = max(ids)

    def _step(  # noqa: PLR0913 - where one step of the walk stands
        self, connection: Connection, *, key: str, after: str, offset: int, paused_us: int, most: int
    ) -> list[str]:
        connection.all(self._book["hold"], {"key": key, "now": self._db.clock.now()})  # nobody gives turns meanwhile
        standing = self._standing(connection, key)
        if standing is None:
            return []
        opens_at = self._opening(standing)
        params = {
            "gates": gate_names(key),
            "opens_at": opens_at,
            "offset": offset,
            "burst": standing.burst,
            "interval_us": standing.interval_us,
            "paused_us": paused_us,
            "after": after,
            "limit": most,
            "now": self._db.clock.now(),
        }
        ids = [str(job_id) for (job_id,) in connection.all(self._book["respread"], params)]
        self._move(connection, key, opens_at + (offset + len(ids)) * standing.interval_us)
        self.wake(connection, key, standing.free_permits(MOST_WOKEN))
        if ids and opens_at == standing.asked_at:
            self._ring(connection)
        return ids

    def _opening(self, standing: Standing) -> Instant:
        """When the gate opens, or when to look again at one that only a person opens."""
        now, closing = standing.asked_at, standing.closing(standing.asked_at)
        return now if closing is None else min(closing.until, now + round(ASK_AGAIN_SECONDS * SECOND))

    def _standing(self, connection: Connection, key: str) -> Standing | None:
        params: dict[str, Any] = {"key": key, "now": self._db.clock.now()}
        row = first(connection.all(self._book["standing"], params))
        return None if row is None else Standing(*row)

    def _move(self, connection: Connection, key: str, turns_until: Instant) -> None:
        connection.all(self._book["move_line"], {"key": key, "turns_until": turns_until})

    def _ring(self, connection: Connection) -> None:
        connection.all(self._jobs["now"], {"now": self._db.clock.now(), "ring": True})


def permit_wait_us(deferrals: int) -> int:
    """How long a job waits for a permit of a source that nobody frees."""
    return gate_wait_us(deferrals) * PERMIT_WAIT_FACTOR
