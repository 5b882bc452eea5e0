"""Rows that a worker leaves alone, for it cannot read or use them: one bad row stops nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from haulwright import events
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.errors import UnreadableRow
from haulwright.events import Event
from haulwright.redaction import redact
from haulwright.runtime.log_lines import ERROR_LIMIT_CHARS

if TYPE_CHECKING:
    from haulwright.runtime.observers import Observers
    from haulwright.stores.store import Store
    from haulwright.stores.workers import Identity

ASIDE_SECONDS = 60.0
"""How long a schedule is left alone before it is tried again: somebody may have mended it."""


class RowsAside:
    """What was put aside by one worker, since when, and what it has told of it.

    Nothing is changed in the database: a newer worker may well be able to use the row.
    """

    def __init__(self, store: Store, worker: Identity, observers: Observers) -> None:
        self._store = store
        self._worker = worker
        self._observers = observers
        self._schedules: dict[str, float] = {}
        self._reports: set[tuple[str, str, str]] = set()

    def names(self) -> list[str]:
        """The schedules that are not to be looked at now."""
        now = time.monotonic()
        self._schedules = {name: since for name, since in self._schedules.items() if now - since < ASIDE_SECONDS}
        return sorted(self._schedules)

    def put(self, noun: str, name: str, error: Exception) -> None:
        """Leave a schedule alone for a while."""
        self._schedules[name] = time.monotonic()
        self.report(error if isinstance(error, UnreadableRow) else UnreadableRow(noun, name, _words(error)))

    def report(self, row: UnreadableRow) -> None:
        """Tell of a row, once, by a line and an event."""
        key = (row.noun, row.name, row.why)
        if key in self._reports:
            return
        data = {"noun": row.noun, "name": row.name, "reason": row.why}
        event = Event(events.ROW_UNREADABLE, DEFAULT_TENANT, worker=self._worker.id, data=data)
        self._store.database.transact(lambda connection: self._store.events.record(connection, [event]))
        self._reports.add(key)
        self._observers.put_aside(row.noun, row.name, row.why)


def _words(error: Exception) -> str:
    return redact(f"{type(error).__name__}: {error}")[:ERROR_LIMIT_CHARS]
