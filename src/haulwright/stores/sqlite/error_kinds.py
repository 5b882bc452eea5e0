"""What an error of SQLite means, by its result code, and how it is told."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from haulwright.errors import DatabaseDamaged, DatabaseProblem, DatabaseUnavailable, DatabaseUnsuitable
from haulwright.stores.error_kinds import ErrorKind, kind_for_caller, kind_outside_drivers
from haulwright.stores.sqlite.file_identity import FileIdentity

PATIENCE_SECONDS = 30.0
"""How long a writer waits for the others before it says so."""
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_BY_CODE = {
    sqlite3.SQLITE_BUSY: ErrorKind.AWAY,
    sqlite3.SQLITE_LOCKED: ErrorKind.LIMIT,  # by another statement of the same connection
    sqlite3.SQLITE_FULL: ErrorKind.AWAY,
    sqlite3.SQLITE_READONLY: ErrorKind.AWAY,
    sqlite3.SQLITE_IOERR: ErrorKind.AWAY,
    sqlite3.SQLITE_CANTOPEN: ErrorKind.AWAY,
    sqlite3.SQLITE_NOMEM: ErrorKind.AWAY,
    sqlite3.SQLITE_PROTOCOL: ErrorKind.AWAY,  # the locks of the log, in a crowd
    sqlite3.SQLITE_NOTADB: ErrorKind.AWAY,
    sqlite3.SQLITE_CORRUPT: ErrorKind.AWAY,
    sqlite3.SQLITE_INTERRUPT: ErrorKind.LIMIT,
    sqlite3.SQLITE_CONSTRAINT: ErrorKind.DATA,
    sqlite3.SQLITE_TOOBIG: ErrorKind.DATA,
    sqlite3.SQLITE_MISMATCH: ErrorKind.DATA,
    sqlite3.SQLITE_RANGE: ErrorKind.DATA,
}
_EXPLANATIONS: dict[int, tuple[type[DatabaseUnavailable | DatabaseUnsuitable], str, str]] = {
    sqlite3.SQLITE_BUSY: (
        DatabaseUnavailable,
        f"was locked by another process for {PATIENCE_SECONDS:g} s",
        "Find the process that holds a transaction open on it; nothing of this one was written.",
    ),
    sqlite3.SQLITE_FULL: (
        DatabaseUnavailable,
        "has no room left on its disk",
        "Free some space; nothing of this transaction was written, and work goes on by itself afterwards.",
    ),
    sqlite3.SQLITE_IOERR: (DatabaseUnavailable, "met an input/output error", "Check the disk and its free space."),
    sqlite3.SQLITE_READONLY: (
        DatabaseUnavailable,
        "cannot be written",
        "Give this user write permission on the file and its folder, or move the database.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        DatabaseUnavailable,
        "cannot be opened",
        "Create its folder, and give this user write permission on it.",
    ),
    sqlite3.SQLITE_NOTADB: (DatabaseUnsuitable, "is not an SQLite database", "Point to another file."),
}
_OTHERWISE = (DatabaseUnavailable, "could not go on", "Try again; nothing of this transaction was written.")


def kind_of_error(error: BaseException) -> ErrorKind:
    """Whose matter an error is."""
    if not isinstance(error, sqlite3.Error):
        return kind_outside_drivers(error)
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return kind_for_caller(error, _BY_CODE.get(code & 0xFF, ErrorKind.FAULT))
    is_value = isinstance(error, (sqlite3.DataError, sqlite3.InterfaceError)) or "binding parameter" in str(error)
    return ErrorKind.DATA if is_value else ErrorKind.FAULT


class explained:  # noqa: N801 - reads as a phrase where it is used
    """Turn what SQLite says about files and disks into what happened, why, and what to do."""

    def __init__(self, path: Path, file: FileIdentity, forget: Callable[[], None]) -> None:
        self._path = path
        self._file = file
        self._forget = forget

    def __enter__(self) -> None:
        """Nothing to do yet."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Explain a database in trouble; let everything else pass."""
        if not isinstance(error, sqlite3.Error) or kind_of_error(error) not in {ErrorKind.AWAY, ErrorKind.LIMIT}:
            return
        code = error.sqlite_errorcode & 0xFF
        if code not in BUSY:
            self._forget()  # a connection that was opened while the file could not be written stays read-only
            self._file.require_if_known()  # most of what SQLite says then is about a file that is not there any more
        raise self._problem(code, error) from error

    def _problem(self, code: int, error: sqlite3.Error) -> DatabaseProblem:
        was_sound = code == sqlite3.SQLITE_NOTADB and self._file.is_known
        if code == sqlite3.SQLITE_CORRUPT or was_sound:
            return DatabaseDamaged(str(self._path), str(error))
        kind, why, hint = _EXPLANATIONS.get(code, _OTHERWISE)
        problem = kind(f"The database {self._path} {why}: {error}.", hint=hint)
        if isinstance(problem, DatabaseUnavailable):
            problem.outcome_unknown = code == sqlite3.SQLITE_IOERR  # the log may have got it, and not said so
        return problem
