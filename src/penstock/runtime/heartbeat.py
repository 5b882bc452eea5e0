"""Renews all leases of this worker, on a thread and a connection of its own, and tells runs what they must know."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.errors import DatabaseProblem
from penstock.runtime.backoff import Backoff

if TYPE_CHECKING:
    from penstock.runtime.execution import Run
    from penstock.runtime.report import Report
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
        self.in_contact_since: float | None = None
        """Since when every renewal has succeeded, on the monotonic clock."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()
        self._wake.set()
        self._thread.join()

    def beat(self) -> None:
        """Renew all leases once, and end the runs that lost theirs, were cancelled, or ran out of time."""
        runs = self._runs()
        renewal = self._store.leases.renew([run.lease for run in runs])
        self._store.workers.seen(self._worker_id, self._report.refused)
        for run in runs:
            signals = run.context.signals
            if run.lease.id in renewal.lost and run.outcome is None and not run.context.settled:
                signals.lost = True
            elif run.lease.id in renewal.cancelled:
                signals.cancelled = renewal.cancelled[run.lease.id]
            else:
                continue
            if run.finish is not None:
                run.finish()

    def _work(self) -> None:
        backoff = Backoff()
        while not self._stop.is_set():
            try:
                self.beat()
                self.in_contact_since = self.in_contact_since or time.monotonic()
                backoff = Backoff()
                wait = self.interval()
            except DatabaseProblem as trouble:
                self.in_contact_since = None
                wait = backoff.next()
                self._report.troubled("heartbeat", trouble, wait)
            self._stop.wait(wait)

    def interval(self) -> float:
        """A sixth of the shortest lease that is held."""
        leases = [run.lease.lease_us / 1_000_000 for run in self._runs()]
        return max(SHORTEST_INTERVAL_SECONDS, min([LONGEST_INTERVAL_SECONDS, *[lease / PARTS for lease in leases]]))
