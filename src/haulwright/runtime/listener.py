"""Waits for notifications of the database, so that an idle worker hears of a new job at once. Polling stands behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from haulwright.runtime.loop import Loop

if TYPE_CHECKING:
    from haulwright.runtime.observers import Observers
    from haulwright.stores.connection import Database, Listener

WAIT_SECONDS = 1.0
"""How long one wait lasts; a worker that stops does not wait for it."""


class ListenerThread:
    """A thread that waits for notifications and passes them on. Without it jobs are still found, by asking."""

    def __init__(self, database: Database, observers: Observers, on_notify: Callable[[], None]) -> None:
        self._database = database
        self._on_notify = on_notify
        self._listener: Listener | None = None
        self._loop = Loop("listener", self._step, observers, is_vital=False, on_end=self._close)

    def start(self) -> None:
        """Begin."""
        self._loop.start()

    def stop(self) -> None:
        """End, at the latest when the current wait is over."""
        self._loop.end()

    def _step(self) -> None:
        if self._listener is None:
            self._listener = self._database.listen()
        if self._listener.wait(WAIT_SECONDS):
            self._on_notify()

    def _close(self) -> None:
        if self._listener is not None:
            self._listener.close()
