"""The tables of an application: its own books in both dialects, on the database of its app.

Its package has `sqlite/` and `postgres/`, each with `migrations/` and `books/`, in the form of the engine's own: the
same nouns, the same entries, the same parameters. An entry that is the same on both stands once, in `shared/books/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from haulwright.client.store_view import viewed_store
from haulwright.stores.books import book
from haulwright.stores.connection import as_columns

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.client.task import Call
    from haulwright.client.transaction import Tx
    from haulwright.engine.job import Enqueued
    from haulwright.events import Event
    from haulwright.stores.books import Entry
    from haulwright.stores.connection import Connection, Row
    from haulwright.stores.store import Store

T = TypeVar("T")


class Tables:
    """The tables of one application. Nothing is opened before it is needed."""

    def __init__(self, app: Haulwright, package: str) -> None:
        self.app = app
        self._package = package
        app.add_tables(package)

    def read(self, entry: str, **params: Any) -> list[Row]:
        """Run an entry that only reads, named `noun.entry`."""
        store = self.app.store
        return store.database.read(lambda connection: self._writing(connection, store).run(entry, **params))

    def read_each(self, entry: str, rows: Sequence[Mapping[str, Any]], **common: Any) -> list[Row]:
        """The same for many rows at once, given to it as columns, as `Writing.each` does."""
        store = self.app.store
        return store.database.read(lambda connection: self._writing(connection, store).each(entry, rows, **common))

    def write(self, entry: str, **params: Any) -> list[Row]:
        """Run an entry as a transaction of its own."""
        return self.transact(lambda writing: writing.run(entry, **params))

    def transact(self, work: Callable[[Writing], T], *, connection: Any = None) -> T:
        """Run work in one transaction: all of it is on disk, or none. It does no I/O and may be called again.

        With a connection of the caller's driver it is part of the transaction that is open there.
        """
        store = self.app.store_on(connection)
        return store.database.transact(lambda connection: work(self._writing(connection, store)))

    def across(self, writing: Writing, entry: str, **params: Any) -> list[Row]:
        """Run an entry that reads rows of all tenants, for a rule between them, inside a transaction of one.

        Behind the second wall the transaction itself sees those of its tenant alone. The rows are for nobody outside.
        """
        if viewed_store(self.app) is None or writing.dialect == "sqlite":
            return writing.run(entry, **params)
        store = self.app.own_store
        return store.database.read(lambda connection: self._writing(connection, store).run(entry, **params))

    def on(self, tx: Tx) -> Writing:
        """The tables inside the fenced transaction of a commit."""
        return self._writing(tx.connection, tx.store)

    def _writing(self, connection: Connection, store: Store) -> Writing:
        return Writing(connection, store, partial(book, self._package, connection.dialect))


class Writing:
    """The tables inside one open transaction."""

    def __init__(self, connection: Connection, store: Store, books: Callable[[str], dict[str, Entry]]) -> None:
        self._connection = connection
        self._store = store
        self._books = books

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgres`."""
        return self._connection.dialect

    def run(self, entry: str, **params: Any) -> list[Row]:
        """Run an entry, named `noun.entry`. `:now` is the time of the database where the caller says nothing."""
        return self._connection.run(self._entry(entry), self._timed(params))

    def each(self, entry: str, rows: Sequence[Mapping[str, Any]], **common: Any) -> list[Row]:
        """Run an entry for many rows at once, given to it as columns: arrays, or the table `input` on SQLite."""
        if not rows:
            return []
        return self._connection.run_batch(self._entry(entry), as_columns(rows), self._timed(common))

    def enqueue(self, *calls: Call[Any]) -> list[Enqueued]:
        """Enqueue jobs that exist if and only if this transaction commits."""
        return self._store.jobs.enqueue_on(self._connection, [call.job for call in calls])

    def enqueue_with_event(self, call: Call[Any], name: str, data: dict[str, Any]) -> Enqueued:
        """Enqueue one job, and record an event where it is new; that costs one trip where it has a job key."""
        return self._store.jobs.enqueue_with_event(self._connection, call.job, name, data)

    def record(self, *events: Event) -> None:
        """Record what happened beside the rows that it is about."""
        self._store.events.record(self._connection, events)

    def _entry(self, entry: str) -> Entry:
        noun, _, name = entry.partition(".")
        return self._books(noun)[name]

    def _timed(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {"now": self._store.database.clock.now(), **params}
