"""How large a database is, and what of it is past its time. Short on any database: nothing is read through."""

from __future__ import annotations

from typing import Final, NamedTuple

from haulwright.clock import SECOND, Instant
from haulwright.engine.transitions import State
from haulwright.stores.books import book
from haulwright.stores.connection import Database

TABLES_LIMIT: Final = 200
DUE_LIMIT: Final = 100_000
"""So many rows at most are counted of each kind."""


class TableSize(NamedTuple):
    """How large a table is, with its indexes and partitions; on SQLite how large the file is."""

    name: str
    rows: int | None
    """As the server last counted them; None where nobody has."""
    size_bytes: int
    partitions: int
    """Into how many parts it is divided; 0 for a table in one piece."""


class DueRows(NamedTuple):
    """Rows that are older than they are kept."""

    rows: int
    oldest: Instant | None
    is_more: bool
    """Whether there may be more than were counted."""


class Growth:
    """Measures a database."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("haulwright.stores", database.dialect, "growth")

    def sizes(self) -> list[TableSize]:
        """How large each table is, the largest first."""
        rows = self._db.read(lambda connection: connection.run(self._book["sizes"], {"limit": TABLES_LIMIT}))
        return [TableSize(*row) for row in rows]

    def due_jobs(self, state: State, age_seconds: float) -> DueRows:
        """Finished jobs of a state that are older than an age."""
        return self._due("due_jobs", age_seconds, state=str(state))

    def due_events(self, age_seconds: float) -> DueRows:
        """Events that are older than an age."""
        return self._due("due_events", age_seconds)

    def _due(self, entry: str, age_seconds: float, **params: str) -> DueRows:
        age_us, now = round(age_seconds * SECOND), self._db.clock.now()
        common = {"age_us": age_us, "look": DUE_LIMIT, "now": now}
        ((count, oldest, is_more),) = self._db.read(
            lambda connection: connection.run(self._book[entry], {**common, **params})
        )
        return DueRows(count, oldest, bool(is_more))
