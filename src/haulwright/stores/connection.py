"""The seam between the store and a database: one connection, and how a piece of work runs on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from haulwright.clock import Clock
from haulwright.stores.books import Entry
from haulwright.stores.error_kinds import ErrorKind
from haulwright.stores.notify import NotifyThrottle
from haulwright.stores.process_state import ProcessState

T = TypeVar("T")
Row = tuple[Any, ...]
Parts = tuple[Row, Row]
"""A row in two parts: what is its own, and what its neighbours have as well, which is one object for all of them."""
Params = Mapping[str, Any]
Columns = Mapping[str, Sequence[Any]]


class Connection(Protocol):
    """A connection to a database, used by one thread at a time."""

    dialect: str

    def run(self, entry: Entry, params: Params) -> list[Row]:
        """Run an entry and return its rows: those it returns, or an empty one for each that its statement wrote."""

    def run_batch(self, entry: Entry, columns: Columns, common: Params) -> list[Row]:
        """Run an entry for a batch given as columns of equal length, and return all its rows."""

    def bulk_insert(self, entry: Entry, rows: Iterable[Parts]) -> None:
        """Write rows that cannot be refused, by the shortest way that the database has."""

    def execute(self, sql: str, params: Any = None) -> list[Row]:
        """Run a statement of the caller's own, in the dialect and parameter style of its driver."""

    def script(self, sql: str) -> None:
        """Run a file of statements."""

    def close(self) -> None:
        """Give the connection up."""


class Listener(Protocol):
    """Tells that something was written. A ring may be false; a silence never lasts past the wait."""

    def wait(self, seconds: float) -> bool:
        """Wait for a ring, at most so long."""

    def close(self) -> None:
        """Stop listening."""


class Database(Protocol):
    """A database that work is brought to. Work given to it must not do I/O and may be called again."""

    dialect: str
    clock: Clock

    writers: int
    """How many may write side by side."""

    answers_at_once: bool
    """Whether an entry can be run on an event loop: a moment's work, and no trip."""

    process: ProcessState
    throttle: NotifyThrottle
    """Which enqueues of this process notify."""

    @property
    def batch_size(self) -> int:
        """How many rows one transaction should write at most, so that nobody waits for it for long."""

    @property
    def load_batch_size(self) -> int:
        """The same for rows that are only added, which are in nobody's way."""

    def transact(self, work: Callable[[Connection], T], *, rows: int = 1) -> T:
        """Run work in one transaction; again if the database asks for it. All of it is on disk, or none.

        Work that is about many rows says so: where only one may write at a time, it gives way to those with a few.
        """

    def run_single(
        self,
        entry: Entry,
        params: Params,
        columns: Columns | None = None,
        *,
        rows: int | None = None,
    ) -> list[Row]:
        """Run one entry as a transaction of its own, in one trip where the database can; `rows` as in `transact`.

        Where the reply is lost nothing is tried again: the error says `outcome_unknown`, and the caller has to look.
        """

    def run_nondurable(
        self, entry: Entry, params: Params, columns: Columns | None = None, *, waiting: bool = True
    ) -> list[Row] | None:
        """Run one entry whole or not at all, without waiting for the disk: the machine's power may take it back.

        Without `waiting` it is for an event loop: None, and nothing done, where it would take more than a moment.
        """

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run work that only reads, or a single statement that may be repeated."""

    def require_unchanged(self) -> None:
        """Refuse to go on where this is not the database any more that was opened. A server says so by itself."""

    def kind_of_error(self, error: BaseException) -> ErrorKind:
        """Whose matter an error is that came out of this database, or on the way to it."""

    def listen(self) -> Listener:
        """What rings when there may be something to claim."""

    def close(self) -> None:
        """Close what is open."""


def run(connection: Connection, entry: Entry, params: Params, columns: Columns | None) -> list[Row]:
    """Run an entry, for a batch where there is one."""
    return connection.run(entry, params) if columns is None else connection.run_batch(entry, columns, params)


def as_columns(rows: Sequence[Params]) -> Columns:
    """A batch of rows, each with the same names, as columns of equal length."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def first(rows: list[Row]) -> Row | None:
    """The first row, if there is one."""
    return rows[0] if rows else None
