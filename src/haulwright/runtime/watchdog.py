"""Watches the renewals. It asks no database, so that whatever holds them up does not hold this up, too."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from haulwright.clock import SECOND
from haulwright.engine.lease import is_given_up, is_lagging
from haulwright.runtime.loop import Loop

if TYPE_CHECKING:
    from haulwright.runtime.execution import Run
    from haulwright.runtime.observers import Observers

LONGEST_PAUSE_SECONDS = 1.0
SHORTEST_PAUSE_SECONDS = 0.05
CHECKS_PER_LEASE = 8
LATE_PAUSES = 2
"""A check that comes so much later than planned says that the process stood still: first the heartbeat has its turn."""


class Watchdog:
    """Tells of leases that are not renewed in time, and ends the runs that nobody could renew for too long."""

    def __init__(
        self,
        observers: Observers,
        runs: Callable[[], list[Run]],
        find_orphans: Callable[[], None] = lambda: None,
    ) -> None:
        self._observers = observers
        self._runs = runs
        self._find_orphans = find_orphans
        self._due = time.monotonic()
        """When the next check is planned, on the monotonic clock."""
        self._pause = LONGEST_PAUSE_SECONDS
        self._loop = Loop("watchdog", self._step, observers)

    def start(self) -> None:
        """Begin."""
        self._loop.start()

    def stop(self) -> None:
        """End."""
        self._loop.stop()

    def check(self) -> None:
        """Look at every run that goes on: by the monotonic clock, for no other is known here."""
        now = time.monotonic()
        runs = [run for run in self._runs() if _goes_on(run)]
        lagging = [run for run in runs if not run.is_lag_reported and is_lagging(now - run.renewed_at, _lease_us(run))]
        for run in lagging:
            run.is_lag_reported = True
        if lagging:
            lagging.sort(key=lambda run: run.renewed_at)
            self._observers.renewals_lag(lagging, now - lagging[0].renewed_at)
        for run in runs:
            if is_given_up(now - run.held_at, _lease_us(run)):
                run.context.signals.lost = True
                run.end()
        self._find_orphans()

    def _step(self) -> float:
        """Check, unless this comes so late that the process must have stood still; often enough for what is held."""
        is_late = time.monotonic() - self._due > (LATE_PAUSES - 1) * self._pause
        self._pause = self._shortest_pause()
        self._due = time.monotonic() + self._pause
        if not is_late:
            self.check()
        return self._pause

    def _shortest_pause(self) -> float:
        """Often enough for the shortest lease that is held."""
        shortest = min((_lease_us(run) for run in self._runs()), default=0) / SECOND / CHECKS_PER_LEASE
        return max(SHORTEST_PAUSE_SECONDS, min(LONGEST_PAUSE_SECONDS, shortest or LONGEST_PAUSE_SECONDS))


def _goes_on(run: Run) -> bool:
    """Whether it has neither ended nor been told to."""
    return not run.is_over and not run.context.signals.lost


def _lease_us(run: Run) -> int:
    return run.lease.lease_us
