"""PostgreSQL as the database of a fleet: READ COMMITTED, short transactions, and no lock that waits for long."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice
from typing import Any, TypeVar

import psycopg
from psycopg.types.string import TextLoader

from haulwright.clock import Clock
from haulwright.errors import DatabaseUnavailable, DatabaseUnsuitable
from haulwright.stores.books import Entry
from haulwright.stores.connection import Columns, Connection, Listener, Params, Parts, Row, run
from haulwright.stores.error_kinds import ErrorKind, is_of_caller
from haulwright.stores.pool import Pool
from haulwright.stores.postgres.address import safe_url
from haulwright.stores.postgres.error_kinds import NEVER_READ, first_line, is_refusal, kind_of_error, unavailable
from haulwright.stores.postgres.listener import PostgresListener, SilentListener
from haulwright.stores.postgres.literals import array, copy_lines
from haulwright.stores.postgres.pooler import is_direct, shares_sessions, unannounced_pooler
from haulwright.stores.process_state import ProcessState

T = TypeVar("T")

OLDEST_VERSION = 130000
POOL_SIZE = 10
ROWS_IN_COMPANY = 50
ROWS_ALONE = 1000
COMPANY_SECONDS = 0.5
"""How long after somebody enqueued they are taken to go on."""
COPY_LINES = 100
ATTEMPTS = 8
"""How often a transaction is tried again that lost a deadlock or a serialization race."""
_KEEPALIVE = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
_ENCODING = {"client_encoding": "UTF8"}
"""Whatever the server or the address says: beside a server in SQL_ASCII the driver would give text as bytes."""
_AWAY = (ErrorKind.AWAY, ErrorKind.LIMIT)
# The driver's remarks on broken connections are for whoever asks for them: what it raises, we tell in our own words.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


class _Pipeline(psycopg.Pipeline):
    """A pipeline that ends with its Sync.

    The driver's own sends a Flush after that, at which the server takes the transaction for busy: its limit on idle
    ones is not in force until the next statement, and a process that stands still there keeps its locks for ever.
    """

    def _exit_gen(self) -> Any:
        try:
            self._enqueue_sync()
            yield from self._communicate_gen()
        finally:
            yield from self._fetch_gen(flush=False)


class PostgresConnection:
    """A connection in autocommit mode; transactions are explicit."""

    dialect = "postgres"

    def __init__(self, raw: psycopg.Connection[Row]) -> None:
        self.raw = raw
        self._cursor = raw.cursor()
        """One for all statements: it knows how to write and read the types that they use, a new one would learn it."""
        self._ahead: list[tuple[str, Sequence[Any] | None]] = []
        """What begins a transaction with the next statement: they travel together, which saves a trip."""
        self._scope: tuple[str, Sequence[Any]] | None = None
        """What goes before each statement outside a transaction: the two are one by themselves."""

    def begin(self, how: str) -> None:
        """Begin a transaction, at the latest with the first statement."""
        self._ahead = [(how, None)] if how else []

    def precede(self, statement: str, params: Sequence[Any]) -> None:
        """Run a statement before the first one of the transaction; what it returns is for nobody."""
        if self._ahead:
            self._ahead.append((statement, params))
        else:
            self.raw.execute(statement.encode(), params)

    @contextmanager
    def scoped(self, statement: str, params: Sequence[Any]) -> Iterator[None]:
        """Have each statement in here be a transaction of its own with this one before it, in one trip."""
        self._scope = (statement, params)
        try:
            yield
        finally:
            self._scope = None

    def commit(self) -> None:
        """End the transaction, if it ever began."""
        if not self._ahead:
            self.raw.execute("commit")
        self._ahead = []

    def run(self, entry: Entry, params: Params) -> list[Row]:
        """Run an entry and return its rows."""
        rows: list[Row] = []
        for statement in entry:
            cursor = self._execute(statement, params)
            rows = cursor.fetchall() if _has_rows(cursor) else rows or [()] * max(0, cursor.rowcount)
        return rows

    def _execute(self, statement: str, params: Any) -> psycopg.Cursor[Row]:
        if self._scope is not None:
            self._ahead = [self._scope]
        if not self._ahead:
            return self._cursor.execute(statement, params)
        if not psycopg.Pipeline.is_supported():
            self._begin_now()
            return self._cursor.execute(statement, params)
        self.raw._pipeline = _Pipeline(self.raw)  # noqa: SLF001 - the driver has no other door for it
        with self.raw.pipeline():
            self._begin_now()
            return self._cursor.execute(statement, params)

    def run_batch(self, entry: Entry, columns: Columns, common: Params) -> list[Row]:
        """Run an entry once with its columns as arrays."""
        return self.run(entry, {**common, **{name: array(values) for name, values in columns.items()}})

    def bulk_insert(self, entry: Entry, rows: Iterable[Parts]) -> None:
        """Copy rows into the table. The lines are made here: the driver asks every value for its type.

        They go out in pieces, so that the server writes the first while the next are made.
        """
        (statement,) = entry
        self._begin_now()
        lines = copy_lines(rows)
        with self.raw.cursor().copy(statement.encode()) as copy:
            while piece := "".join(islice(lines, COPY_LINES)):
                copy.write(piece)

    def execute(self, sql: str, params: Any = None) -> list[Row]:
        """Run a statement of the caller's own, with `%s` or `%(name)s` parameters."""
        cursor = self._execute(sql, params)
        return cursor.fetchall() if _has_rows(cursor) else []

    def execute_each(self, sql: str, rows: Iterable[Row]) -> None:
        """Run a statement for each row, in few trips."""
        self._begin_now()
        self.raw.cursor().executemany(sql.encode(), rows)

    def script(self, sql: str) -> None:
        """Run a file of statements inside the open transaction."""
        self._begin_now()
        self.raw.execute(sql.encode())

    def _begin_now(self) -> None:
        if self._scope is not None and not self._ahead:
            raise RuntimeError("Only single statements can be run in a scope.")
        ahead, self._ahead = self._ahead, []
        for statement, params in ahead:
            self.raw.execute(statement.encode(), params)

    def usable(self) -> bool:
        """Whether it is open and outside any transaction."""
        return self.raw.pgconn.transaction_status == psycopg.pq.TransactionStatus.IDLE  # a closed one has none

    def close(self) -> None:
        """Give the connection up."""
        self.raw.close()


