"""Renews all leases of this worker, on a thread and a connection of its own, and tells runs what they must know."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from haulwright.engine.lease import LONGEST_INTERVAL_SECONDS, SHORTEST_INTERVAL_SECONDS, renewal_seconds
from haulwright.runtime.backoff import LONGEST_SECONDS
from haulwright.runtime.execution import superseded
from haulwright.runtime.loop import Loop
from haulwright.runtime.threads import is_overdue

if TYPE_CHECKING:
    from haulwright.engine.job import LeaseKey
    from haulwright.runtime.execution import Run
    from haulwright.runtime.observers import Observers
    from haulwright.stores.leases import Renewal
    from haulwright.stores.store import Store

SKIPPED_SECONDS = 0.25
"""How soon a lease is tried again whose row a transaction held: before anybody could take it for lost."""


class Heartbeat:
    """Keeps leases alive, and notices those that are gone."""

    def __init__(  # noqa: PLR0913 - the parts of its worker that it works with
        self,
        store: Store,
        worker_id: str,
        observers: Observers,
        runs: Callable[[], list[Run]],
        *,
        abandon: Callable[[Run], None],
        on_put_back: Callable[[int, int], None],
    ) -> None:
        self._store = store
        self._worker_id = worker_id
        self._observers = observers
        self._runs = runs
        self._abandon = abandon
        self._on_put_back = on_put_back
        self._beats = 0
        """How often the database has said that it saw us: it never becomes less, unless the database is put back."""
        # Its connection is closed by its own thread: it may come back from a call that nobody waited for.
        self._loop = Loop("heartbeat", self._step, observers, longest_pause=self._longest_pause, on_end=store.close)
        self._skipped: frozenset[LeaseKey] = frozenset()
        """Leases that the last renewal found held by a transaction."""
        self._last_beat = float("-inf")
        self._next = float("inf")
        """When the next beat is planned, on the monotonic clock."""

    def start(self) -> None:
        """Begin."""
        self._loop.start()

    def stop(self) -> None:
        """End."""
        self._loop.stop()

    def expect(self, runs: Sequence[Run]) -> None:
        """Runs were claimed: where one of them needs a beat before the next one that is planned, plan anew."""
        if runs and time.monotonic() + _seconds_to_beat(runs) < self._next:
            self._loop.wake()

    def beat(self) -> None:
        """Renew all leases once, and end the runs that lost theirs, were cancelled, or ran out of time."""
        self._store.database.require_unchanged()
        self._renew(self._runs())
        self._report()

    def _renew(self, held: list[Run]) -> None:
        lost = superseded(held)
        runs = [run for run in held if run not in lost and not run.context.signals.lost]
        renewal = self._store.leases.renew([run.lease for run in runs])
        self._skipped = frozenset(run.key for run in runs if run.lease.id in renewal.skipped)
        for run in runs:
            if run.lease.id not in renewal.lost:
                run.note_renewal(skipped=run.lease.id in renewal.skipped)
        for run in held:
            if _signal(run, renewal, lost=run in lost):
                run.end()
            if is_overdue(run):
                self._abandon(run)

    def _report(self) -> None:
        """Say that this worker lives, and notice a database that has forgotten some of it."""
        beats = self._store.workers.seen(self._worker_id, self._observers.tally.refused)
        remembered, self._beats = self._beats, beats
        if beats <= remembered:
            self._on_put_back(beats, remembered)

    def interval(self) -> float:
        """A sixth of the shortest lease that is held, or less where a run is out of time before that."""
        return max(SHORTEST_INTERVAL_SECONDS, _seconds_to_beat(self._runs()))

    def _step(self) -> float:
        """Beat, where it is time to, and return how long it is to the next; a claim meanwhile may bring that nearer.

        Leases that were skipped are tried again and again, and they alone: a commit may last longer than a lease.
        """
        if time.monotonic() >= self._last_beat + self.interval():
            self.beat()
            self._last_beat = time.monotonic()
        elif self._skipped:
            self._renew([run for run in self._runs() if run.key in self._skipped])
        self._next = self._last_beat + self.interval()
        wait = max(0.0, self._next - time.monotonic())
        return min(wait, SKIPPED_SECONDS) if self._skipped else wait

    def _longest_pause(self) -> float:
        """After trouble it is tried again as often as a beat is due, at least."""
        return min(LONGEST_SECONDS, self.interval())


def _signal(run: Run, renewal: Renewal, *, lost: bool) -> bool:
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


def _seconds_to_beat(runs: Sequence[Run]) -> float:
    """How soon one of these runs needs a beat: to renew its lease, or to tell it that its time is over."""
    leases = {run.lease.lease_us for run in runs}  # of a thousand runs most have the same
    limited = [left for run in runs if run.timeout_seconds is not None and (left := _seconds_left(run)) is not None]
    return min([*map(renewal_seconds, leases), *limited], default=LONGEST_INTERVAL_SECONDS)


def _seconds_left(run: Run) -> float | None:
    """What a `def` task has left of its time; an `async def` task is ended by its own loop."""
    limit = run.timeout_seconds
    if limit is None or run.task.is_async or run.context.signals.timed_out:
        return None
    return max(0.0, limit - run.seconds)
