"""A connection that belongs to the caller: what is written on it commits or rolls back with the caller's rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from haulwright.errors import DatabaseUnavailable, Refused
from haulwright.stores.books import Entry
from haulwright.stores.connect import require_current
from haulwright.stores.connection import Columns, Connection, Database, Listener, Params, Row, run
from haulwright.stores.sqlite.connection import SqliteConnection, SqliteDatabase

T = TypeVar("T")


class CallerConnection:
    """A database seen through one connection of the caller. It never begins or ends the caller's transaction."""

    def __init__(self, connection: Connection, database: Database) -> None:
        self.dialect = connection.dialect
        self.clock = database.clock
        self.process = database.process
        self.throttle = database.process.caller_throttle
        self.kind_of_error = database.kind_of_error
        self.writers = 1
        self.answers_at_once = False
        self.batch_size = self.load_batch_size = 500
        self._connection = connection

    def transact(self, work: Callable[[Connection], T], *, rows: int = 1) -> T:  # noqa: ARG002 - the caller's matter
        """Run work whole or not at all, inside the caller's transaction."""
        self._connection.execute("savepoint haulwright")
        try:
            value = work(self._connection)
        except BaseException:
            self._connection.execute("rollback to savepoint haulwright")
            self._connection.execute("release savepoint haulwright")
            raise
        self._connection.execute("release savepoint haulwright")
        return value

    def run_single(
        self,
        entry: Entry,
        params: Params,
        columns: Columns | None = None,
        *,
        rows: int | None = None,  # noqa: ARG002 - as below
    ) -> list[Row]:
        """Run one entry, which is never alone here."""
        return self.transact(lambda connection: run(connection, entry, params, columns))

    def run_nondurable(
        self,
        entry: Entry,
        params: Params,
        columns: Columns | None = None,
        *,
        waiting: bool = True,  # noqa: ARG002 - as below
    ) -> list[Row] | None:
        """Run one entry; how it lasts is the caller's matter."""
        return self.run_single(entry, params, columns)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run work that reads, seeing what the caller has written."""
        return work(self._connection)

    def require_unchanged(self) -> None:
        """The file is looked at when the connection is taken."""

    def listen(self) -> Listener:
        """Nobody listens through a connection of the caller."""
        message = "A borrowed connection has no bell."
        raise Refused(message)

    def close(self) -> None:
        """Nothing: the connection is the caller's."""


def adopt_connection(raw: Any, database: Database, needed: Sequence[str] = ()) -> CallerConnection:
    """See a database through a connection of the caller: sqlite3's or psycopg's.

    `needed` are the chains of migrations that must be there: looked for through this connection, never applied.
    """
    if isinstance(raw, sqlite3.Connection):
        _require(database, "sqlite", raw)
        return _borrow_sqlite(raw, database, needed)
    if type(raw).__module__.partition(".")[0] == "psycopg":
        _require(database, "postgres", raw)
        return _borrow_postgres(raw, database, needed)
    message = f"A connection of the type {type(raw).__module__}.{type(raw).__name__} cannot carry an enqueue."
    raise Refused(message, hint="Give a sqlite3.Connection or a psycopg.Connection to the database of the jobs.")


def _borrow_sqlite(raw: sqlite3.Connection, database: Database, needed: Sequence[str]) -> CallerConnection:
    door = _SqliteDoor(raw)
    _require_file(door, database)
    adopted = CallerConnection(SqliteConnection(door), database)  # type: ignore[arg-type] # it executes, and is never pooled
    require_current(adopted, needed)
    if not raw.in_transaction:
        if raw.isolation_level is None or getattr(raw, "autocommit", False) is True:
            message = "The connection is in autocommit mode and outside a transaction."
            raise Refused(message, hint='Begin one: connection.execute("begin immediate")')
        _begin(raw)  # a savepoint alone would commit at its release; the caller expects to commit by itself
    return adopted


def _require_file(door: _SqliteDoor, database: Database) -> None:
    files = [Path(file).resolve() for _, name, file in door.execute("pragma database_list") if name == "main"]
    if isinstance(database, SqliteDatabase) and files != [database.path.resolve()]:
        message = f"The jobs are in {database.path}, and this is a connection to another file."
        raise Refused(message, hint="Only a connection to the database of the jobs can carry an enqueue.")
    if isinstance(database, SqliteDatabase):
        database.file.require_if_known()


def _begin(raw: sqlite3.Connection) -> None:
    try:
        raw.execute("begin immediate")
    except sqlite3.OperationalError as error:
        message = f"The caller's connection could not begin to write: {error}."
        raise DatabaseUnavailable(message, hint="Nothing was written. Try again.") from error


def _borrow_postgres(raw: Any, database: Database, needed: Sequence[str]) -> CallerConnection:
    import psycopg  # noqa: PLC0415 - the driver is optional, and the caller has it

    from haulwright.stores.postgres.connection import PostgresConnection  # noqa: PLC0415 - as above

    if not isinstance(raw, psycopg.Connection):
        message = "An asynchronous connection cannot carry an enqueue from here."
        raise Refused(message, hint="Give a psycopg.Connection, or enqueue after the commit.")
    if raw.autocommit and raw.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
        message = "The connection is in autocommit mode and outside a transaction."
        raise Refused(message, hint="Wrap it: with connection.transaction(): ...")
    if raw.info.encoding == "ascii":
        message = "The connection's client_encoding is SQL_ASCII, in which text comes as bytes."
        raise Refused(message, hint="Open it with psycopg.connect(..., client_encoding='UTF8').")
    adopted = CallerConnection(PostgresConnection(_PostgresDoor(raw)), database)  # type: ignore[arg-type]
    require_current(adopted, needed)
    return adopted


def _require(database: Database, dialect: str, raw: object) -> None:
    if database.dialect != dialect:
        message = f"The jobs are on {database.dialect}, and this is a {type(raw).__module__} connection."
        raise Refused(message, hint="Only a connection to the database of the jobs can carry an enqueue.")


class _SqliteDoor:
    """The caller's connection with plain tuples for rows, whatever row factory the caller likes."""

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._raw = raw

    def execute(self, sql: str, params: Any = ()) -> sqlite3.Cursor:
        cursor = self._raw.cursor()
        cursor.row_factory = None
        return cursor.execute(sql, params)

    def executemany(self, sql: str, rows: Any) -> sqlite3.Cursor:
        return self._raw.executemany(sql, rows)


class _PostgresDoor:
    """The same for psycopg, with ids as text."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def execute(self, sql: Any, params: Any = None) -> Any:
        return self.cursor().execute(sql, params)

    def cursor(self) -> Any:
        from psycopg.rows import tuple_row  # noqa: PLC0415 - the driver is optional
        from psycopg.types.string import TextLoader  # noqa: PLC0415 - as above

        cursor = self._raw.cursor(row_factory=tuple_row)
        cursor.adapters.register_loader("uuid", TextLoader)
        return cursor