class PostgresDatabase:
    """A server, its clock, and a few connections to it."""

    dialect = "postgres"
    writers = POOL_SIZE
    answers_at_once = False
    load_batch_size = 2000
    kind_of_error = staticmethod(kind_of_error)

    def __init__(self, url: str, *, clock: Clock, pool_size: int = POOL_SIZE, behind_pooler: bool = False) -> None:
        self.url = url
        self.clock = clock
        self.process = ProcessState()
        self.throttle = self.process.throttle
        self._behind_pooler = behind_pooler
        """Another connection of the server may serve each transaction: nothing may be left behind on one."""
        self._keeps_sessions = False
        """A pooler is there, and was seen to leave each of our connections its own of the server."""
        self._pool = Pool(self._connect, size=pool_size)
        self._rung = float("-inf")
        """When the bell of this process last told of an enqueue, on the monotonic clock."""

    @property
    def batch_size(self) -> int:
        """How many rows one transaction should write at most: fewer where others enqueue, who wait for its commit."""
        return ROWS_IN_COMPANY if time.monotonic() - self._rung < COMPANY_SECONDS else ROWS_ALONE

    def transact(self, work: Callable[[Connection], T], *, rows: int = 1) -> T:  # noqa: ARG002 - many may write at once
        """Run work in one transaction; again after a deadlock, a lost race, or a connection that died before it."""
        for attempt in range(1, ATTEMPTS + 1):
            committing = False
            try:
                with self._pool.acquire() as connection, _rolled_back_on_error(connection):
                    connection.begin("begin")
                    if self._behind_pooler:
                        connection.execute(_settings(for_transaction=True))
                    value = work(connection)
                    committing = True
                    connection.commit()
                    return value
            except psycopg.Error as error:
                self._prepare_another_try(attempt, error, unknown=committing and not is_refusal(error))
        raise AssertionError  # the loop returns or raises

    def run_single(
        self,
        entry: Entry,
        params: Params,
        columns: Columns | None = None,
        *,
        rows: int | None = None,  # noqa: ARG002 - as in `transact`
    ) -> list[Row]:
        """Run one entry, which is a single statement here, as a transaction of its own."""
        return self.run_alone(lambda connection: run(connection, entry, params, columns))

    def run_alone(self, work: Callable[[Connection], T]) -> T:
        """Run work that is a single statement, as a transaction of its own."""
        for attempt in range(1, ATTEMPTS + 1):
            sending = False
            try:
                with self._pool.acquire() as connection:
                    sending = True
                    return work(connection)
            except psycopg.Error as error:
                known = is_refusal(error) or error.sqlstate in NEVER_READ
                self._prepare_another_try(attempt, error, unknown=sending and not known)
        raise AssertionError  # the loop returns or raises

    def _prepare_another_try(self, attempt: int, error: psycopg.Error, *, unknown: bool) -> None:
        """Make ready for another try where that is safe and may help; else tell what happened."""
        kind = kind_of_error(error)
        if kind is ErrorKind.RACE and not unknown:
            _wait_for_another_try(attempt, error)
        elif kind in _AWAY or unknown:
            self._pool.forget()  # the server, or who it is, may be another one by now
            if unknown or attempt > 1:
                raise unavailable(error, unknown=unknown) from error
        else:
            raise error

    def run_nondurable(
        self, entry: Entry, params: Params, columns: Columns | None = None, *, waiting: bool = True
    ) -> list[Row] | None:
        """Run one entry, whose statement turns `synchronous_commit` off for itself; a trip is more than a moment."""
        return self.run_single(entry, params, columns) if waiting else None

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run work that reads; once more on a fresh connection if the first one turns out to be dead."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self._pool.acquire() as connection:
                    return work(connection)
            except psycopg.Error as error:
                self._prepare_another_try(attempt, error, unknown=False)
        raise AssertionError  # the loop returns or raises

    def require_unchanged(self) -> None:
        """Nothing to look at: what a server has lost shows in what it remembers."""

    def listen(self) -> Listener:
        """What rings when somebody enqueues; a transaction pooler lets nobody listen."""
        return SilentListener() if self._behind_pooler else PostgresListener(self.url, self._notice)

    def _notice(self) -> None:
        self._rung = time.monotonic()

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()

    def _open(self) -> psycopg.Connection[Row]:
        options = _understood(self.url)
        ours = {name: value for name, value in _KEEPALIVE.items() if name not in options}
        try:
            return psycopg.connect(self.url, autocommit=True, **ours, **_ENCODING)  # type: ignore[arg-type] # any option
        except psycopg.OperationalError as error:
            line = first_line(error).rstrip(".")
            message = f"PostgreSQL at {safe_url(self.url)} cannot be reached: {line}."
            raise DatabaseUnavailable(message, hint=_connect_hint(line)) from error

    def _connect(self) -> PostgresConnection:
        raw = self._open()
        try:
            _require_version(raw.info.server_version)
            _require_encoding(raw.info.parameter_status("server_encoding") or "UTF8")
            raw.adapters.register_loader("uuid", TextLoader)
            if self._behind_pooler:
                raw.prepare_threshold = None
            else:
                self._set_up(raw)
        except BaseException:
            raw.close()
            raise
        return PostgresConnection(raw)

    def _set_up(self, raw: psycopg.Connection[Row]) -> None:
        """Set what our work needs for the session, if there is one: what a pooler gives to others is left alone."""
        settings = _settings(for_transaction=False)
        if not is_direct(raw, settings):
            if not self._keeps_sessions:
                with closing(self._open()) as other:
                    if shares_sessions(raw, other):
                        raise unannounced_pooler(self.url)
                self._keeps_sessions = True
            raw.execute(settings.encode())


