"""A job enqueued on the caller's own connection commits or rolls back with the caller's rows."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from psycopg.rows import dict_row

from haulwright import Haulwright
from haulwright.errors import Refused
from haulwright.testing.harness import Harness

app = Haulwright()


@app.task()
def bill(order: int) -> int:
    return order


@pytest.fixture
def on_sqlite(haulwright) -> Harness:
    haulwright.use(app)
    with closing(connect(haulwright)) as connection:
        connection.execute("create table orders (id integer)")
    return haulwright


@pytest.fixture
def on_postgres(postgres_url, tmp_path) -> Iterator[Harness]:
    with closing(Harness(postgres_url, tmp_path)) as bench:
        bench.use(app)
        with psycopg.connect(postgres_url) as connection:
            connection.execute("create table orders (id integer)")
        yield bench


def connect(bench, **options):
    return sqlite3.connect(bench.store.database.path, **options)


def what_is_there(bench):
    """The caller's rows, and the arguments of the jobs."""
    orders = bench.store.database.read(lambda connection: connection.execute("select id from orders order by id"))
    return [order for (order,) in orders], [job.args for job in bench.all_enqueued()]


NOTHING = ([], [])
BOTH = ([7], ['{"order":7}'])


@pytest.mark.proves("JOB-01")
@pytest.mark.parametrize("row_factory", [None, sqlite3.Row])
@pytest.mark.parametrize("writes_first", [True, False])
def test_on_sqlite_the_job_exists_when_the_caller_commits(on_sqlite, row_factory, writes_first):
    with closing(connect(on_sqlite)) as connection:
        connection.row_factory = row_factory
        if writes_first:
            connection.execute("insert into orders values (7)")
        handle = bill.using(connection=connection).enqueue(7)
        if not writes_first:
            connection.execute("insert into orders values (7)")
        before = what_is_there(on_sqlite)
        connection.commit()

    assert (before, what_is_there(on_sqlite)) == (NOTHING, BOTH)
    on_sqlite.drain()
    assert handle.result(0) == 7


@pytest.mark.parametrize("writes_first", [True, False])
def test_on_sqlite_the_job_is_gone_when_the_caller_rolls_back(on_sqlite, writes_first):
    with closing(connect(on_sqlite)) as connection:
        if writes_first:
            connection.execute("insert into orders values (7)")
        bill.using(connection=connection).enqueue(7)
        connection.rollback()

    assert what_is_there(on_sqlite) == NOTHING


def test_on_sqlite_autocommit_is_refused_outside_a_transaction_and_welcome_inside(on_sqlite):
    with closing(connect(on_sqlite, isolation_level=None)) as connection:
        with pytest.raises(Refused, match=r"autocommit.*Begin one"):
            bill.using(connection=connection).enqueue(1)
        for order, end in ((1, "rollback"), (7, "commit")):
            connection.execute("begin immediate")
            connection.execute("insert into orders values (?)", (order,))
            bill.using(connection=connection).enqueue(order)
            connection.execute(end)

    assert what_is_there(on_sqlite) == BOTH


def test_on_sqlite_a_savepoint_of_the_callers_takes_the_job_back(on_sqlite):
    with closing(connect(on_sqlite)) as connection:
        connection.execute("insert into orders values (7)")
        bill.using(connection=connection).enqueue(7)
        connection.execute("savepoint mine")
        bill.using(connection=connection).enqueue(8)
        connection.execute("rollback to mine")
        connection.commit()

    assert what_is_there(on_sqlite) == BOTH


def test_on_sqlite_a_coroutine_may_use_its_own_connection(on_sqlite):
    async def story() -> None:
        with closing(connect(on_sqlite)) as connection:
            connection.execute("insert into orders values (7)")
            await bill.using(connection=connection).aenqueue(7)
            connection.commit()

    asyncio.run(story())

    assert what_is_there(on_sqlite) == BOTH


def test_many_jobs_go_with_the_callers_rows_as_one_does(on_sqlite):
    with closing(connect(on_sqlite)) as connection:
        app.enqueue_many([bill.call(n) for n in range(3)], connection=connection)
        connection.rollback()
        connection.execute("insert into orders values (7)")
        app.enqueue_many([bill.call(7)], connection=connection)
        connection.commit()

    assert what_is_there(on_sqlite) == BOTH


@pytest.mark.postgres
@pytest.mark.parametrize("row_factory", [None, dict_row])
def test_on_postgres_the_job_exists_when_the_caller_commits(on_postgres, row_factory):
    options = {} if row_factory is None else {"row_factory": row_factory}
    with psycopg.connect(on_postgres.database_url, **options) as connection:
        connection.execute("insert into orders values (7)")
        handle = bill.using(connection=connection).enqueue(7)
        before = what_is_there(on_postgres)

    assert (before, what_is_there(on_postgres)) == (NOTHING, BOTH)
    on_postgres.drain()
    assert handle.result(0) == 7


@pytest.mark.postgres
def test_on_postgres_the_job_is_gone_when_the_caller_rolls_back(on_postgres):
    with psycopg.connect(on_postgres.database_url) as connection:
        connection.execute("insert into orders values (7)")
        bill.using(connection=connection).enqueue(7)
        connection.rollback()

    assert what_is_there(on_postgres) == NOTHING


@pytest.mark.postgres
def test_on_postgres_a_savepoint_of_the_callers_takes_the_job_back(on_postgres):
    with psycopg.connect(on_postgres.database_url) as connection:
        connection.execute("insert into orders values (7)")
        bill.using(connection=connection).enqueue(7)
        with connection.transaction():
            bill.using(connection=connection).enqueue(8)
            raise psycopg.Rollback

    assert what_is_there(on_postgres) == BOTH


@pytest.mark.postgres
def test_on_postgres_autocommit_is_refused_outside_a_transaction_and_welcome_inside(on_postgres):
    with psycopg.connect(on_postgres.database_url, autocommit=True) as connection:
        with pytest.raises(Refused, match=r"autocommit.*Wrap it: with connection\.transaction\(\)"):
            bill.using(connection=connection).enqueue(1)
        with connection.transaction():
            connection.execute("insert into orders values (7)")
            bill.using(connection=connection).enqueue(7)

    assert what_is_there(on_postgres) == BOTH


@pytest.mark.postgres
def test_a_failed_enqueue_leaves_the_callers_transaction_usable(on_postgres):
    with psycopg.connect(on_postgres.database_url) as connection:
        connection.execute("insert into orders values (7)")
        with pytest.raises(Refused, match=r"args\.order"):
            bill.using(connection=connection).enqueue("seven")
        bill.using(connection=connection).enqueue(7)

    assert what_is_there(on_postgres) == BOTH


@pytest.mark.postgres
def test_a_connection_to_another_kind_of_database_is_refused(on_sqlite, postgres_url):
    with psycopg.connect(postgres_url) as connection, pytest.raises(Refused, match="The jobs are on sqlite"):
        bill.using(connection=connection).enqueue(7)
    with pytest.raises(Refused, match=r"builtins\.object cannot carry an enqueue"):
        bill.using(connection=object()).enqueue(7)

    assert what_is_there(on_sqlite) == NOTHING
