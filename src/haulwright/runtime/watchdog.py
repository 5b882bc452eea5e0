"""Watches the renewals. It asks no database, so that whatever holds them up does not hold this up, too."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from haulwright.clock import SECOND
from haulwright.engine.lease import is_given_up, is_lagging

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

    def __init__(self, observers: Observers, runs: Callable[[], list[Run]]) -> None:
        self._observers = observers
        self._runs = runs
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="haulwright-watchdog", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()
        self._thread.join()

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

    def _work(self) -> None:
        pause, last = LONGEST_PAUSE_SECONDS, time.monotonic()
        while not self._stop.wait(pause):
            if time.monotonic() - last <= LATE_PAUSES * pause:
                self.check()
            pause, last = self._pause(), time.monotonic()

    def _pause(self) -> float:
        """Often enough for the shortest lease that is held."""
        shortest = min((_lease_us(run) for run in self._runs()), default=0) / SECOND / CHECKS_PER_LEASE
        return max(SHORTEST_PAUSE_SECONDS, min(LONGEST_PAUSE_SECONDS, shortest or LONGEST_PAUSE_SECONDS))


def _goes_on(run: Run) -> bool:
    """Whether it has neither ended nor been told to."""
    return not run.ended and run.outcome is None and not run.context.settled and not run.context.signals.lost


def _lease_us(run: Run) -> int:
    return run.lease.lease_us
