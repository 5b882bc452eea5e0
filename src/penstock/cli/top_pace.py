"""How far and how fast: what ended in some queues since one began to look, and what is left of them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.clock import SECOND, Instant
from penstock.stores.queues import Ended

if TYPE_CHECKING:
    from penstock.stores.store import Store

LAG_US = SECOND
"""How far behind now a look ends: what has ended but is not committed yet would be missed for ever."""
SHARE = 20
"""Counting takes at most one part in so many of the time, however long the queues are."""


class Pace:
    """What ended, look by look. A look reads one short range of the history, never all of it."""

    def __init__(self, store: Store, queues: Collection[str] | None, *, since: Instant, looks: int = 1) -> None:
        self._store = store
        self._queues = queues
        self.done = 0
        self.dead = 0
        self._marks: deque[tuple[Instant, int, int]] = deque([(since, 0, 0)], maxlen=looks + 1)

    def look(self, lag_us: int = LAG_US) -> Ended:
        """Count what ended since the last look, and return it."""
        last, until = self._marks[-1][0], self._store.now() - lag_us
        if until <= last:
            return Ended()
        found = self._store.queues.ended(last, until).items()
        asked = [ended for queue, ended in found if self._queues is None or queue in self._queues]
        new = Ended(sum(one.done for one in asked), sum(one.dead for one in asked))
        self.done += new.done
        self.dead += new.dead
        self._marks.append((until, self.done, self.dead))
        return new

    @property
    def rates(self) -> tuple[float, float]:
        """Jobs done and jobs that died, each a second, over the last looks."""
        (began, done, dead), (until, *_) = self._marks[0], self._marks[-1]
        seconds = (until - began) / SECOND
        return ((self.done - done) / seconds, (self.dead - dead) / seconds) if seconds else (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Standing:
    """How far some queues have come."""

    done: int
    failed: int
    """Those that died."""
    due: int
    running: int
    parked: int
    oldest: Instant | None
    rate: float
    """Jobs that end a second."""
    counted: bool
    """Whether what is left was counted just now, or reckoned from the last count and what ended since."""

    @property
    def left(self) -> int:
        """What waits and may run, and what runs."""
        return self.due + self.running

    @property
    def eta_seconds(self) -> float | None:
        """How long the rest takes at this rate; None where nothing moves."""
        return self.left / self.rate if self.rate else None


class Tally:
    """Looks at some queues again and again, and keeps the cost of that small."""

    def __init__(self, store: Store, queues: Collection[str]) -> None:
        self._store = store
        self._queues = queues
        self._pace = Pace(store, queues, since=store.now(), looks=10)
        self._due = self._parked = self._running = 0
        self._oldest: Instant | None = None
        self._next_count = 0.0

    def look(self, *, at_last: bool = False) -> Standing:
        """Where the queues stand. The last look leaves nothing out, whatever it costs."""
        ended = self._pace.look(0 if at_last else LAG_US)
        counted = at_last or time.monotonic() >= self._next_count
        if counted:
            self._count()
        else:
            self._due = max(0, self._due - ended.done - ended.dead)
        figures = (self._due, self._running, self._parked, self._oldest)
        return Standing(self._pace.done, self._pace.dead, *figures, rate=sum(self._pace.rates), counted=counted)

    def _count(self) -> None:
        began = time.monotonic()
        mine = [one for one in self._store.queues.counts() if one.name in self._queues]
        self._due, self._parked = sum(one.due for one in mine), sum(one.parked for one in mine)
        self._running = sum(one.running for one in mine)
        self._oldest = min((one.oldest for one in mine if one.oldest is not None), default=None)
        self._next_count = began + SHARE * (time.monotonic() - began)
