"""A database that takes no writes for a while, as a fail-over or a full disk does it. Nothing of ours is told of it."""

from __future__ import annotations

import resource
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol

import psycopg
from psycopg import sql

from tests.support.postgres import Addressed

ROOM_BYTES = 64 << 10
"""Less than the log has by then, more than what else a test writes."""


class Outage(Protocol):
    """A database, and how its writes are refused and allowed again."""

    url: str

    def begin(self) -> None:
        """Refuse every write from now on."""

    def end(self) -> None:
        """Take writes again, from whoever asks."""


class ReadOnlyServer:
    """A PostgreSQL database that is read-only, as the one is that a fail-over left behind."""

    def __init__(self, server: Addressed, name: str) -> None:
        self.url = server.url(name)
        self._server, self._name = server, name

    def begin(self) -> None:
        """Make new sessions read-only, and end those that are not."""
        self._execute("alter database {} set default_transaction_read_only = on")
        with psycopg.connect(self._server.url(), autocommit=True) as connection:
            connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [self._name]
            )

    def end(self) -> None:
        """Make new sessions writable. Those that are open stay as they are."""
        self._execute("alter database {} reset default_transaction_read_only")

    def admit(self, *, newcomers: bool) -> None:
        """Take new sessions, or none. Those that are open go on."""
        self._execute(f"alter database {{}} allow_connections {newcomers}")

    def create(self) -> None:
        """Make it."""
        self._execute("create database {}")

    def drop(self) -> None:
        """Remove it, whoever still uses it."""
        self._execute("drop database {} with (force)")

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self._server.url(), autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(self._name)))


class FullDisk:
    """A SQLite file whose log cannot grow: the system lets no file of this process do so."""

    def __init__(self, path: Path) -> None:
        self.url = f"sqlite:///{path}"
        self._path = path
        self._reader: sqlite3.Connection | None = None
        self._limit = resource.getrlimit(resource.RLIMIT_FSIZE)

    def begin(self) -> None:
        """Hold a reader, behind which the log is not written over from its beginning, and take the room away."""
        self._reader = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        self._reader.execute("begin")
        self._reader.execute("select count(*) from haulwright_jobs").fetchall()
        with closing(sqlite3.connect(self._path, isolation_level=None, timeout=20)) as writer:
            writer.execute("create table ballast as select zeroblob(?)", [2 * ROOM_BYTES])
            writer.execute("drop table ballast")
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM_BYTES, self._limit[1]))

    def end(self) -> None:
        """Give it back."""
        resource.setrlimit(resource.RLIMIT_FSIZE, self._limit)
        if self._reader is not None:
            self._reader.close()


@contextmanager
def read_only_server(server: Addressed) -> Iterator[ReadOnlyServer]:
    """A database of its own on a server, for as long as it is needed."""
    outage = ReadOnlyServer(server, f"outage_{uuid.uuid4().hex}")
    outage.create()
    try:
        yield outage
    finally:
        outage.drop()


@contextmanager
def full_disk(folder: Path) -> Iterator[FullDisk]:
    """A file in a folder; afterwards there is room again in any case."""
    outage = FullDisk(folder / "haulwright.db")
    try:
        yield outage
    finally:
        outage.end()
