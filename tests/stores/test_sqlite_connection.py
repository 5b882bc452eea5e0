"""SQLite for many processes of one host: writers wait for each other, patiently and fairly, and say so if in vain."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

from haulwright.engine.ids import new_id
from haulwright.errors import DatabaseUnavailable
from haulwright.stores.sqlite import connection as sqlite_connection
from haulwright.stores.store import Store
from tests.stores.scenes import claim, count, new_job, race


@pytest.fixture
def store(sqlite_url, clock):
    with closing(Store.open(sqlite_url, clock=clock)) as store:
        yield store


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(sqlite_connection, "PATIENCE_SECONDS", 0.05)


@pytest.mark.usefixtures("impatient")
def test_a_file_that_somebody_keeps_locked_is_told_with_what_to_do(store, sqlite_url):
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)) as other:
        other.execute("begin immediate")

        with pytest.raises(DatabaseUnavailable, match="was locked by another process") as refusal:
            store.jobs.enqueue([new_job()])

        assert "nothing of this one was written" in refusal.value.hint
        other.execute("rollback")
    store.jobs.enqueue([new_job()])


@pytest.mark.usefixtures("impatient")
def test_readers_do_not_wait_for_a_writer(store, sqlite_url):
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)) as other:
        other.execute("begin immediate")

        assert store.queues.counts() == []


def test_writers_of_many_threads_lose_nothing(store):
    race(*[lambda: [store.jobs.enqueue([new_job()]) for _ in range(25)]] * 6)

    assert count(store, "haulwright_jobs") == 150


def test_a_transaction_that_raises_is_rolled_back_and_its_connection_used_again(sqlite_url, clock):
    with closing(Store.open(sqlite_url, clock=clock, pool_size=1)) as store:
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                store.database.transact(lambda c: (store.jobs.enqueue_on(c, [new_job()]), 1 / 0))

        assert count(store, "haulwright_jobs") == 0
        store.jobs.enqueue([new_job()])


def test_an_error_of_the_callers_own_sql_is_left_as_it_is(store):
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        store.database.transact(lambda connection: connection.execute("select * from nowhere"))


@pytest.mark.crash
def test_an_acknowledged_enqueue_survives_the_death_of_its_process(sqlite_url):
    code = """
        import os, signal, sys
        from haulwright.engine.ids import new_id
        from haulwright.engine.job import NewJob
        from haulwright.stores.store import Store
        store = Store.open(sys.argv[1])
        for _ in range(20):
            store.jobs.enqueue([NewJob(id=new_id(), task="work", args="{}")])
        print("acknowledged", flush=True)
        store.database.transact(lambda c: (store.jobs.enqueue_on(c, [NewJob(id=new_id(), task="work", args="{}")]),
                                           os.kill(os.getpid(), signal.SIGKILL)))
    """
    told = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), sqlite_url], capture_output=True, text=True, check=False
    )

    assert (told.stdout.strip(), told.returncode) == ("acknowledged", -9)
    with closing(Store.open(sqlite_url)) as store:
        assert count(store, "haulwright_jobs") == 20


def test_a_forked_child_uses_connections_of_its_own(store):
    """Pre-fork servers open the store before they fork."""
    code = """
        import os, sys
        from haulwright.engine.ids import new_id
        from haulwright.engine.job import NewJob
        from haulwright.stores.store import Store
        store = Store.open(sys.argv[1])
        mine = [id(c) for c in store.database._pool._stack.idle]
        if os.fork() == 0:
            store.jobs.enqueue([NewJob(id=new_id(), task="child", args="{}")])
            theirs = [id(c) for c in store.database._pool._stack.idle]
            store.close()
            os._exit(0 if set(mine).isdisjoint(theirs) else 1)
        print(os.wait()[1])
        store.jobs.enqueue([NewJob(id=new_id(), task="parent", args="{}")])
    """
    path = store.database.path

    told = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), f"sqlite:///{path}"], capture_output=True, text=True, check=False
    )

    assert told.stdout.strip() == "0", told.stderr
    assert count(store, "haulwright_jobs") == 2


def test_a_crowd_takes_smaller_steps_while_others_enqueue(store, sqlite_url):
    """What one transaction writes is a few milliseconds' worth where somebody may wait for its end."""
    store.jobs.enqueue([new_job() for _ in range(50)])
    with closing(Store.open(sqlite_url, clock=store.database.clock)) as other:
        other.jobs.enqueue([new_job()])
        store.jobs.enqueue([new_job() for _ in range(50)])

    assert store.database.batch_size == sqlite_connection.ROWS_IN_COMPANY < sqlite_connection.ROWS_ALONE
    assert store.database.load_batch_size == sqlite_connection.ROWS_IN_COMPANY


def test_two_crowds_take_large_steps_in_turn_while_nobody_enqueues(store, sqlite_url):
    """Workers that drain a backlog wait for each other, and keep nobody's enqueue waiting."""
    store.jobs.enqueue([new_job() for _ in range(60)])
    with closing(Store.open(sqlite_url, clock=store.database.clock)) as other:
        assert len(claim(other, new_id(), batch=20)) == 20
        assert len(claim(store, new_id(), batch=20)) == 20

    assert store.database.batch_size == sqlite_connection.ROWS_ALONE
    assert store.database.load_batch_size == sqlite_connection.ROWS_IN_COMPANY


def test_a_writer_alone_is_not_slowed_down(store, monkeypatch):
    monkeypatch.setattr(sqlite_connection, "COMPANY_SECONDS", 0)
    naps = []
    monkeypatch.setattr(sqlite_connection.time, "sleep", naps.append)

    store.jobs.enqueue([new_job() for _ in range(1200)])

    assert (naps, count(store, "haulwright_jobs")) == ([], 1200)


def test_a_file_that_is_made_is_for_its_owner_alone(sqlite_url):
    """It holds what jobs are given; so do its logs."""
    with closing(Store.open(sqlite_url)) as store:
        store.jobs.enqueue([new_job()])
        path = store.database.path
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.glob(f"{path.name}*")}

    assert modes == {path.name: 0o600, f"{path.name}-wal": 0o600, f"{path.name}-shm": 0o600}


def test_the_mode_of_a_file_that_is_there_is_its_owners_matter(sqlite_url):
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    path.touch(0o640)
    path.chmod(0o640)

    with closing(Store.open(sqlite_url)):
        assert path.stat().st_mode & 0o777 == 0o640
