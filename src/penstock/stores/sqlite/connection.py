"""SQLite as a database for many processes of one host.

WAL with `synchronous=FULL`: an acknowledged commit is on disk. Writers queue by our own patience, in steps of half a
millisecond with jitter: the busy handler of SQLite backs off so far that single enqueues starve for seconds.
"""

from __future__ import annotations

import json
import random
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from penstock.clock import Clock, host_now
from penstock.errors import DatabaseUnavailable, DatabaseUnsuitable
from penstock.stores.books import Entry
from penstock.stores.connection import Columns, Connection, Params, Row
from penstock.stores.pool import Pool
from penstock.stores.sqlite.bell import SqliteBell
from penstock.stores.sqlite.filesystem import require_suitable

T = TypeVar("T")

OLDEST_VERSION = (3, 38, 0)
PATIENCE_SECONDS = 30.0
"""How long a writer waits for the others before it says so."""
POOL_SIZE = 16
_PRAGMAS = """
pragma journal_mode = wal;
pragma synchronous = full;
pragma busy_timeout = 0;
pragma foreign_keys = on;
pragma cache_size = -16384;
pragma temp_store = memory;
"""
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class SqliteConnection:
    """A connection of our own, in autocommit mode; transactions are explicit and immediate."""

    dialect = "sqlite"

    def __init__(self, raw: sqlite3.Connection) -> None:
        self.raw = raw

    def all(self, entry: Entry, params: Params) -> list[Row]:
        """Run an entry and return its rows."""
        bound = _bind(params)
        rows: list[Row] = []
        for statement in entry:
            rows += self.raw.execute(statement, bound).fetchall()
        return rows

    def each(self, entry: Entry, columns: Columns, common: Params) -> list[Row]:
        """Run an entry row by row, and return all rows that came back."""
        shared = _bind(common)
        rows: list[Row] = []
        for values in zip(*columns.values(), strict=True):
            shared.update(zip(columns, values, strict=True))
            for statement in entry:
                rows += self.raw.execute(statement, shared).fetchall()
        return rows

    def execute(self, sql: str, params: Any = None) -> list[Row]:
        """Run a statement of the caller's own, with `?` or `:name` parameters."""
        return self.raw.execute(sql, () if params is None else params).fetchall()

    def script(self, sql: str) -> None:
        """Run a file of statements inside the open transaction."""
        for statement in _split(sql):
            self.raw.execute(statement)

    def usable(self) -> bool:
        """Whether it is outside any transaction."""
        return not self.raw.in_transaction

    def close(self) -> None:
        """Give the connection up."""
        self.raw.close()


class SqliteDatabase:
    """A file, its clock, and a few connections to it."""

    dialect = "sqlite"

    def __init__(self, path: Path, *, clock: Clock, pool_size: int = POOL_SIZE) -> None:
        self.path = path
        self.clock = clock
        self._pool = Pool(self._connect, size=pool_size)

    def transact(self, work: Callable[[Connection], T]) -> T:
        """Run work in one immediate transaction."""
        with _told_plainly(self.path), self._pool.lend() as connection:
            _patiently(lambda: connection.raw.execute("begin immediate"))
            try:
                value = work(connection)
                connection.raw.execute("commit")
            except BaseException:
                if connection.raw.in_transaction:
                    connection.raw.execute("rollback")
                raise
            return value

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run work that reads: a moment of business with the file is waited out."""
        with _told_plainly(self.path), self._pool.lend() as connection:
            return _patiently(lambda: work(connection))

    def bell(self) -> SqliteBell:
        """What rings when somebody writes to the file."""
        return SqliteBell(self.path)

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()

    def _connect(self) -> SqliteConnection:
        if sqlite3.sqlite_version_info < OLDEST_VERSION:
            message = f"SQLite {sqlite3.sqlite_version} is too old; Penstock needs 3.38."
            raise DatabaseUnsuitable(message, hint="Use a newer Python build, or PostgreSQL.")
        require_suitable(self.path)
        raw = sqlite3.connect(
            self.path, timeout=0, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        try:
            _patiently(lambda: raw.executescript(_PRAGMAS))
            self._require_log(raw)
        except BaseException:
            raw.close()
            raise
        return SqliteConnection(raw)

    def _require_log(self, raw: sqlite3.Connection) -> None:
        """SQLite keeps another journal without a word where the write-ahead log cannot work."""
        ((mode,),) = raw.execute("pragma journal_mode").fetchall()
        if mode != "wal":
            message = f"The database {self.path} cannot have a write-ahead log here; its journal stays {mode!r}."
            raise DatabaseUnsuitable(message, hint="Move it to a local disk, or use PostgreSQL.")


def _bind(params: Params) -> dict[str, Any]:
    """Fill in the clock, which on SQLite is this host's, and send lists as JSON."""
    bound = {name: json.dumps(value) if isinstance(value, list) else value for name, value in params.items()}
    if bound.get("now", 0) is None:
        bound["now"] = host_now()
    return bound


def _patiently(act: Callable[[], T]) -> T:
    """Try again in small jittered steps while somebody else holds the file."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return act()
        except sqlite3.OperationalError as error:
            if (error.sqlite_errorcode & 0xFF) not in _BUSY or time.monotonic() > until:
                raise
        time.sleep(random.uniform(0.0005, 0.001))  # noqa: S311 - jitter, not a secret


class _told_plainly:  # noqa: N801 - reads as a phrase at its two uses
    """Turn what SQLite says about files and disks into what happened, why, and what to do."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Nothing to do yet."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Explain a database error; let everything else pass."""
        code = getattr(error, "sqlite_errorcode", None)
        if code is None or not isinstance(error, sqlite3.DatabaseError):
            return
        told = _EXPLANATIONS.get(code & 0xFF)
        if told is not None:
            kind, why, hint = told
            raise kind(f"The database {self._path} {why}: {error}.", hint=hint) from error


_EXPLANATIONS: dict[int, tuple[type[DatabaseUnavailable | DatabaseUnsuitable], str, str]] = {
    sqlite3.SQLITE_BUSY: (
        DatabaseUnavailable,
        f"was locked by another process for {PATIENCE_SECONDS:g} s",
        "Find the process that holds a transaction open on it; nothing was written.",
    ),
    sqlite3.SQLITE_FULL: (
        DatabaseUnavailable,
        "has no room left on its disk",
        "Free some space; nothing of this transaction was written, and work goes on by itself afterwards.",
    ),
    sqlite3.SQLITE_IOERR: (DatabaseUnavailable, "met an input/output error", "Check the disk and its free space."),
    sqlite3.SQLITE_READONLY: (
        DatabaseUnsuitable,
        "cannot be written",
        "Give this user write permission on the file and its folder, or move the database.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        DatabaseUnsuitable,
        "cannot be opened",
        "Create its folder, and give this user write permission on it.",
    ),
    sqlite3.SQLITE_NOTADB: (DatabaseUnsuitable, "is not an SQLite database", "Point to another file."),
    sqlite3.SQLITE_CORRUPT: (
        DatabaseUnsuitable,
        "is damaged",
        "Stop all workers, keep a copy of the file and its -wal, and restore a backup.",
    ),
}


def _split(sql: str) -> list[str]:
    """The statements of a script; triggers contain semicolons of their own."""
    statements: list[str] = []
    pending = ""
    for line in sql.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return [*statements, pending] if pending.strip() else statements
