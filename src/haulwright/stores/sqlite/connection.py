"""SQLite as a database for many processes of one host.

WAL with `synchronous=FULL`: an acknowledged commit is on disk. Writers queue by our own patience, in steps of half a
millisecond with jitter: the busy handler of SQLite backs off so far that single enqueues starve for seconds. Those who
write many rows take longer steps and a rest after each commit, so that an enqueue never waits for a whole drain.
"""

from __future__ import annotations

import json
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from haulwright.clock import Clock, host_now
from haulwright.errors import DatabaseUnavailable, DatabaseUnsuitable
from haulwright.stores.books import Entry
from haulwright.stores.connection import Columns, Connection, Params, Parts, Row, run
from haulwright.stores.pool import Pool
from haulwright.stores.process_state import ProcessState
from haulwright.stores.sqlite.error_kinds import BUSY, PATIENCE_SECONDS, explained, kind_of_error
from haulwright.stores.sqlite.file_identity import FileIdentity
from haulwright.stores.sqlite.filesystem import make_private, require_suitable
from haulwright.stores.sqlite.listener import SqliteListener

T = TypeVar("T")

OLDEST_VERSION = (3, 38, 0)
POOL_SIZE = 16
LOG_PAGES = 1_000
CROWD_LOG_PAGES = 4_000
"""From which length of the log a commit copies it into the file. A short log is soon written over, which a disk does
faster than letting a file grow; those who write much would copy all the time."""
NEVER = 0
STEP_SECONDS = 0.0002
"""Between two tries to write, at most."""
ROWS_IN_COMPANY = 100
ROWS_ALONE = 500
COMPANY_SECONDS = 0.5
"""How long after the write of another they are taken to be here still."""
FEW_ROWS = 16
"""A transaction about more rows than this gives way to the others."""
CROWD_STEP_SECONDS = 0.004
CROWD_PAUSE_SECONDS = 0.0015
"""How long the file is left to others after many rows were written: with the slower steps, they come first."""
_PRAGMAS = """
pragma journal_mode = wal;
pragma busy_timeout = 0;
pragma foreign_keys = on;
pragma cache_size = -4096;
pragma temp_store = memory;
"""
TABLE = "input"
"""What an entry calls the rows of its batch."""


class SqliteConnection:
    """A connection of our own, in autocommit mode; transactions are explicit and immediate."""

    dialect = "sqlite"

    def __init__(self, raw: sqlite3.Connection, on_close: Callable[[], None] = lambda: None) -> None:
        self.raw = raw
        self._on_close = on_close

    def run(self, entry: Sequence[str], params: Params) -> list[Row]:
        """Run an entry and return its rows."""
        bound = _bind(params)
        if len(entry) == 1:
            cursor = self.raw.execute(entry[0], bound)
            return cursor.fetchall() if cursor.description else [()] * cursor.rowcount
        rows: list[Row] = []
        for statement in entry:
            rows += self.raw.execute(statement, bound).fetchall()
        return rows

    def run_batch(self, entry: Entry, columns: Columns, common: Params) -> list[Row]:
        """Run an entry once with its columns as a table, or row by row where it knows no table."""
        if TABLE in entry[0]:
            same = {
                f"same_{name}": values[0] for name, values in columns.items() if values.count(values[0]) == len(values)
            }
            other = [name for name in columns if f"same_{name}" not in same] or [next(iter(columns))]
            text = json.dumps(list(zip(*(columns[name] for name in other), strict=True)), ensure_ascii=False)
            statements = [with_table(statement, tuple(columns), tuple(other)) for statement in entry]
            return self.run(statements, {**common, **same, "input": text})
        return self._row_by_row(entry, columns, common)

    def bulk_insert(self, entry: Entry, rows: Iterable[Parts]) -> None:
        """Write rows that cannot be refused, by the shortest way."""
        (statement,) = entry
        self.raw.executemany(statement, (own + common for own, common in rows))

    def _row_by_row(self, entry: Entry, columns: Columns, common: Params) -> list[Row]:
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
        self._on_close()


