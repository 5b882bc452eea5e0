"""From a database URL to an open database, refused early where the promise could not be kept."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

from haulwright.clock import Clock, clock_from_environment
from haulwright.discovery import installed_applications
from haulwright.errors import DatabaseUnsuitable, SchemaMismatch
from haulwright.extras import needs_extra
from haulwright.stores import migrations
from haulwright.stores.connection import Database
from haulwright.stores.sqlite.connection import SqliteDatabase
from haulwright.stores.sqlite.file_identity import MAGIC, read_header
from haulwright.stores.view_names import declared_names, find_names

log = logging.getLogger("haulwright.stores")

_SCHEMES = "sqlite:///path/to/file.db or postgresql://host:5432/name, with user:password@ before the host"
_WAL = 2
"""What byte 18 of an SQLite file says once it is in WAL mode, as all of ours are."""
_migrating = threading.Lock()


def open_database(url: str, *, clock: Clock | None = None, pool_size: int | None = None) -> Database:
    """A database for this URL. Nothing is read or written yet."""
    scheme = url.partition("://")[0].partition("+")[0].lower() if "://" in url else ""
    time = clock or clock_from_environment()
    size = {} if pool_size is None else {"pool_size": pool_size}
    if scheme == "sqlite":
        return SqliteDatabase(_path_of(url), clock=time, **size)
    if scheme in {"postgres", "postgresql"}:
        return _postgres(url, time, size)
    kind = f"There is no database of the kind {scheme!r}." if scheme else "The database URL names no kind of database."
    raise DatabaseUnsuitable(kind, hint=f"Write {_SCHEMES}")


def open_existing(url: str, *, clock: Clock | None = None) -> Database | None:
    """A database that is there already; None where there is none yet. Nothing is made, not even a file."""
    database = open_database(url, clock=clock)
    path: Path | None = getattr(database, "path", None)
    return None if path is not None and not _is_in_use(path) else database


def prepare(database: Database, packages: Sequence[str] = (migrations.ENGINE,), *, newer_schema: bool = False) -> None:
    """Make sure that the schema is there and is ours. SQLite migrates itself; PostgreSQL is migrated on purpose.

    `newer_schema` accepts one that has become newer: for who finishes what it holds.
    """
    with _migrating:
        for package in packages:
            state = migrations.status(database, package, newer=newer_schema)
            if not state.current and database.dialect == "sqlite":
                migrations.migrate(database, package)
                _mention_foreign_names(database, package)
            elif not state.current:
                raise _behind(state)


def require_current(database: Database, packages: Sequence[str]) -> None:
    """Refuse a schema that is missing or behind, with the line to type. Nothing is applied, on either database."""
    for package in packages:
        state = migrations.status(database, package)
        if not state.current:
            raise _behind(state)


def _mention_foreign_names(database: Database, package: str) -> None:
    names = declared_names(migrations.chain_of(package, database.dialect))
    for row in database.read(lambda connection: find_names(connection, names)):
        if row.state == "foreign":
            log.warning("%s is a %s that is not ours, and was left alone: %s", row.name, row.kind, row.instead)


def _behind(state: migrations.Status) -> SchemaMismatch:
    whose, command = "The schema is", "haulwright db migrate"
    if state.chain != migrations.ENGINE:
        name = installed_applications().name_of(state.chain)
        whose, command = f"The tables of {name} are", f"haulwright db migrate {name}"
    message = f"{whose} at version {state.applied}, and this code needs {state.known}."
    return SchemaMismatch(message, hint=f"Run: {command}")


def _is_in_use(path: Path) -> bool:
    """Whether a file holds a Haulwright database, or nothing that SQLite can read, which is refused elsewhere.

    Opened as we open our own it would get a write-ahead log: whose file it is, is seen before, without a change to it.
    """
    if not path.is_file():
        return False
    header = read_header(path)
    if not header or not header.startswith(MAGIC):
        return bool(header)
    has_log = Path(f"{path}-wal").exists()
    # Without a log the file is all there is; with one, whoever reads it makes the index of the log where it is missing.
    address = f"{path.absolute().as_uri()}?{'mode=ro' if header[18] == _WAL and has_log else 'immutable=1'}"
    try:
        with closing(sqlite3.connect(address, uri=True)) as raw:
            return bool(raw.execute("select 1 from sqlite_schema where name = 'haulwright_migrations'").fetchall())
    except sqlite3.DatabaseError:
        return True  # damaged or held: whoever opens it says so


def _path_of(url: str) -> Path:
    address = url.partition("://")[2]
    path = unquote(address.partition("?")[0])
    if not path.startswith("/") or not path.strip("/") or ":memory:" in path:
        message = f"{url!r} names no SQLite file; a database in memory would be another one for every connection."
        raise DatabaseUnsuitable(message, hint="Write sqlite:///relative/path.db or sqlite:////absolute/path.db")
    return Path(path[1:])


def _postgres(url: str, clock: Clock, size: dict[str, int]) -> Database:
    with needs_extra("postgres", "PostgreSQL"):
        from haulwright.stores.postgres.address import without_pooler  # noqa: PLC0415 - the driver is optional
        from haulwright.stores.postgres.connection import PostgresDatabase  # noqa: PLC0415 - as above
    scheme, rest = url.split(":", 1)
    address, pooler = without_pooler(f"{scheme.split('+')[0]}:{rest}")
    return PostgresDatabase(address, clock=clock, behind_pooler=pooler, **size)
