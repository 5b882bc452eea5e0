"""Renews all leases of this worker, on a thread and a connection of its own, and tells runs what they must know."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.clock import SECOND
from penstock.errors import DatabaseProblem
from penstock.runtime.backoff import Backoff
from penstock.runtime.execution import superseded

if TYPE_CHECKING:
    from penstock.runtime.execution import Run
    from penstock.runtime.report import Report
    from penstock.stores.leases import Renewal
    from penstock.stores.store import Store

LONGEST_INTERVAL_SECONDS = 20.0
SHORTEST_INTERVAL_SECONDS = 0.1
PARTS = 6
"""A lease is renewed this often before it would run out."""


class Heartbeat:
    """Keeps leases alive, and notices those that are gone."""

    def __init__(self, store: Store, worker_id: str, report: Report, runs: Callable[[], list[Run]]) -> None:
        self._store = store
        self._worker_id = worker_id
        self._report = report
        self._runs = runs
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._work, name="penstock-heartbeat", daemon=True)
        self._in_contact_since: float | None = float("-inf")
        """Since when every renewal has succeeded, on the monotonic clock; None in trouble."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()
        self._wake.set()
        self._thread.join()

    def wake(self) -> None:
        """Look again how soon the next renewal is due: the leases that are held have changed."""
        self._wake.set()

    def beat(self) -> None:
        """Renew all leases once, and end the runs that lost theirs, were cancelled, or ran out of time."""
        held = self._runs()
        lost = superseded(held)
        runs = [run for run in held if run not in lost]
        renewal = self._store.leases.renew([run.lease for run in runs])
        self._store.workers.seen(self._worker_id, self._report.refused)
        for run in held:
            if _tell(run, renewal, lost=run in lost) and run.finish is not None:
                run.finish()

    def is_steady(self) -> bool:
        """Whether the others, too, had time to renew since the database was last away: before that, nobody reaps."""
        since = self._in_contact_since
        return since is not None and time.monotonic() - since >= self.interval()

    def interval(self) -> float:
        """A sixth of the shortest lease that is held, or less where a run is out of time before that."""
        waits = [LONGEST_INTERVAL_SECONDS]
        for run in self._runs():
            waits.append(run.lease.lease_us / SECOND / PARTS)
            if (left := _seconds_left(run)) is not None:
                waits.append(left)
        return max(SHORTEST_INTERVAL_SECONDS, min(waits))

    def _work(self) -> None:
        backoff = Backoff()
        while not self._stop.is_set():
            try:
                self.beat()
                if self._in_contact_since is None:
                    self._in_contact_since = time.monotonic()
                backoff = Backoff()
                self._rest()
            except DatabaseProblem as trouble:
                self._in_contact_since = None
                wait = backoff.next()
                self._report.troubled("heartbeat", trouble, wait)
                self._stop.wait(wait)

    def _rest(self) -> None:
        """Wait for the next beat; a job that is claimed meanwhile may bring it nearer."""
        beaten = time.monotonic()
        while not self._stop.is_set():
            wait = beaten + self.interval() - time.monotonic()
            if wait <= 0:
                return
            self._wake.wait(wait)
            self._wake.clear()


def _tell(run: Run, renewal: Renewal, *, lost: bool) -> bool:
    """Tell a run what it must know, once; True where it must end."""
    signals = run.context.signals
    if (lost or run.lease.id in renewal.lost) and not signals.lost and run.outcome is None and not run.context.settled:
        signals.lost = True
    elif run.lease.id in renewal.cancelled and signals.cancelled is None:
        signals.cancelled = renewal.cancelled[run.lease.id]
    elif _seconds_left(run) == 0:
        signals.timed_out = True
    else:
        return False
    return True


def _seconds_left(run: Run) -> float | None:
    """What a `def` task has left of its time; an `async def` task is ended by its own loop."""
    limit = run.timeout_seconds
    if limit is None or run.task.is_async or run.context.signals.timed_out:
        return None
    return max(0.0, limit - run.seconds)