class SqliteDatabase:
    """A file, its clock, and a few connections to it."""

    dialect = "sqlite"
    writers = 1
    answers_at_once = True
    kind_of_error = staticmethod(kind_of_error)

    def __init__(self, path: Path, *, clock: Clock, pool_size: int = POOL_SIZE) -> None:
        self.path = path
        self.clock = clock
        self.file = FileIdentity(path)
        self.process = ProcessState()
        self.throttle = self.process.throttle
        self._pool = Pool(self._connect, size=pool_size)
        self._explained = explained(self.path, self.file, self._pool.forget)
        self._crowd = threading.Lock()
        """Held by the one of this process that writes many rows, and a moment longer."""
        self._crowd_pool = Pool(partial(self._connect, CROWD_LOG_PAGES), size=1)
        """One connection for all of those: what one of them writes, the cache of another connection would forget."""
        self._light_pool = Pool(partial(self._connect, NEVER, "normal"), size=1)
        """One whose commits do not wait for the disk: the next that does, of any other, takes them along."""
        self._company = _Company()

    @property
    def batch_size(self) -> int:
        """How many rows one transaction should write at most: few milliseconds' worth, where others enqueue."""
        return ROWS_IN_COMPANY if self._company.is_enqueuing else ROWS_ALONE

    @property
    def load_batch_size(self) -> int:
        """The same for whoever enqueues itself, and cannot tell others who do from those who work."""
        return ROWS_IN_COMPANY if self._company.is_here else ROWS_ALONE

    def transact(self, work: Callable[[Connection], T], *, rows: int = 1) -> T:
        """Run work in one immediate transaction. Who writes many rows gives way to those who write a few."""
        if rows <= FEW_ROWS:
            return self._transact(work, self._pool, STEP_SECONDS)
        with self._crowd:
            value = self._transact(self._company.noticed(work), self._crowd_pool, CROWD_STEP_SECONDS)
            if self._company.is_here:
                time.sleep(CROWD_PAUSE_SECONDS)
            return value

    def _transact(self, work: Callable[[Connection], T], pool: Pool[SqliteConnection], step_seconds: float) -> T:
        with explained(self.path, self.file, pool.forget), pool.acquire() as connection:
            _patiently(lambda: connection.raw.execute("begin immediate"), step_seconds)
            value = _begun(connection, work)
            self.file.require()  # what went into a file that nobody will open again is not acknowledged
            return value

    def run_single(
        self,
        entry: Entry,
        params: Params,
        columns: Columns | None = None,
        *,
        rows: int | None = None,
    ) -> list[Row]:
        """Run one entry as a transaction of its own; a single statement is one already."""
        if columns is not None or len(entry) > 1:
            rows = rows or (len(next(iter(columns.values()))) if columns else 1)
            return self.transact(lambda connection: run(connection, entry, params, columns), rows=rows)
        with self._explained, self._pool.acquire() as connection:
            answer = _patiently(lambda: connection.run(entry, params))
            self.file.require()
            return answer

    def run_nondurable(
        self, entry: Entry, params: Params, columns: Columns | None = None, *, waiting: bool = True
    ) -> list[Row] | None:
        """Run one entry on a connection of its own. It is a moment's work unless somebody else is writing."""

        def work(connection: Connection) -> list[Row]:
            return run(connection, entry, params, columns)

        if waiting:
            return self._transact(work, self._light_pool, STEP_SECONDS)
        try:
            with explained(self.path, self.file, self._light_pool.forget), self._light_pool.acquire(0.0) as connection:
                connection.raw.execute("begin immediate")
                return _begun(connection, work)
        except DatabaseUnavailable:
            return None

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run work that reads: a moment of business with the file is waited out."""
        with self._explained, self._pool.acquire() as connection:
            return _patiently(lambda: work(connection))

    def require_unchanged(self) -> None:
        """Refuse a file that was replaced, deleted, written over or lost its log: asked with every heartbeat.

        Now and then its header is written as it is, so that its count grows: by that an earlier file in the same place
        is known, which matters once the log was copied into the file and written over.
        """

        def count_change(connection: Connection) -> None:
            ((version,),) = connection.execute("pragma user_version")
            connection.execute(f"pragma user_version = {version}")

        self.read(lambda _: self.file.require_header())
        if self.file.is_count_due():
            self.transact(count_change)

    def listen(self) -> SqliteListener:
        """What rings when somebody writes to the file."""
        return SqliteListener(self.path)

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()
        self._crowd_pool.close()
        self._light_pool.close()

    def _connect(self, log_pages: int = LOG_PAGES, synchronous: str = "full") -> SqliteConnection:
        if sqlite3.sqlite_version_info < OLDEST_VERSION:
            message = f"SQLite {sqlite3.sqlite_version} is too old; Haulwright needs 3.38."
            raise DatabaseUnsuitable(message, hint="Use a newer Python build, or PostgreSQL.")
        self.file.require_if_known()
        require_suitable(self.path)
        raw = self._open()
        try:
            _patiently(lambda: raw.executescript(f"{_PRAGMAS} {_own_pragmas(log_pages, synchronous)}"))
            self._require_log(raw)
            _patiently(lambda: raw.execute("select 1 from sqlite_schema limit 1").fetchall())  # now it has its log open
            self.file.opened()
        except BaseException:
            raw.close()
            raise
        return SqliteConnection(raw, self.file.closed)

    def _open(self) -> sqlite3.Connection:
        """Only the first connection may make the file: one that goes at this very moment is not made anew."""
        if not self.file.is_known:
            make_private(self.path)
        mode = "rw" if self.file.is_known else "rwc"
        address = f"{self.path.absolute().as_uri()}?mode={mode}"  # symbolic links stay
        return sqlite3.connect(
            address, uri=True, timeout=0, isolation_level=None, check_same_thread=False, cached_statements=256
        )

    def _require_log(self, raw: sqlite3.Connection) -> None:
        """SQLite keeps another journal without a word where the write-ahead log cannot work."""
        ((mode,),) = raw.execute("pragma journal_mode").fetchall()
        if mode != "wal":
            message = f"The database {self.path} cannot have a write-ahead log here; its journal stays {mode!r}."
            raise DatabaseUnsuitable(message, hint="Move it to a local disk, or use PostgreSQL.")


class _Company:
    """Whether others write to the file too, and whether they enqueue, as far as one connection can see."""

    def __init__(self) -> None:
        self._version: int | None = None
        self._newest: str | None = None
        self._seen = float("-inf")
        self._seen_enqueuing = float("-inf")

    @property
    def is_here(self) -> bool:
        """Whether somebody else wrote a moment ago."""
        return time.monotonic() - self._seen < COMPANY_SECONDS

    @property
    def is_enqueuing(self) -> bool:
        """Whether somebody else enqueued a moment ago."""
        return time.monotonic() - self._seen_enqueuing < COMPANY_SECONDS

    def noticed(self, work: Callable[[Connection], T]) -> Callable[[Connection], T]:
        """The same work, with a look at the version that the writes of others change, and at the newest job."""

        def look_and_work(connection: Connection) -> T:
            ((version,),) = connection.execute("pragma data_version")
            if version != self._version:
                newest = _newest_job(connection)
                self._seen = time.monotonic()
                if self._newest is not None and newest > self._newest:
                    self._seen_enqueuing = self._seen
                self._version = version
            value = work(connection)
            self._newest = _newest_job(connection)
            return value

        return look_and_work


def _newest_job(connection: Connection) -> str:
    """The id of the newest job that has not ended: ids grow with time, whoever makes them."""
    ((newest,),) = connection.execute("select max(id) from haulwright_jobs")
    return newest or ""


@cache
def with_table(statement: str, names: tuple[str, ...], other: tuple[str, ...]) -> str:
    """A statement of a batch, with the JSON array of its rows before it as the table that it reads.

    What is the same in all rows is a parameter: to take a value out of JSON costs more than all else done with it.
    """
    places = {name: f"value ->> {place}" for place, name in enumerate(other)}
    columns = ", ".join(f"{places.get(name, f':same_{name}')} as {name}" for name in names)
    return f"with {TABLE} as materialized (select {columns} from json_each(:input))\n{statement}"  # noqa: S608 - our books


def _bind(params: Params) -> dict[str, Any]:
    """Fill in the clock, which on SQLite is this host's, and send lists as JSON."""
    bound = {**params, "now": host_now()} if params.get("now", 0) is None else dict(params)
    if list in map(type, bound.values()):
        bound = {name: json.dumps(value) if type(value) is list else value for name, value in bound.items()}
    return bound


def _own_pragmas(log_pages: int, synchronous: str) -> str:
    return f"pragma synchronous = {synchronous}; pragma wal_autocheckpoint = {log_pages};"


def _begun(connection: SqliteConnection, work: Callable[[Connection], T]) -> T:
    """Run work in the transaction that has begun, and end it."""
    try:
        value = work(connection)
        connection.raw.execute("commit")
    except BaseException:
        if connection.raw.in_transaction:
            connection.raw.execute("rollback")
        raise
    return value


def _patiently(act: Callable[[], T], step_seconds: float = STEP_SECONDS) -> T:
    """Try again in small jittered steps while somebody else holds the file."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return act()
        except sqlite3.OperationalError as error:
            if (error.sqlite_errorcode & 0xFF) not in BUSY or time.monotonic() > until:
                raise
        time.sleep(random.uniform(0.5, 1) * step_seconds)  # noqa: S311 - jitter, not a secret


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
