"""From a database URL to an open database, refused early where the promise could not be kept."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from penstock.clock import Clock, clock_from_environment
from penstock.errors import DatabaseUnsuitable, SchemaMismatch
from penstock.stores import migrations
from penstock.stores.connection import Database
from penstock.stores.sqlite.connection import SqliteDatabase

DEFAULT_URL = "sqlite:///penstock.db"
_SCHEMES = "sqlite:///path/to/file.db or postgresql://user:password@host:5432/name"
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


def prepare(database: Database, packages: Sequence[str] = (migrations.ENGINE,)) -> None:
    """Make sure that the schema is there and is ours. SQLite migrates itself; PostgreSQL is migrated on purpose."""
    with _migrating:
        for package in packages:
            state = migrations.status(database, package)
            if not state.current and database.dialect == "sqlite":
                migrations.migrate(database, package)
            elif not state.current:
                raise _behind(state)


def _behind(state: migrations.Status) -> SchemaMismatch:
    whose, command = "The schema is", "penstock db migrate"
    if state.chain != migrations.ENGINE:
        name = state.chain.rpartition(".")[2]
        whose, command = f"The tables of {name} are", f"penstock db migrate {name}"
    message = f"{whose} at version {state.applied}, and this code needs {state.known}."
    return SchemaMismatch(message, hint=f"Run: {command}")


def _path_of(url: str) -> Path:
    address = url.partition("://")[2]
    path = unquote(address.partition("?")[0])
    if not path.startswith("/") or not path.strip("/") or ":memory:" in path:
        message = f"{url!r} names no SQLite file; a database in memory would be another one for every connection."
        raise DatabaseUnsuitable(message, hint="Write sqlite:///relative/path.db or sqlite:////absolute/path.db")
    return Path(path[1:])


def _postgres(url: str, clock: Clock, size: dict[str, int]) -> Database:
    try:
        from penstock.stores.postgres.address import without_pooler  # noqa: PLC0415 - the driver is optional
        from penstock.stores.postgres.connection import PostgresDatabase  # noqa: PLC0415 - as above
    except ImportError as error:
        message = "PostgreSQL needs the driver psycopg, which is not installed."
        raise DatabaseUnsuitable(message, hint="Run: pip install 'penstock[postgres]'") from error
    scheme, rest = url.split(":", 1)
    address, pooler = without_pooler(f"{scheme.split('+')[0]}:{rest}")
    return PostgresDatabase(address, clock=clock, behind_pooler=pooler, **size)
