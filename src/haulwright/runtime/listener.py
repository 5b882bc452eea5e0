"""Waits for notifications of the database, so that an idle worker hears of a new job at once. Polling stands behind."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from haulwright.errors import DatabaseProblem
from haulwright.runtime.backoff import Backoff

if TYPE_CHECKING:
    from haulwright.runtime.observers import Observers
    from haulwright.stores.connection import Database

WAIT_SECONDS = 1.0
"""How long one wait lasts; a worker that stops does not wait for it."""


class ListenerThread:
    """A thread that waits for notifications and passes them on."""

    def __init__(self, database: Database, observers: Observers, on_notify: Callable[[], None]) -> None:
        self._database = database
        self._observers = observers
        self._on_notify = on_notify
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="haulwright-listener", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, at the latest when the current wait is over."""
        self._stop.set()

    def _work(self) -> None:
        listener = self._database.listen()
        backoff = Backoff()
        while not self._stop.is_set():
            try:
                if listener.wait(WAIT_SECONDS):
                    self._on_notify()
                backoff = Backoff()
            except DatabaseProblem as trouble:
                if self._stop.is_set():
                    break
                wait = backoff.next()
                self._observers.troubled("listener", trouble, wait)
                self._stop.wait(wait)
        listener.close()
