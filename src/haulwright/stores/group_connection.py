"""The connection that a commit works on while others share its transaction: it reads and writes rows, and no more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NoReturn

from haulwright.errors import Refused
from haulwright.stores.books import Entry
from haulwright.stores.connection import Columns, Connection, Params, Parts, Row

ABOUT_ROWS: Final = ("select", "insert", "update", "delete", "with", "values", "merge", "replace")
_SETTING: Final = "set_config"


class NotInGroup(Refused):
    """A commit did what belongs to its transaction as a whole, such as a setting: it has to have one of its own."""


class GroupConnection:
    """A connection inside the transaction of a group.

    What one commit did to the transaction itself would reach its neighbours: a setting, a savepoint, an end.
    """

    def __init__(self, connection: Connection) -> None:
        self.dialect = connection.dialect
        self.is_refused = False
        """Something was refused, whoever has swallowed that."""
        self._connection = connection

    def run(self, entry: Entry, params: Params) -> list[Row]:
        """Run an entry and return its rows."""
        self._require_rows(*entry)
        return self._connection.run(entry, params)

    def run_batch(self, entry: Entry, columns: Columns, common: Params) -> list[Row]:
        """Run an entry for a batch given as columns."""
        self._require_rows(*entry)
        return self._connection.run_batch(entry, columns, common)

    def bulk_insert(self, entry: Entry, rows: Iterable[Parts]) -> None:
        """Write rows that cannot be refused."""
        self._connection.bulk_insert(entry, rows)

    def execute(self, sql: str, params: Any = None) -> list[Row]:
        """Run a statement of the caller's own."""
        self._require_rows(sql)
        return self._connection.execute(sql, params)

    def script(self, sql: str) -> None:
        """Run a file of statements, which may be about anything."""
        self._refuse(sql)

    def close(self) -> None:
        """Give the connection up, which is not for whoever works on it."""
        self._refuse("close")

    def __getattr__(self, name: str) -> Any:
        """Whatever else the driver's connection can do is done alone."""
        self._refuse(name)

    def _require_rows(self, *statements: str) -> None:
        for statement in statements:
            words = statement.lower()
            if not words.lstrip().startswith(ABOUT_ROWS) or _SETTING in words:
                self._refuse(statement)

    def _refuse(self, what: str) -> NoReturn:
        self.is_refused = True
        message = f"In a transaction that others share this cannot be done: {what[:80]}"
        raise NotInGroup(message)