def _wait_for_another_try(attempt: int, error: psycopg.Error) -> None:
    if attempt == ATTEMPTS:
        if is_of_caller(error):
            raise error
        message = f"The transaction lost {ATTEMPTS} races in a row: {first_line(error)}."
        raise DatabaseUnavailable(message, hint="Nothing of it was written. Try again.") from error
    time.sleep(random.uniform(0, 0.005 * 2**attempt))  # noqa: S311 - jitter, not a secret


def _has_rows(cursor: psycopg.Cursor[Row]) -> bool:
    """Whether a statement returns rows, be it none. The driver's own word for it describes every column first."""
    return cursor.pgresult is not None and cursor.pgresult.nfields > 0


def _settings(*, for_transaction: bool) -> str:
    """What our work needs of the server, for a connection that is ours or for one transaction on somebody's.

    Plans are kept while tables grow: one that was made for an empty table must be good for a large one (decision 11).
    """
    options = {"lock_timeout": "10s", "idle_in_transaction_session_timeout": "60s", "timezone": "UTC"}
    options |= {"enable_seqscan": "off", "jit": "off"}
    isolation = "transaction_isolation" if for_transaction else "default_transaction_isolation"
    options[isolation] = "read committed"
    return "select " + ", ".join(
        f"set_config('{name}', '{value}', {for_transaction})" for name, value in options.items()
    )


@contextmanager
def _rolled_back_on_error(connection: PostgresConnection) -> Iterator[None]:
    raw = connection.raw
    try:
        yield
    except BaseException:
        connection.begin("")  # what never began must not begin with somebody else's statement
        if not raw.closed and raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            with suppress(psycopg.Error):
                raw.execute("rollback")
        raise


def _understood(url: str) -> dict[str, Any]:
    """The parts of a database URL. What libpq says about a bad one would repeat its password."""
    try:
        parts: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        message, hint = "The database URL cannot be understood.", "Write postgresql://user:password@host:5432/name"
        raise DatabaseUnsuitable(message, hint=hint) from None
    if "@" in str(parts.get("host", "")).lstrip("@"):
        raise DatabaseUnsuitable("The database URL has an @ too many.", hint="Write an @ in a password as %40.")
    return parts


def _require_version(version: int) -> None:
    if version < OLDEST_VERSION:
        message = f"PostgreSQL {version // 10000} is too old; Haulwright needs {OLDEST_VERSION // 10000}."
        raise DatabaseUnsuitable(message, hint="Upgrade the server.")


def _require_encoding(encoding: str) -> None:
    """Any text must find a place. SQL_ASCII looks at none, and gives back what it was given."""
    if encoding not in {"UTF8", "SQL_ASCII"}:
        message = f"The database keeps text in {encoding}, which has no place for most characters."
        raise DatabaseUnsuitable(message, hint="Make one: create database NAME encoding 'UTF8' template template0")


def _connect_hint(line: str) -> str:
    """What to do about a connection that was refused: a server that answers is running."""
    if line.endswith("does not exist") and "database" in line:
        return "Make it with createdb, or correct the name in the address."
    if "authentication failed" in line or line.endswith("does not exist"):
        return "Correct the user or the password in the address."
    return "Is it running, and are host and port right?"
