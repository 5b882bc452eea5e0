"""A backup of a file while others write to it: SQLite copies it page by page, in steps with pauses."""

from __future__ import annotations

import shlex
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import cast

from haulwright.errors import DatabaseDamaged, DatabaseUnavailable, Refused
from haulwright.stores.backup import BackupFile, Progress, whole_file
from haulwright.stores.connection import Connection
from haulwright.stores.sqlite.connection import SqliteConnection, SqliteDatabase

STEP_PAGES = 256
PAUSE_SECONDS = 0.002
"""After each step the disk is left to those who write."""
_COUNTS = {
    "migrations": "select count(*) from haulwright_migrations",
    "active jobs": "select count(*) from haulwright_jobs",
    "finished jobs": "select count(*) from haulwright_history",
    "events": "select count(*) from haulwright_events",
}


def back_up_file(database: SqliteDatabase, target: Path, *, force: bool, progress: Progress) -> BackupFile:
    """Copy a database as it is at one moment, look through the copy, and put it where it belongs."""
    _require_apart(database.path, target)
    with whole_file(target, force=force) as part:
        database.read(lambda connection: _copy(connection, database.path, part, progress))
        database.file.require()
        contents = _contents(part, target)
        size_bytes = part.stat().st_size
    place = database.path.resolve()
    restore = (
        f"rm -f {shlex.quote(f'{place}-wal')} {shlex.quote(f'{place}-shm')}",
        f"cp {shlex.quote(str(target.resolve()))} {shlex.quote(str(place))}",
    )
    return BackupFile(target, "sqlite", size_bytes, contents, restore)


def _copy(connection: Connection, source: Path, part: Path, progress: Progress) -> None:
    """Inside one read transaction: others write meanwhile, and the copy does not begin anew each time they do."""
    raw = cast("SqliteConnection", connection).raw

    def step(_status: int, left: int, total: int) -> None:
        progress(total - left, total)
        time.sleep(PAUSE_SECONDS)

    raw.execute("begin")
    try:
        raw.execute("select 1 from sqlite_schema limit 1").fetchall()
        with closing(sqlite3.connect(part, isolation_level=None)) as copy:
            copy.executescript("pragma journal_mode = off; pragma synchronous = off;")  # synced as a whole, later
            raw.backup(copy, pages=STEP_PAGES, progress=step)
    except sqlite3.Error as error:
        message = f"The backup of {source} broke off: {error}."
        raise DatabaseUnavailable(
            message, hint="Nothing of it was kept. See that there is room, and try again."
        ) from error
    finally:
        raw.execute("rollback")


def _contents(part: Path, target: Path) -> dict[str, int]:
    """Look through a copy without making a log beside it, and count what is in it."""
    with closing(sqlite3.connect(f"{part.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
        try:
            answer = [line for (line,) in copy.execute("pragma integrity_check")]
            counts = {name: int(copy.execute(sql).fetchone()[0]) for name, sql in _COUNTS.items()}
        except sqlite3.DatabaseError as error:
            raise DatabaseDamaged(str(target), str(error)) from error
    if answer != ["ok"]:
        raise DatabaseDamaged(str(target), "; ".join(map(str, answer[:3])))
    return counts


def _require_apart(source: Path, target: Path) -> None:
    """Refuse a target that is the database, or that somebody has open as one."""
    source, target = source.resolve(), target.resolve()
    if target in {source, *(source.with_name(f"{source.name}{end}") for end in ("-wal", "-shm"))}:
        raise Refused(f"{target} belongs to the database itself.", hint="Name another file.")
    if target.with_name(f"{target.name}-wal").exists():
        message = f"There is a {target.name}-wal beside {target}: somebody has that file open as a database, or had."
        raise Refused(message, hint="Name another file.")
