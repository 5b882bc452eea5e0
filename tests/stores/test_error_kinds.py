"""Whose matter an error is, by its code: the row's, the database's, or that of whoever wrote the statement."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import psycopg
import pytest

from haulwright.errors import DatabaseUnavailable
from haulwright.stores.error_kinds import ErrorKind, statements_of_caller
from haulwright.stores.postgres.error_kinds import kind_of_error as kind_of_postgres_error
from haulwright.stores.store import Store
from tests.stores.scenes import count, new_job

AWAY = {
    "08006": "the connection failed",
    "25006": "the server is read-only",
    "25P03": "the transaction was idle for too long",
    "25P04": "the transaction took too long",
    "26000": "a prepared statement is gone",
    "42P05": "a prepared statement is there already",
    "53100": "the disk is full",
    "53200": "there is no memory left",
    "53300": "there are too many connections",
    "53400": "a limit of the configuration was reached",
    "57014": "the statement took too long",
    "57P01": "the server shuts down",
    "57P02": "the server crashed",
    "57P03": "the server starts",
    "57P05": "the session was idle for too long",
    "58030": "input or output failed",
}
RACES = ("40001", "40P01", "55P03")
DATA = ("22001", "22003", "22021", "22P02", "22P05", "23502", "23505", "23514", "54000", "P0001", "XX001")
FAULTS = ("0A000", "42501", "42601", "42703", "42P01", "XX000")
LIMITS = {"25P03", "25P04", "53400", "57014"}
"""Of these: those that a statement may bring about by itself."""


def refusing(state, calls=None):
    """Work that the server refuses with this SQLSTATE."""

    def work(connection):
        if calls is not None:
            calls.append(1)
        connection.execute(f"do $$ begin raise exception 'refused' using errcode = '{state}'; end $$")

    return work


@pytest.fixture
def server(made_postgres_url, clock):
    with closing(Store.open(made_postgres_url, clock=clock)) as store:
        yield store.database


@pytest.fixture
def file(sqlite_url, clock):
    with closing(Store.open(sqlite_url, clock=clock)) as store:
        yield store


@pytest.mark.postgres
@pytest.mark.parametrize("state", AWAY, ids=AWAY.get)
def test_a_server_in_trouble_is_worth_another_try(server, state):
    for door in (server.transact, server.read):
        with pytest.raises(DatabaseUnavailable, match="broken off: refused") as trouble:
            door(refusing(state))

        assert trouble.value.hint.startswith("Nothing of it was written.")
        assert server.kind_of_error(trouble.value) is ErrorKind.AWAY


@pytest.mark.postgres
@pytest.mark.parametrize("state", RACES)
def test_a_lost_race_is_run_again_and_told_when_it_is_lost_for_good(server, monkeypatch, state):
    monkeypatch.setattr("haulwright.stores.postgres.connection.time.sleep", lambda _: None)
    calls = []

    with pytest.raises(DatabaseUnavailable, match="lost 8 races"):
        server.transact(refusing(state, calls))

    assert len(calls) == 8


@pytest.mark.postgres
@pytest.mark.parametrize("state", [*DATA, *FAULTS])
def test_a_row_or_a_statement_that_is_wrong_is_told_at_once_as_it_is(server, state):
    calls = []

    with pytest.raises(psycopg.Error, match="refused") as error:
        server.transact(refusing(state, calls))

    assert (error.value.sqlstate, len(calls)) == (state, 1)
    assert server.kind_of_error(error.value) is (ErrorKind.DATA if state in DATA else ErrorKind.FAULT)


@pytest.mark.postgres
@pytest.mark.parametrize("state", AWAY, ids=AWAY.get)
def test_what_ends_a_statement_of_somebody_else_is_theirs_unless_the_server_is_away(server, state):
    def work(connection):
        with statements_of_caller():
            refusing(state)(connection)

    with pytest.raises(psycopg.Error if state in LIMITS else DatabaseUnavailable):
        server.transact(work)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"), ErrorKind.DATA),
        (OverflowError("too large for a column"), ErrorKind.DATA),
        (DatabaseUnavailable("away"), ErrorKind.AWAY),
        (OSError("no file handles left"), ErrorKind.AWAY),
        (MemoryError(), ErrorKind.AWAY),
        (KeyError("a mistake"), ErrorKind.FAULT),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_no_driver_raised_is_the_rows_own_only_where_its_values_are_to_blame(file, error, kind):
    assert file.database.kind_of_error(error) is kind


@pytest.mark.parametrize(
    ("limit", "told"),
    [("query_only = on", "cannot be written"), ("max_page_count = 1", "has no room left on its disk")],
    ids=["read-only", "full"],
)
def test_a_connection_that_cannot_write_is_not_used_again(file, limit, told):
    """It may have been opened while nobody could write, and would remember that for ever."""
    file.database.read(lambda connection: connection.execute(f"pragma {limit}"))
    job = new_job(args=f'{{"much": "{"x" * 100_000}"}}')

    with pytest.raises(DatabaseUnavailable, match=told):
        file.jobs.enqueue([job])

    file.jobs.enqueue([job])
    assert count(file, "haulwright_jobs") == 1


@pytest.mark.parametrize(
    ("statement", "params", "kind"),
    [
        ("insert into haulwright_workers (id) values (?)", ["x"], ErrorKind.DATA),
        ("select zeroblob(2000000000)", [], ErrorKind.DATA),
        ("select ?", [object()], ErrorKind.DATA),
        ("select * from nowhere", [], ErrorKind.FAULT),
        ("select ?", [], ErrorKind.FAULT),
    ],
    ids=["a constraint", "too large", "no value", "no table", "no parameter"],
)
def test_a_row_or_a_statement_that_sqlite_refuses_is_told_as_it_is(file, statement, params, kind):
    with pytest.raises(sqlite3.Error) as error:
        file.database.transact(lambda connection: connection.execute(statement, params))

    assert file.database.kind_of_error(error.value) is kind


@pytest.mark.parametrize("words", ["server closed the connection unexpectedly", "invalid socket"])
def test_a_connection_that_breaks_in_the_middle_of_an_answer_is_the_databases_matter(words):
    """The library of the server says so itself: there is no code, and no class but the widest."""
    broken = psycopg.DatabaseError(words)
    with pytest.raises(psycopg.DatabaseError), statements_of_caller():
        raise broken

    assert kind_of_postgres_error(broken) is ErrorKind.AWAY
    assert kind_of_postgres_error(psycopg.ProgrammingError("a parameter is missing")) is ErrorKind.FAULT
