"""Maintenance: a handful of idempotent acts that every worker may do at any time. No leader is needed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from haulwright.errors import DatabaseProblem
from haulwright.runtime.backoff import Backoff
from haulwright.runtime.identity import is_gone
from haulwright.runtime.pruner import Pruner
from haulwright.runtime.rows_aside import RowsAside

if TYPE_CHECKING:
    from haulwright.engine.job import LeaseKey
    from haulwright.runtime.observers import Observers
    from haulwright.settings import Settings
    from haulwright.stores.recovery import Believe
    from haulwright.stores.store import Store
    from haulwright.stores.workers import Identity

T = TypeVar("T")

SWEEP_LIMIT = 100
LONGEST_WAIT_SECONDS = 5.0
UNREADABLE_INTERVAL_SECONDS = 600.0
SECOND_LOOK_SECONDS = 1.0
"""Between the two looks that must find a lease run out: while the database stood still nobody could renew."""


class Maintenance:
    """Takes back lost leases, buries what is overdue, opens slots, and prunes, each in bounded steps."""

    def __init__(  # noqa: PLR0913 - the parts of its worker that it works with
        self,
        store: Store,
        worker: Identity,
        observers: Observers,
        settings: Settings,
        *,
        opens_slots: bool = True,
        may_reap: Callable[[], bool] = lambda: True,
    ) -> None:
        self._store = store
        self._worker = worker
        self._observers = observers
        self._settings = settings
        self._opens_slots = opens_slots
        self._may_reap = may_reap
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="haulwright-maintenance", daemon=True)
        self.sweep_interval = float(settings["stale_check_interval_seconds"])
        self._pruner = Pruner(store, settings)
        self._swept = float("-inf")
        self._looked_for_unreadable = float("-inf")
        self._aside = RowsAside(store, worker, observers)
        self._suspects: dict[LeaseKey, float] = {}
        """Leases that the last look found run out, and since when that is known, on the monotonic clock."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()
        self._thread.join()

    def recover(self) -> int:
        """At the start: take back what processes of this host left that are provably gone, and what ran out.

        While the database was away nobody could renew: then what ran out is left to the sweeps that follow.
        """
        worker_ids = sorted(self._store.workers.gone_from(self._worker, is_gone))  # rows are locked in the order of ids
        reaped = _until_empty(lambda: self._store.recovery.recover(worker_ids, SWEEP_LIMIT))
        if worker_ids:
            self._store.workers.recovered(self._worker, worker_ids, len(reaped))
        self._observers.reaped(reaped, "worker_startup_recovery")
        return len(reaped) + (self._sweep_twice() if self._may_reap() else 0)

    def sweep(self, believe: Believe = set) -> int:
        """Take back leases that ran out, and bury jobs that waited past their deadline."""
        reaped = _until_empty(lambda: self._store.recovery.reap(SWEEP_LIMIT, believe=believe))
        self._observers.reaped(reaped, "sweep")
        self._observers.expired(_until_empty(lambda: self._store.recovery.expire(SWEEP_LIMIT)))
        self._swept = time.monotonic()
        return len(reaped)

    def _sweep_twice(self) -> int:
        """Take back what two looks find run out: between them the live renew, if the database was away until now."""
        reaped = self.sweep(self._seen_before)
        if self._suspects:
            self._stop.wait(SECOND_LOOK_SECONDS)
            reaped += self.sweep(self._seen_before)
        return reaped

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

    def _work(self) -> None:
        backoff = Backoff()
        while not self._stop.is_set():
            try:
                self._round()
                backoff = Backoff()
                wait = self._wait_seconds()
            except Exception as trouble:  # noqa: BLE001 - what one round cannot do, the next may
                wait = backoff.next()
                self._observers.troubled("maintenance", trouble, wait)
            self._stop.wait(wait)

    def _round(self) -> None:
        if self._opens_slots:
            self.open_slots()
        if time.monotonic() - self._looked_for_unreadable >= UNREADABLE_INTERVAL_SECONDS:
            self.report_unreadable()
        if time.monotonic() - self._swept >= self._sweep_pause and self._may_reap():
            self.sweep(self._seen_before)
        removed = self._pruner.step()
        if removed:
            self._observers.pruned(removed)

    @property
    def _sweep_pause(self) -> float:
        return SECOND_LOOK_SECONDS if self._suspects else self.sweep_interval

    def _seen_before(self, stale: Sequence[LeaseKey]) -> set[LeaseKey]:
        """Those that an earlier look found too: their workers had time to renew, even if the database stood still."""
        now = time.monotonic()
        self._suspects = {held: self._suspects.get(held, now) for held in stale}
        return {held for held, since in self._suspects.items() if now - since >= SECOND_LOOK_SECONDS}

    def _wait_seconds(self) -> float:
        """Until the next slot is due, or the next sweep."""
        slot = self._store.schedules.next_due(aside=self._aside.names()).seconds if self._opens_slots else None
        waits = [
            LONGEST_WAIT_SECONDS,
            self._sweep_pause,
            self._pruner.wait_seconds,
            *([] if slot is None else [slot]),
        ]
        return max(0.01, min(waits))


def _until_empty(step: Callable[[], list[T]]) -> list[T]:
    """Repeat a bounded step until it finds nothing more."""
    rows: list[T] = []
    while batch := step():
        rows += batch
    return rows
