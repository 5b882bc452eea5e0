"""The time by which a database decides: the server's on PostgreSQL, this host's on SQLite, or what a test has set."""

from __future__ import annotations

from haulwright.clock import Instant
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database


class DatabaseClock:
    """Reads the time of a database."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("haulwright.stores", database.dialect, "clock")

    def now(self) -> Instant:
        """The time at this moment."""
        return self._db.read(self.now_on)

    def now_on(self, connection: Connection) -> Instant:
        """The same inside a transaction of the caller."""
        ((now,),) = connection.run(self._book["now"], {"now": self._db.clock.now()})
        return int(now)
