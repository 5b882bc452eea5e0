"""How far and how fast: what ended in some queues since one began to look, and what is left of them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from haulwright.clock import SECOND, Instant
from haulwright.stores.queues import EndedCounts

if TYPE_CHECKING:
    from haulwright.stores.store import Store

LAG_US = SECOND
"""How far behind now a look ends: what has ended but is not committed yet would be missed for ever."""
SHARE = 20
"""Counting takes at most one part in so many of the time, however long the queues are."""
LOOKS = 10
"""How many looks the rate is reckoned over."""


@dataclass(frozen=True, slots=True)
class QueueProgress:
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


class EndedMeter:
    """What ended, look by look. A look reads one short range of the history, never all of it."""

    def __init__(self, store: Store, queues: Collection[str], tenant: str | None) -> None:
        self._store = store
        self._queues = queues
        self._tenant = tenant
        self.done = 0
        self.dead = 0
        self._marks: deque[tuple[Instant, int]] = deque([(store.now(), 0)], maxlen=LOOKS + 1)

    def look(self, lag_us: int = LAG_US) -> EndedCounts:
        """Count what ended since the last look, and return it."""
        last, until = self._marks[-1][0], self._store.now() - lag_us
        if until <= last:
            return EndedCounts()
        by_queue = self._store.queues.ended(last, until, self._tenant).items()
        counts = [ended for queue, ended in by_queue if queue in self._queues]
        new = EndedCounts(sum(ended.done for ended in counts), sum(ended.dead for ended in counts))
        self.done += new.done
        self.dead += new.dead
        self._marks.append((until, self.done + self.dead))
        return new

    @property
    def rate(self) -> float:
        """Jobs that ended a second, over the last looks."""
        (began, ended_before), (until, ended) = self._marks[0], self._marks[-1]
        return (ended - ended_before) * SECOND / (until - began) if until > began else 0.0


class QueueTally:
    """Looks at some queues again and again, and keeps the cost of that small."""

    def __init__(self, store: Store, queues: Collection[str], tenant: str | None = None) -> None:
        self._store = store
        self._queues = queues
        self._tenant = tenant
        self._meter = EndedMeter(store, queues, tenant)
        self._due = self._parked = self._running = 0
        self._oldest: Instant | None = None
        self._next_count = 0.0

    def look(self, *, at_last: bool = False) -> QueueProgress:
        """Where the queues stand. The last look leaves nothing out, whatever it costs."""
        ended = self._meter.look(0 if at_last else LAG_US)
        counted = at_last or time.monotonic() >= self._next_count
        if counted:
            self._count()
        else:
            self._due = max(0, self._due - ended.done - ended.dead)
        left = (self._due, self._running, self._parked, self._oldest)
        return QueueProgress(self._meter.done, self._meter.dead, *left, rate=self._meter.rate, counted=counted)

    def _count(self) -> None:
        began = time.monotonic()
        counts = self._store.queues.of(self._queues, self._tenant)
        self._due, self._parked = sum(queue.due for queue in counts), sum(queue.parked for queue in counts)
        self._running = sum(queue.running for queue in counts)
        self._oldest = min((queue.oldest for queue in counts if queue.oldest is not None), default=None)
        self._next_count = began + SHARE * (time.monotonic() - began)
