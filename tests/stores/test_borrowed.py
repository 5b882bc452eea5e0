"""A job that must exist if and only if the caller's rows do is written on the caller's connection."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from psycopg.rows import dict_row

from haulwright.engine.job import Unique
from haulwright.engine.transitions import State
from haulwright.errors import DuplicateMismatch, Refused
from haulwright.stores.caller_connection import adopt_connection
from haulwright.stores.store import Store
from tests.stores.scenes import count, new_job


@pytest.fixture
def connection(store, database_url) -> Iterator:
    """A connection of the caller's own, with habits of its own."""
    store.database.transact(lambda c: c.execute("create table orders (id integer)"))
    if store.database.dialect == "sqlite":
        with closing(sqlite3.connect(database_url.removeprefix("sqlite:///"))) as raw:
            raw.row_factory = sqlite3.Row
            yield raw
    else:
        with psycopg.connect(database_url, row_factory=dict_row) as raw:
            yield raw
            raw.rollback()


@pytest.fixture
def mine(store, connection) -> Store:
    """The store, seen through the caller's connection."""
    connection.execute("insert into orders (id) values (1)")
    return Store(adopt_connection(connection, store.database))


def test_a_job_appears_with_the_commit_of_the_caller(store, connection, mine):
    mine.jobs.enqueue([job := new_job()])
    assert (count(store, "orders"), store.listing.find(job.id)) == (0, None)

    connection.commit()

    assert count(store, "orders") == 1
    assert store.listing.get(job.id).state is State.QUEUED


def test_a_job_is_gone_with_the_rollback_of_the_caller(store, connection, mine):
    mine.jobs.enqueue([new_job(), new_job(), new_job(job_key="k")])

    connection.rollback()

    assert (count(store, "orders"), count(store, "haulwright_jobs"), count(store, "haulwright_keys")) == (0, 0, 0)


def test_the_caller_can_read_its_own_job_before_the_commit(mine):
    mine.jobs.enqueue([job := new_job()])

    assert mine.listing.get(job.id).args == "{}"


def test_a_refused_enqueue_leaves_the_callers_transaction_as_it_was(store, connection, mine):
    mine.jobs.enqueue([new_job(unique=Unique("k"), args="1")])

    with pytest.raises(DuplicateMismatch):
        mine.jobs.enqueue([new_job(), new_job(unique=Unique("k"), args="2")])
    connection.commit()

    assert (count(store, "orders"), count(store, "haulwright_jobs")) == (1, 1)


def test_an_enqueue_as_the_first_word_of_a_transaction_does_not_commit_by_itself(store, connection):
    Store(adopt_connection(connection, store.database)).jobs.enqueue([new_job()])
    assert count(store, "haulwright_jobs") == 0

    connection.rollback()

    assert count(store, "haulwright_jobs") == 0


def test_the_callers_rows_look_as_they_always_did(connection, mine):
    mine.jobs.enqueue([new_job()])

    assert connection.execute("select id from orders").fetchone()["id"] == 1


def test_a_connection_that_commits_by_itself_is_refused(store, connection):
    """The job would be there without the caller's rows."""
    connection.commit()
    if store.database.dialect == "sqlite":
        connection.isolation_level = None
    else:
        connection.autocommit = True

    with pytest.raises(Refused, match="autocommit"):
        adopt_connection(connection, store.database)

    connection.execute("begin")
    Store(adopt_connection(connection, store.database)).jobs.enqueue([new_job()])
    connection.execute("rollback")
    assert count(store, "haulwright_jobs") == 0


def test_a_connection_to_another_kind_of_database_is_refused(store, postgres_url):
    strange = psycopg.connect(postgres_url) if store.database.dialect == "sqlite" else sqlite3.connect(":memory:")
    with closing(strange), pytest.raises(Refused, match="The jobs are on"):
        adopt_connection(strange, store.database)


def test_a_connection_to_another_file_is_refused(sqlite_url, clock, tmp_path):
    with (
        closing(Store.open(sqlite_url, clock=clock)) as store,
        closing(sqlite3.connect(tmp_path / "other.db")) as strange,
        pytest.raises(Refused, match="another file"),
    ):
        adopt_connection(strange, store.database)


@pytest.mark.parametrize("thing", [None, "connection", 7, threading.Lock()], ids=["none", "text", "number", "lock"])
def test_what_is_no_connection_is_refused(store, thing):
    with pytest.raises(Refused, match="cannot carry an enqueue"):
        adopt_connection(thing, store.database)
