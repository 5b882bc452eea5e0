"""Waiters: jobs that met a closed gate. Each has a time to ask again; one that is woken asks at once."""

from __future__ import annotations

from functools import partial

from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database


class Waiters:
    """The jobs that wait, by the gate in `waiting_on`."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("haulwright.stores", database.dialect, "jobs")

    def wake(self, gate: str, count: int) -> int:
        """Make the oldest waiters of a gate due at once, as many as it admits now."""
        return self._db.transact(partial(self.wake_on, gate=gate, count=count))

    def wake_on(self, connection: Connection, gate: str, count: int) -> int:
        """The same, inside a transaction of the caller."""
        params = {"gate": gate, "limit": count, "now": self._db.clock.now()}
        return len(connection.run(self._book["wake"], params))
