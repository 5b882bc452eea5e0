"""Questions that a sound database answers with nothing. They only read, and each is one statement."""

from __future__ import annotations

from typing import Final, NamedTuple

from haulwright.clock import SECOND
from haulwright.stores.books import book
from haulwright.stores.connection import Database, Params, Row

COUNTED: Final = ("leases", "twice", "permits", "slots", "blobs", "payloads")
"""The entries of the book that count rows which must not be."""


class OpenTransaction(NamedTuple):
    """A transaction that somebody began and has not ended."""

    owner: str
    open_us: int
    wrote_events: bool


class Integrity:
    """What a database says about itself."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("haulwright.stores", database.dialect, "integrity")

    def kind(self) -> str:
        """What the database is, with its version."""
        ((kind,),) = self._answers("kind")
        return str(kind)

    def encoding(self) -> str:
        """In which encoding the database keeps text, in the server's own word."""
        ((encoding,),) = self._answers("encoding")
        return str(encoding)

    def damaged_pages(self) -> list[str]:
        """What is wrong with its file; PostgreSQL checks its pages when it reads them."""
        return [str(line) for (line,) in self._answers("file") if line != "ok"]

    def unsound(self) -> dict[str, int]:
        """How many rows contradict others, question by question."""
        return {name: int(self._answers(name)[0][0]) for name in COUNTED}

    def open_transactions(self, age_seconds: float, limit: int) -> list[OpenTransaction]:
        """Transactions that are open for longer than an age, the oldest first; a file does not tell of any."""
        params = {"age_us": round(age_seconds * SECOND), "limit": limit, "now": self._db.clock.now()}
        return [OpenTransaction._make(row) for row in self._answers("open_transactions", params)]

    def _answers(self, name: str, params: Params | None = None) -> list[Row]:
        return self._db.read(lambda connection: connection.run(self._book[name], params or {}))
