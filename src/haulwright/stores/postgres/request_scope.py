"""A server as one request sees it: no statement without a time limit, and behind the wall the rows of one tenant alone.

All of it is set for each transaction and ends with it, so that nothing stays on a connection that others use next.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, TypeVar, cast

import psycopg

from haulwright.errors import DatabaseUnavailable
from haulwright.stores.books import Entry
from haulwright.stores.connection import Columns, Connection, Listener, Params, Parts, Row, run
from haulwright.stores.postgres.connection import PostgresConnection, PostgresDatabase

if TYPE_CHECKING:
    from haulwright.stores.postgres.wall import Wall

T = TypeVar("T")

_COPY: Final = re.compile(r"copy (\w+) \((.*)\)\s+from stdin", re.DOTALL)


class ScopedDatabase:
    """A server for the requests of one tenant, behind the wall, or of whoever sees all tenants, without it."""

    dialect = "postgres"
    answers_at_once = False

    def __init__(
        self, database: PostgresDatabase, *, seconds: float, wall: Wall | None = None, tenant: str | None = None
    ) -> None:
        self._database = database
        self._seconds = seconds
        self._is_walled = wall is not None and tenant is not None
        self.clock = database.clock
        self.process = database.process
        self.throttle = database.throttle
        self.writers = database.writers
        self.load_batch_size = database.load_batch_size
        self.kind_of_error = database.kind_of_error
        # A wait for a lock is part of a statement, and ends with it: it is not tried again as a lost race would be.
        settings = {"statement_timeout": f"{round(seconds * 1000)}ms", "lock_timeout": "0"}
        if wall is not None and tenant is not None:
            settings |= {"haulwright.tenant": tenant, "role": wall.role}
            settings |= {} if wall.search_path is None else {"search_path": wall.search_path}
        self._settings = "select " + ", ".join("set_config(%s, %s, true)" for _ in settings)
        self._values = [text for setting in settings.items() for text in setting]

    @property
    def batch_size(self) -> int:
        """How many rows one transaction should write at most."""
        return self._database.batch_size

    def transact(self, work: Callable[[Connection], T], *, rows: int = 1) -> T:
        """Run work in one transaction, in the scope of the request from its first statement to its end."""
        return self._database.transact(lambda connection: self._inside(connection, work), rows=rows)

    def run_single(
        self,
        entry: Entry,
        params: Params,
        columns: Columns | None = None,
        *,
        rows: int | None = None,  # noqa: ARG002 - as in `transact`
    ) -> list[Row]:
        """Run one entry as a transaction of its own, in one trip."""
        return self._database.run_alone(
            lambda connection: self._each(connection, lambda each: run(each, entry, params, columns))
        )

    def run_nondurable(
        self, entry: Entry, params: Params, columns: Columns | None = None, *, waiting: bool = True
    ) -> list[Row] | None:
        """Run one entry, whose statement turns `synchronous_commit` off for itself; a trip is more than a moment."""
        return self.run_single(entry, params, columns) if waiting else None

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run work that reads; once more where the connection was lost. It takes no more trips than without a scope."""
        return self._database.read(lambda connection: self._each(connection, work))

    def require_unchanged(self) -> None:
        """Nothing to look at: what a server has lost shows in what it remembers."""

    def listen(self) -> Listener:
        """What rings when somebody enqueues, whoever that is."""
        return self._database.listen()

    def close(self) -> None:
        """Nothing: the connections are those of the whole process."""

    def _inside(self, connection: Connection, work: Callable[[Connection], T]) -> T:
        """Work inside a transaction that is in the scope from its first statement on."""
        ours = cast("PostgresConnection", connection)
        ours.precede(self._settings, self._values)
        return self._limited(ours, work)

    def _each(self, connection: Connection, work: Callable[[Connection], T]) -> T:
        """Work of which each statement is a transaction in the scope."""
        if not psycopg.Pipeline.is_supported():
            return self.transact(work)
        ours = cast("PostgresConnection", connection)
        with ours.scoped(self._settings, self._values):
            return self._limited(ours, work)

    def _limited(self, connection: PostgresConnection, work: Callable[[Connection], T]) -> T:
        try:
            return work(_WalledConnection(connection) if self._is_walled else connection)
        except psycopg.errors.QueryCanceled as error:
            message = f"A statement of the request took longer than {self._seconds:g} s, and was broken off."
            raise DatabaseUnavailable(message, hint="Nothing of it was written. Ask for less at once.") from error


class _WalledConnection:
    """A connection inside the wall, where PostgreSQL takes no COPY."""

    dialect = "postgres"

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection
        self.run = connection.run
        self.run_batch = connection.run_batch
        self.execute: Callable[..., list[Row]] = connection.execute

    def bulk_insert(self, entry: Entry, rows: Iterable[Parts]) -> None:
        """Write rows one by one, each looked at by the wall."""
        (statement,) = entry
        copy = _COPY.fullmatch(statement)
        assert copy is not None, statement  # noqa: S101 - of our own books
        table, columns = copy.groups()
        marks = ", ".join(["%s"] * len(columns.split(",")))
        whole = (own + common for own, common in rows)
        self._connection.execute_each(f"insert into {table} ({columns}) values ({marks})", whole)  # noqa: S608 - as above

    def script(self, sql: str) -> None:
        """Run a file of statements."""
        self._connection.script(sql)

    def close(self) -> None:
        """Nothing: it belongs to the pool."""
