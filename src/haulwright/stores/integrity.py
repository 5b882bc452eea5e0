"""Questions that a sound database answers with nothing. They only read, and each is one statement."""

from __future__ import annotations

from typing import Final

from haulwright.stores.books import book
from haulwright.stores.connection import Database, Row

COUNTED: Final = ("leases", "twice", "permits", "slots", "blobs")
"""The entries of the book that count rows which must not be."""


class Integrity:
    """What a database says about itself."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("haulwright.stores", database.dialect, "integrity")

    def kind(self) -> str:
        """What the database is, with its version."""
        ((kind,),) = self._answers("kind")
        return str(kind)

    def damaged_pages(self) -> list[str]:
        """What is wrong with its file; PostgreSQL checks its pages when it reads them."""
        return [str(line) for (line,) in self._answers("file") if line != "ok"]

    def unsound(self) -> dict[str, int]:
        """How many rows contradict others, question by question."""
        return {name: int(self._answers(name)[0][0]) for name in COUNTED}

    def _answers(self, name: str) -> list[Row]:
        return self._db.read(lambda connection: connection.run(self._book[name], {}))
