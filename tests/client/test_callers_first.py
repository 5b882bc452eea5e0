"""The first thing that an app does is an enqueue on the caller's connection: nothing is opened behind its back."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing, contextmanager

import psycopg
import pytest

from haulwright import Haulwright, State
from haulwright.errors import SchemaMismatch
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.postgres.connection import PostgresDatabase
from haulwright.stores.sqlite.connection import SqliteDatabase


@pytest.fixture
def shop(database_url):
    """An app that nobody used yet, and a task."""
    with closing(Haulwright(database_url)) as app:

        @app.task()
        def ship(order: int) -> int:
            return order

        yield app, ship


@pytest.fixture
def database_url(empty_database_url):
    """Each database in turn, as it is before anybody migrated it."""
    return empty_database_url


@pytest.fixture
def caller(database_url):
    """The caller's own connection, with a table of its own and a row that is not committed."""
    if database_url.startswith("sqlite"):
        connection = sqlite3.connect(database_url.removeprefix("sqlite:///"))
    else:
        connection = psycopg.connect(database_url)
    with closing(connection):
        connection.execute("create table orders (id integer)")
        connection.commit()
        connection.execute("insert into orders values (7)")
        yield connection


def migrate(database_url):
    with closing(open_database(database_url)) as database:
        migrations.migrate(database)


@pytest.fixture
def nothing_is_opened(monkeypatch):
    """A span of time in which whoever opens a connection of ours fails the test."""
    forbidden = threading.Event()

    def guarded(connect):
        def guard(*args, **options):
            assert not forbidden.is_set(), "a connection of ours was opened"
            return connect(*args, **options)

        return guard

    for kind in (SqliteDatabase, PostgresDatabase):
        monkeypatch.setattr(kind, "_connect", guarded(kind._connect))

    @contextmanager
    def span():
        forbidden.set()
        yield
        forbidden.clear()

    return span


def test_without_the_schema_it_is_refused_at_once_with_the_line_to_type(shop, caller, nothing_is_opened):
    _, ship = shop

    with nothing_is_opened(), pytest.raises(SchemaMismatch) as refusal:
        ship.using(connection=caller).enqueue(7)

    assert refusal.value.hint == "Run: haulwright db migrate"
    caller.commit()
    assert caller.execute("select id from orders").fetchall() == [(7,)]


def test_with_the_schema_the_job_is_there_with_the_callers_row(shop, database_url, nothing_is_opened):
    app, ship = shop
    migrate(database_url)
    connect = sqlite3.connect if database_url.startswith("sqlite") else psycopg.connect
    with closing(connect(database_url.removeprefix("sqlite:///"))) as caller, nothing_is_opened():
        caller.execute("create table orders (id integer)")
        caller.execute("insert into orders values (7)")
        handle = ship.using(connection=caller).enqueue(7)
        many = app.enqueue_many([ship.call(8), ship.call(9)], connection=caller)
        caller.commit()

    assert [each.state() for each in (handle, *many)] == [State.QUEUED] * 3


def test_a_refusal_leaves_the_callers_connection_as_it_was(sqlite_url, tmp_path):
    with closing(Haulwright(sqlite_url)) as app, closing(sqlite3.connect(tmp_path / "haulwright.db")) as connection:

        @app.task()
        def ship(order: int) -> int:
            return order

        with pytest.raises(SchemaMismatch):
            ship.using(connection=connection).enqueue(7)

        assert not connection.in_transaction
        assert connection.execute("pragma journal_mode").fetchall() == [("delete",)]
