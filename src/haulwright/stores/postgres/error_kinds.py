"""What an error of PostgreSQL means, by its SQLSTATE, and how it is told."""

from __future__ import annotations

import psycopg

from haulwright.errors import DatabaseUnavailable
from haulwright.stores.error_kinds import ErrorKind, kind_for_caller, kind_outside_drivers

_BY_CLASS = {
    "08": ErrorKind.AWAY,  # the connection
    "22": ErrorKind.DATA,  # values, encodings, JSON
    "23": ErrorKind.DATA,  # constraints
    "40": ErrorKind.RACE,  # deadlocks, serialization
    "53": ErrorKind.AWAY,  # disk, memory, connections
    "54": ErrorKind.DATA,  # larger than a row, an index entry or a message may be
    "57": ErrorKind.AWAY,  # somebody shuts the server down, or ends our session
    "58": ErrorKind.AWAY,  # input and output
    "P0": ErrorKind.DATA,  # somebody's trigger refused the row
}
_BY_STATE = {
    "25006": ErrorKind.AWAY,  # read-only: a standby, a fail-over under way
    "25P03": ErrorKind.LIMIT,  # idle_in_transaction_session_timeout
    "25P04": ErrorKind.LIMIT,  # transaction_timeout
    "26000": ErrorKind.AWAY,  # a prepared statement is gone: a pooler took the connection
    "42P05": ErrorKind.AWAY,  # a prepared statement is there already: as above
    "53400": ErrorKind.LIMIT,  # temp_file_limit and its like
    "55P03": ErrorKind.RACE,  # lock_timeout
    "57014": ErrorKind.LIMIT,  # statement_timeout, or a cancel
    "XX001": ErrorKind.DATA,  # the row is damaged
}
TOO_LARGE = frozenset({"53200", "57014"})
"""What fewer rows at once may escape."""
NEVER_READ = frozenset({"57P05"})
"""The session was ended while it was idle: what we sent then was read by nobody."""
_POOLER = "Where a transaction pooler stands before the server, add pooler=transaction to the database URL."
_HINTS = {
    "25006": "It takes no writes: a standby, a fail-over under way, or default_transaction_read_only.",
    "26000": _POOLER,
    "42P05": _POOLER,
    "53100": "Free some space on the server; work goes on by itself afterwards.",
    "53300": "Raise max_connections of the server, or lower the concurrency of the workers.",
    "57014": "The statement_timeout of the server or the role is shorter than our work takes.",
}


def kind_of_error(error: BaseException) -> ErrorKind:
    """Whose matter an error is."""
    if not isinstance(error, psycopg.Error):
        return kind_outside_drivers(error)
    return kind_for_caller(error, _kind_by_state(error))


def is_refusal(error: psycopg.Error) -> bool:
    """Whether the server itself refused a statement and goes on: then nothing of it was written.

    After anything else nobody knows: a session that is ended may have committed a moment before.
    """
    return error.diag.severity_nonlocalized == "ERROR" and not (error.sqlstate or "08").startswith("08")


def unavailable(error: psycopg.Error, *, unknown: bool) -> DatabaseUnavailable:
    """Tell of trouble that passes, and whether it is known that nothing was written."""
    message = f"The work on PostgreSQL was broken off: {first_line(error)}"
    state = error.sqlstate or ""
    if unknown:
        hint = "The connection was lost meanwhile: whether it happened must be looked up before it is tried again."
    else:
        hint = f"Nothing of it was written. {_HINTS.get(state, '')}".rstrip()
    problem = DatabaseUnavailable(message, hint=hint)
    problem.outcome_unknown = unknown
    problem.less_may_pass = state in TOO_LARGE or not is_refusal(error)
    return problem


def first_line(error: Exception) -> str:
    """What an error says, without the details."""
    return (str(error).strip().splitlines() or ["no reason given"])[0]


def _kind_by_state(error: psycopg.Error) -> ErrorKind:
    state = error.sqlstate
    if state is not None:
        return _BY_STATE.get(state) or _BY_CLASS.get(state[:2], ErrorKind.FAULT)
    # What libpq itself says of a connection that broke in the middle of an answer has no code, nor a class of its own.
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)) or type(error) is psycopg.DatabaseError:
        return ErrorKind.AWAY
    return ErrorKind.DATA if isinstance(error, psycopg.DataError) else ErrorKind.FAULT
