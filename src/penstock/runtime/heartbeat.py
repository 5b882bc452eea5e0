"""Renews all leases of this worker, on a thread and a connection of its own, and tells runs what they must know."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from penstock.clock import SECOND
from penstock.errors import DatabaseProblem
from penstock.runtime.backoff import LONGEST_SECONDS, Backoff
from penstock.runtime.execution import superseded
from penstock.runtime.threads import is_overdue

if TYPE_CHECKING:
    from penstock.runtime.execution import Run
    from penstock.runtime.report import Report
    from penstock.stores.leases import Renewal
    from penstock.stores.store import Store

LONGEST_INTERVAL_SECONDS = 20.0
SHORTEST_INTERVAL_SECONDS = 0.1
CALM_SECONDS = 1.5 * LONGEST_SECONDS
"""So long after trouble every worker, whatever its pause between two tries, has renewed what it holds."""
PARTS = 6
"""A lease is renewed this often before it would run out."""


class Heartbeat:
    """Keeps leases alive, and notices those that are gone."""

    def __init__(
        self,
        store: Store,
        worker_id: str,
        report: Report,
        runs: Callable[[], list[Run]],
        give_up: Callable[[Run], None],
    ) -> None:
        self._store = store
        self._worker_id = worker_id
        self._report = report
        self._runs = runs
        self._give_up = give_up
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._work, name="penstock-heartbeat", daemon=True)
        self._next = float("inf")
        """When the next beat is planned, on the monotonic clock."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()
        self._wake.set()
        self._thread.join()

    def expect(self, runs: Sequence[Run]) -> None:
        """Runs were claimed: where one of them needs a beat before the next one that is planned, plan anew."""
        if runs and time.monotonic() + min(_wait_for(run) for run in runs) < self._next:
            self._wake.set()

    def beat(self) -> None:
        """Renew all leases once, and end the runs that lost theirs, were cancelled, or ran out of time."""
        held = self._runs()
        lost = superseded(held)
        runs = [run for run in held if run not in lost]
        renewal = self._store.leases.renew([run.lease for run in runs])
        self._store.workers.seen(self._worker_id, self._report.refused)
        for run in held:
            if _tell(run, renewal, lost=run in lost):
                run.end()
            if is_overdue(run):
                self._give_up(run)

    def is_steady(self) -> bool:
        """Whether the others, too, had time to renew since the database was last away: before that, nobody reaps."""
        return time.monotonic() - self._report.troubled_at >= max(self.interval(), CALM_SECONDS)

    def interval(self) -> float:
        """A sixth of the shortest lease that is held, or less where a run is out of time before that."""
        waits = [_wait_for(run) for run in self._runs()]
        return max(SHORTEST_INTERVAL_SECONDS, min(waits, default=LONGEST_INTERVAL_SECONDS))

    def _work(self) -> None:
        backoff = Backoff()
        while not self._stop.is_set():
            try:
                self.beat()
                backoff = Backoff()
                self._rest()
            except DatabaseProblem as trouble:
                wait = backoff.next()
                self._report.troubled("heartbeat", trouble, wait)
                self._stop.wait(wait)

    def _rest(self) -> None:
        """Wait for the next beat; a job that is claimed meanwhile may bring it nearer."""
        beaten = time.monotonic()
        while not self._stop.is_set():
            self._next = beaten + self.interval()
            wait = self._next - time.monotonic()
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


def _wait_for(run: Run) -> float:
    """How soon a run needs a beat: to renew its lease, or to tell it that its time is over."""
    renewal = min(LONGEST_INTERVAL_SECONDS, run.lease.lease_us / SECOND / PARTS)
    left = _seconds_left(run)
    return renewal if left is None else min(renewal, left)


def _seconds_left(run: Run) -> float | None:
    """What a `def` task has left of its time; an `async def` task is ended by its own loop."""
    limit = run.timeout_seconds
    if limit is None or run.task.is_async or run.context.signals.timed_out:
        return None
    return max(0.0, limit - run.seconds)
