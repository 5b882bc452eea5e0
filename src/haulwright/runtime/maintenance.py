"""Maintenance: a handful of idempotent acts that every worker may do at any time. No leader is needed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from haulwright.engine.lease import LONGEST_WATCH_SECONDS
from haulwright.errors import DatabaseProblem
from haulwright.runtime.identity import is_gone
from haulwright.runtime.lease_watch import LeaseWatch
from haulwright.runtime.loop import Loop
from haulwright.runtime.pruner import Pruner
from haulwright.runtime.rows_aside import RowsAside

if TYPE_CHECKING:
    from haulwright.runtime.observers import Observers
    from haulwright.settings import Settings
    from haulwright.stores.store import Store
    from haulwright.stores.workers import Identity

T = TypeVar("T")

SWEEP_LIMIT = 100
LONGEST_WAIT_SECONDS = 5.0
UNREADABLE_INTERVAL_SECONDS = 600.0


class Maintenance:
    """Takes back lost leases, buries what is overdue, opens slots, and prunes, each in bounded steps."""

    def __init__(
        self,
        store: Store,
        worker: Identity,
        observers: Observers,
        settings: Settings,
        *,
        opens_slots: bool = True,
    ) -> None:
        self._store = store
        self._worker = worker
        self._observers = observers
        self._settings = settings
        self._opens_slots = opens_slots
        self._stop = threading.Event()
        self._loop = Loop("maintenance", self._step, observers)
        self.sweep_interval = float(settings["stale_check_interval_seconds"])
        self._pruner = Pruner(store, settings)
        self._swept = float("-inf")
        self._looked_for_unreadable = float("-inf")
        self._aside = RowsAside(store, worker, observers)
        self._watch = LeaseWatch(store, worker.id)
        self._slots_due = float("-inf")
        """When slots are looked for again, on the monotonic clock."""

    def start(self) -> None:
        """Begin."""
        self._loop.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()
        self._loop.stop()

    def recover(self) -> int:
        """At the start: take back what processes of this host left that are provably gone, and bury what is overdue.

        So a job that waited past its deadline while no worker was there does not begin.
        """
        worker_ids = sorted(self._store.workers.gone_from(self._worker, is_gone))  # rows are locked in the order of ids
        reaped = _until_empty(lambda: self._store.recovery.recover(worker_ids, SWEEP_LIMIT))
        if worker_ids:
            self._store.workers.recovered(self._worker, worker_ids, len(reaped))
        self._observers.reaped(reaped, "worker_startup_recovery")
        self.expire()
        return len(reaped)

    def take_back_lost(self, stopping: threading.Event) -> None:
        """At the start of a worker that ends by itself: wait until what has run out is renewed, or taken back."""
        until = time.monotonic() + 2 * LONGEST_WATCH_SECONDS
        self.reap(whole=True)
        while self._watch.suspects and time.monotonic() < until and not stopping.wait(self._watch.wait_seconds):
            self.reap()

    def reap(self, *, whole: bool = False) -> int:
        """Take back the leases that ran out and were seen standing still."""
        reaped = self._watch.reap(whole=whole)
        self._observers.reaped(reaped, "sweep")
        return len(reaped)

    def sweep(self) -> int:
        """Look for leases that ran out, however long ago, and bury jobs that waited past their deadline."""
        reaped = self.reap(whole=True)
        self.expire()
        self._swept = time.monotonic()
        return reaped

    def expire(self) -> None:
        """Bury jobs that waited past their deadline."""
        self._observers.expired(_until_empty(lambda: self._store.recovery.expire(SWEEP_LIMIT)))

    def open_slots(self) -> int:
        """Give every due slot its disposition. A schedule of which that cannot be done is put aside for a while."""
        enqueued = 0
        for name in self._store.schedules.due(aside=self._aside.names()):
            try:
                enqueued += self._open_slots_of(name)
            except DatabaseProblem:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is about this one, the others go on
                self._aside.put("schedule", name, error)
        return enqueued

    def _open_slots_of(self, name: str) -> int:
        enqueued, behind = 0, True
        while behind and not self._stop.is_set():
            opened = self._store.schedules.open_due(name, f"worker:{self._worker.name}")
            behind = opened.behind
            enqueued += len(opened.jobs)
            if opened.slots:
                self._observers.slots_opened(name, opened.slots, opened.jobs)
        return enqueued

    def report_unreadable(self) -> None:
        """Tell of the rows that this version cannot read, each once."""
        for row in self._store.unreadable_rows():
            self._aside.report(row)
        self._looked_for_unreadable = time.monotonic()

    def _step(self) -> float:
        self._round()
        return self._wait_seconds()

    def _round(self) -> None:
        if time.monotonic() - self._swept >= self.sweep_interval:
            self.sweep()
        elif self._watch.wait_seconds <= 0:
            self.reap()
        if self._opens_slots and time.monotonic() >= self._slots_due:
            self.open_slots()
            self._slots_due = time.monotonic() + self._seconds_to_slot()
        if time.monotonic() - self._looked_for_unreadable >= UNREADABLE_INTERVAL_SECONDS:
            self.report_unreadable()
        removed = self._pruner.step()
        if removed:
            self._observers.pruned(removed)

    def _seconds_to_slot(self) -> float:
        slot = self._store.schedules.next_due(aside=self._aside.names()).seconds
        return LONGEST_WAIT_SECONDS if slot is None else min(slot, LONGEST_WAIT_SECONDS)

    def _wait_seconds(self) -> float:
        """Until the next look at the leases, the next slot or the next sweep."""
        now = time.monotonic()
        waits = [
            LONGEST_WAIT_SECONDS,
            self._watch.wait_seconds,
            self._swept + self.sweep_interval - now,
            self._pruner.wait_seconds,
            *([self._slots_due - now] if self._opens_slots else []),
        ]
        return max(0.01, min(waits))


def _until_empty(step: Callable[[], list[T]]) -> list[T]:
    """Repeat a bounded step until it finds nothing more."""
    rows: list[T] = []
    while batch := step():
        rows += batch
    return rows
