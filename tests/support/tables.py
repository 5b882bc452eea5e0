"""Databases that have their tables: made once in a process, which takes longer than most tests, then copied or emptied.

What a test did to the rows is undone by deleting them. What it did to the tables, or to the record of the migrations,
is not: such a schema is thrown away, and the next test gets a new one.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
from psycopg import sql

from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.postgres.wall import raise_wall
from tests.support.postgres import Addressed

# What a test may have changed that deleting rows does not bring back: what was added or altered has a newer xmin.
_SHAPE = """
with ours as (select oid from pg_class where relnamespace = current_schema()::regnamespace), changes as (
    select xmin from pg_namespace where oid = current_schema()::regnamespace
    union all select xmin from pg_class where relnamespace = current_schema()::regnamespace
    union all select xmin from pg_type where typnamespace = current_schema()::regnamespace
    union all select xmin from pg_proc where pronamespace = current_schema()::regnamespace
    union all select xmin from pg_constraint where connamespace = current_schema()::regnamespace
    union all select a.xmin from ours join pg_attribute a on attrelid = ours.oid
    union all select d.xmin from ours join pg_attrdef d on adrelid = ours.oid
    union all select t.xmin from ours join pg_trigger t on tgrelid = ours.oid
    union all select r.xmin from ours join pg_rewrite r on ev_class = ours.oid
    union all select p.xmin from ours join pg_policy p on polrelid = ours.oid
    union all select xmin from haulwright_migrations)
select count(*) || ':' || max(xmin::text::bigint) || ':' || sum(xmin::text::bigint) from changes
"""
_WRITTEN = """
select quote_ident(relname) from pg_class
where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname <> 'haulwright_migrations'
    and pg_relation_size(oid) > 0
"""
_REWIND = """
select setval(seqrelid::regclass, 1, false) from pg_sequence join pg_class on pg_class.oid = seqrelid
where relnamespace = current_schema()::regnamespace
"""


class Files:
    """SQLite files with the tables of the engine and of one application, or of none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[str, Path] = {}

    def copy(self, package: str, path: Path) -> Path:
        """Put a file of one's own there."""
        if package not in self._made:
            self._made[package] = self._folder / f"{package or 'engine'}.db"
            _migrate(f"sqlite:///{self._made[package]}", package)
        return Path(shutil.copy(self._made[package], path))


class Schemas:
    """The same on a PostgreSQL server, for one test after the other."""

    def __init__(self, server: Addressed) -> None:
        self._server = server
        self._made: dict[tuple[str, bool], Schema] = {}

    def lend(self, package: str, *, walled: bool) -> Iterator[str]:
        """Give its address to a test, and clean up after it. With the second wall it is as `db migrate` leaves it."""
        kind = (package, walled)
        if kind not in self._made:
            self._made[kind] = Schema(self._server, package, walled=walled)
        schema = self._made[kind]
        yield schema.url
        if schema.is_altered():
            self._made.pop(kind).drop()
        else:
            schema.empty()

    def close(self) -> None:
        """Drop them: the server may be somebody else's."""
        while self._made:
            self._made.popitem()[1].drop()


class Schema:
    """Tables on a PostgreSQL server, and a connection that cleans up after each test: a new one would take longer."""

    def __init__(self, server: Addressed, package: str, *, walled: bool) -> None:
        self._name = f"tables_{uuid.uuid4().hex}"
        self.url = server.url(search_path=self._name)
        self._connection = psycopg.connect(self.url, autocommit=True)
        # A transaction that a test left open is a defect of that test, and shows as a lock time-out here.
        # Whatever refers to a row and whoever forbids to delete it: keys and triggers do not hold for a replica.
        self._connection.execute("set lock_timeout = '10s'; set session_replication_role = replica")
        self._connection.execute(sql.SQL("create schema {}").format(sql.Identifier(self._name)))
        _migrate(self.url, package, walled=walled)
        self._shape = self._read_shape()

    def is_altered(self) -> bool:
        """Whether something else than rows is not as it was."""
        return self._read_shape() != self._shape

    def empty(self) -> None:
        """Delete every row, and let numbers begin anew."""
        self._connection.execute(_REWIND)
        names = [name for (name,) in self._connection.execute(_WRITTEN)]
        self._connection.execute("".join(f"delete from {name};" for name in names))  # noqa: S608 - names that were read

    def drop(self) -> None:
        """Take it away, with what a test put there."""
        with closing(self._connection):
            self._connection.execute(sql.SQL("drop schema if exists {} cascade").format(sql.Identifier(self._name)))

    def _read_shape(self) -> object:
        try:
            return self._connection.execute(_SHAPE).fetchone()
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
            return None  # a test took away even the record of the migrations


def _migrate(url: str, package: str, *, walled: bool = False) -> None:
    packages = [migrations.ENGINE, *filter(None, [package])]
    with closing(open_database(url)) as database:
        for each in packages:
            migrations.migrate(database, each)
        if walled:
            raise_wall(database, packages)
