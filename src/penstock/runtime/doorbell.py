"""Listens for the database's bell, so that an idle worker hears of a new job at once. Polling stands behind it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.errors import DatabaseProblem
from penstock.runtime.backoff import Backoff

if TYPE_CHECKING:
    from penstock.runtime.report import Report
    from penstock.stores.connection import Database

WAIT_SECONDS = 1.0
"""How long one wait lasts; a worker that stops does not wait for it."""


class Doorbell:
    """A thread that waits for rings and passes them on."""

    def __init__(self, database: Database, report: Report, ring: Callable[[], None]) -> None:
        self._database = database
        self._report = report
        self._ring = ring
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="penstock-doorbell", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, at the latest when the current wait is over."""
        self._stop.set()

    def _work(self) -> None:
        bell = self._database.bell()
        backoff = Backoff()
        while not self._stop.is_set():
            try:
                if bell.wait(WAIT_SECONDS):
                    self._ring()
                backoff = Backoff()
            except DatabaseProblem as trouble:
                if self._stop.is_set():
                    break
                wait = backoff.next()
                self._report.troubled("doorbell", trouble, wait)
                self._stop.wait(wait)
        bell.close()
