"""The line before a source: jobs that wait get turns, and new ones when the gate opens at another time than it said."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from haulwright.clock import SECOND, Instant
from haulwright.engine.job import Lease
from haulwright.engine.lease import gate_wait_us
from haulwright.engine.source import ASK_AGAIN_SECONDS, SourceState, gate_name, gate_names
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database, first
from haulwright.stores.waiters import Waiters

FIRST_ID = "00000000-0000-0000-0000-000000000000"
PERMIT_WAIT_FACTOR = 10
"""A job that waits for a permit of a source is woken by the next one that is freed; its own look is for a lost one."""
MOST_WOKEN = 10_000


class _Walk(NamedTuple):
    """How far all waiters of a source have been moved."""

    after: str = FIRST_ID
    moved: int = 0
    woken: int = 0


class SourceWaiters:
    """The jobs that wait for a source."""

    def __init__(self, database: Database, waiters: Waiters) -> None:
        self._db = database
        self._waiters = waiters
        self._book = book("haulwright.stores", database.dialect, "sources")
        self._jobs = book("haulwright.stores", database.dialect, "jobs")

    def park(self, connection: Connection, key: str, refused: Sequence[Lease]) -> int:
        """Give turns to jobs that are due behind refused ones, before they are claimed in vain; how many got one."""
        state = self._state(connection, key)
        if state is None:
            return 0
        closing = state.refusal()
        by_permits = closing.gate == "permits"
        wait_us = permit_wait_us(0) if by_permits else max(0, closing.until - state.asked_at)
        interval_us = 0 if by_permits else state.interval_us
        params = {
            "key": key,
            "gate": gate_name(key, closing.gate),
            "interval_us": interval_us,
            "opens_at": state.asked_at + min(wait_us, round(ASK_AGAIN_SECONDS * SECOND)),
            "limit": self._db.batch_size,
            "now": self._db.clock.now(),
        }
        parked = 0
        for queue, tenant, rank in sorted({(lease.queue, lease.tenant, -lease.priority) for lease in refused}):
            first_turn = state.next_turn + parked * interval_us
            pair = {"queue": queue, "tenant": tenant, "rank": rank, "first": 0 if by_permits else first_turn}
            parked += len(connection.run(self._book["park"], params | pair))
        if parked and not by_permits:
            self._move(connection, key, state.turns_until + parked * state.interval_us)
        return parked

    def wake(self, connection: Connection, key: str, permits: int) -> int:
        """Make the oldest waiters for a permit due at once, one for each that is free, and notify workers."""
        woken = self._waiters.wake_on(connection, gate_name(key, "permits"), permits)
        if woken:
            self._notify(connection)
        return woken

    def reschedule_waiters(self, key: str, paused_us: int = 0) -> int:
        """Give all that wait turns of their own, the oldest first, from when the gate opens; how many they were.

        Bounded steps, each a transaction. Nobody depends on the last of them: a job that is left where it was asks at
        the time that it was told. `paused_us` is what a person's pause took from the deadlines of those that do not
        name the source: the others have it from the record of the pause.
        """
        walk, most = _Walk(), self._db.batch_size
        while True:
            moved, woken = walk.moved, walk.woken
            step = partial(self._step, key=key, walk=walk, paused_us=paused_us, most=most)
            walk = self._db.transact(step, rows=most)
            if walk.moved - moved < most and walk.woken - woken < most:
                return walk.moved

    def _step(self, connection: Connection, *, key: str, walk: _Walk, paused_us: int, most: int) -> _Walk:
        """The next waiters in the line, and the next that wait for a permit, so many of each at most."""
        connection.run(self._book["hold"], {"key": key, "now": self._db.clock.now()})  # nobody gives turns meanwhile
        state = self._state(connection, key)
        if state is None:
            return walk
        opens_at = self._opening(state)
        params = {
            "key": key,
            "gates": gate_names(key),
            "opens_at": opens_at,
            "offset": walk.moved,
            "burst": state.burst,
            "interval_us": state.interval_us,
            "paused_us": paused_us,
            "after": walk.after,
            "limit": most,
            "now": self._db.clock.now(),
        }
        ids = [str(job_id) for (job_id,) in connection.run(self._book["respread"], params)]
        moved = walk.moved + len(ids)
        self._move(connection, key, opens_at + moved * state.interval_us)
        woken = self.wake(connection, key, min(most, max(0, state.free_permits(MOST_WOKEN) - walk.woken)))
        if ids and opens_at == state.asked_at:
            self._notify(connection)
        return _Walk(max(ids, default=walk.after), moved, walk.woken + woken)

    def _opening(self, state: SourceState) -> Instant:
        """When the gate opens, or when to look again at one that only a person opens."""
        now, closing = state.asked_at, state.closing(state.asked_at)
        return now if closing is None else min(closing.until, now + round(ASK_AGAIN_SECONDS * SECOND))

    def _state(self, connection: Connection, key: str) -> SourceState | None:
        params: dict[str, Any] = {"key": key, "now": self._db.clock.now()}
        row = first(connection.run(self._book["standing"], params))
        return None if row is None else SourceState(*row)

    def _move(self, connection: Connection, key: str, turns_until: Instant) -> None:
        connection.run(self._book["move_line"], {"key": key, "turns_until": turns_until})

    def _notify(self, connection: Connection) -> None:
        connection.run(self._jobs["notify"], {})


def permit_wait_us(deferrals: int) -> int:
    """How long a job waits for a permit of a source that nobody frees."""
    return gate_wait_us(deferrals) * PERMIT_WAIT_FACTOR
