"""Whose matter an error of a database is. The codes are in one table for each database: `sqlite/` and `postgres/`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto

from haulwright.errors import DatabaseProblem

_MARK = "_haulwright_statement_of_caller"


class ErrorKind(Enum):
    """What an error means for the work that met it."""

    DATA = auto()
    """The row's own: its values cannot be stored. Without it, the others can."""
    AWAY = auto()
    """The database's own: not reachable, read-only, or without room. The same work passes later."""
    LIMIT = auto()
    """A limit ended the statement: the database's matter where the statement is ours, else that of whoever wrote it."""
    RACE = auto()
    """Another transaction was in the way. The same work passes at once, or in a moment."""
    FAULT = auto()
    """The statement's own: a programmer's mistake, or a schema that is not ours. It is told as it is."""


@contextmanager
def statements_of_caller() -> Iterator[None]:
    """Where a function runs that is not ours: what ends its statements is its matter, unless the database is away."""
    try:
        yield
    except Exception as error:
        setattr(error, _MARK, True)
        raise


def is_of_caller(error: BaseException) -> bool:
    """Whether the statement that ended was not ours."""
    return getattr(error, _MARK, False)


def kind_for_caller(error: BaseException, kind: ErrorKind) -> ErrorKind:
    """The same, seen by whoever wrote the statement."""
    return ErrorKind.FAULT if kind is ErrorKind.LIMIT and is_of_caller(error) else kind


def kind_outside_drivers(error: BaseException) -> ErrorKind:
    """What an error means that no driver raised: values that cannot even be sent, or a process in need."""
    if isinstance(error, (DatabaseProblem, MemoryError, OSError)):
        return ErrorKind.AWAY
    return ErrorKind.DATA if isinstance(error, (ValueError, TypeError, OverflowError)) else ErrorKind.FAULT


def is_of_database(error: BaseException) -> bool:
    """Whether an error came out of a database or from the way to it: in our words, or as its driver raised it."""
    drivers = [sys.modules[name] for name in ("sqlite3", "psycopg") if name in sys.modules]  # those that somebody uses
    return isinstance(error, (DatabaseProblem, *(driver.Error for driver in drivers)))
