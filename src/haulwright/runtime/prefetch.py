"""How much a worker takes in hand: what it can run at once, and what it will have run a moment later."""

from __future__ import annotations

import time
from collections.abc import Callable

AHEAD_SECONDS = 0.15
"""A worker holds what it will begin within this time. More would keep jobs from workers that are free."""
MOST_AHEAD = 3000
WINDOW_SECONDS = 0.05
"""Over how long it is counted how many runs end."""


class Prefetch:
    """Counts how fast runs end, and says how many jobs may be held beyond those that run.

    With runs of a second nothing is taken ahead, so a job is never held back behind a long one while others are free.
    With runs of a millisecond the next jobs are there before they are needed, whatever a trip to the database takes.
    """

    def __init__(self, time_of: Callable[[], float] = time.monotonic) -> None:
        self._time_of = time_of
        self._since = time_of()
        self._ended = 0
        self._per_second = 0.0

    def ended(self, count: int) -> None:
        """So many runs have ended."""
        self._ended += count
        seconds = self._time_of() - self._since
        if seconds >= WINDOW_SECONDS:
            self._per_second = self._ended / seconds
            self._since, self._ended = self._time_of(), 0

    @property
    def ahead(self) -> int:
        """How many jobs may wait here for their turn."""
        seconds = self._time_of() - self._since
        per_second = self._per_second
        if seconds > WINDOW_SECONDS:  # fewer ended since than the last count promised
            per_second = min(per_second, (self._ended + 1) / seconds)
        return min(MOST_AHEAD, int(per_second * AHEAD_SECONDS))
