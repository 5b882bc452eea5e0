"""An idle worker hears of a new job: by the bell of its database, and by asking where that is silent."""

from __future__ import annotations

import select
import threading
import time
import uuid
from contextlib import closing
from types import SimpleNamespace

import psycopg
import pytest

from haulwright import Haulwright
from haulwright.runtime import worker
from haulwright.runtime.options import WorkerOptions
from haulwright.runtime.worker import BEGIN_SECONDS, Worker
from haulwright.settings import Settings
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.postgres.listener import SilentListener
from haulwright.stores.sqlite.listener import SqliteListener


@pytest.fixture
def postgres_url(postgres_server):
    """A database of its own: a bell rings for whoever listens in one, whatever the schema of the job."""
    name = f"bell_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute(f"create database {name}")
        yield postgres_server.url(name)
        connection.execute(f"drop database {name} with (force)")


@pytest.fixture
def ready_url(database_url):
    database = open_database(database_url)
    migrations.migrate(database)
    database.close()
    return database_url


def test_an_enqueue_rings_the_bell_of_whoever_listens(ready_url):
    with closing(Haulwright(ready_url)) as app:

        @app.task()
        def work() -> None: ...

        with closing(app.store.database.listen()) as bell:
            assert not bell.wait(0.01)
            work.enqueue()
            assert bell.wait(90)


def test_a_job_for_later_does_not_ring(postgres_url):
    database = open_database(postgres_url)
    migrations.migrate(database)
    database.close()
    with closing(Haulwright(postgres_url)) as app:

        @app.task()
        def work() -> None: ...

        with closing(app.store.database.listen()) as bell:
            assert not bell.wait(0.01)
            work.using(delay="1 h").enqueue()
            assert not bell.wait(0.2)


def test_where_folders_cannot_be_watched_the_version_of_the_file_tells(sqlite_url, monkeypatch):
    monkeypatch.setattr("haulwright.stores.sqlite.listener._new_watch", lambda: None)
    with closing(Haulwright(sqlite_url)) as app:

        @app.task()
        def work() -> None: ...

        app.store.now()
        with closing(SqliteListener(app.store.database.path)) as bell:
            assert not bell.wait(0.01)
            work.enqueue()
            assert bell.wait(90)


def test_commits_ring_once_in_a_while_however_many_pieces_they_write(sqlite_url, monkeypatch):
    """Who is woken by the first piece is not kept from work by the others, and hears what came meanwhile."""
    monkeypatch.setattr("haulwright.stores.sqlite.listener.RING_SECONDS", 60.0)
    with closing(Haulwright(sqlite_url)) as app:

        @app.task()
        def work() -> None: ...

        app.store.now()
        with closing(SqliteListener(app.store.database.path)) as bell:
            work.enqueue()
            rings: list[bool] = []
            listening = threading.Thread(target=lambda: rings.extend(bell.wait(0.05) for _ in range(20)))
            listening.start()
            for _ in range(20):
                work.enqueue()
            listening.join()
            monkeypatch.setattr("haulwright.stores.sqlite.listener.RING_SECONDS", 0.0)

            assert (sum(rings), bell.wait(90)) == (1, True)


def test_an_idle_worker_does_not_wait_for_its_next_look(ready_url):
    with closing(Haulwright(ready_url)) as app:
        ran = threading.Event()

        @app.task()
        def work() -> None:
            ran.set()

        worker = Worker(app, WorkerOptions(poll_interval=3600), Settings.load())
        worker._idle._seconds = 3600  # as after a long idle time
        thread = threading.Thread(target=worker.run)
        thread.start()
        try:
            work.enqueue()
            assert ran.wait(90)
        finally:
            worker.stop()
            thread.join()


def test_a_ring_that_comes_while_the_worker_asks_is_not_slept_over(ready_url, monkeypatch):
    """The job is written after the claim has looked, and rings before the worker lies down."""
    with closing(Haulwright(ready_url)) as app:
        ran = threading.Event()

        @app.task()
        def work() -> None:
            ran.set()

        worker = Worker(app, WorkerOptions(poll_interval=3600), Settings.load())
        claim = app.store.leases.claim

        def claim_nothing_and_hear(*asked, **bounds):
            monkeypatch.setattr(app.store.leases, "claim", claim)
            leases = claim(*asked, **bounds)
            work.enqueue()
            worker._on_notify()
            worker._idle._seconds = 3600
            return leases

        monkeypatch.setattr(app.store.leases, "claim", claim_nothing_and_hear)
        monkeypatch.setattr(app.store.database, "listen", SilentListener)
        thread = threading.Thread(target=worker.run)
        thread.start()
        try:
            assert ran.wait(90)
        finally:
            worker.stop()
            thread.join(20)


def test_a_worker_writes_fewer_rows_at_once_while_others_enqueue(postgres_url):
    database = open_database(postgres_url)
    migrations.migrate(database)
    database.close()
    with closing(Haulwright(postgres_url)) as app, closing(app.store.database.listen()) as bell:

        @app.task()
        def work() -> None: ...

        assert not bell.wait(0.01)
        alone = app.store.database.batch_size
        work.enqueue()
        assert bell.wait(90)
        assert app.store.database.batch_size < alone


def test_other_files_of_the_folder_ring_nothing(sqlite_url, tmp_path):
    with closing(Haulwright(sqlite_url)) as app:

        @app.task()
        def work() -> None: ...

        work.enqueue()
        with closing(SqliteListener(app.store.database.path)) as bell:
            (tmp_path / "another-wal").write_bytes(b"x")
            (watched, _, _) = select.select([bell._watch], [], [], 0)
            work.enqueue()

            assert watched == []
            assert bell.wait(90)


def test_the_bell_goes_on_when_the_log_goes_and_comes(sqlite_url):
    """The last one who has the file open removes the log; the next one makes another."""
    with closing(Haulwright(sqlite_url)) as app:

        @app.task()
        def work() -> None: ...

        work.enqueue()
        path = app.store.database.path
        with closing(SqliteListener(path)) as bell:
            app.close()
            assert not path.with_name(f"{path.name}-wal").exists()
            while bell.wait(0.05):
                pass
            work.enqueue()
            assert bell.wait(90)
            while bell.wait(0.05):
                pass
            work.enqueue()
            assert bell.wait(90)


def test_a_worker_looks_for_more_at_once_where_its_own_commits_do_not_ring(ready_url, monkeypatch):
    pauses = []
    monkeypatch.setattr(worker, "time", SimpleNamespace(sleep=pauses.append, monotonic=time.monotonic))
    with closing(Haulwright(ready_url)) as app:

        @app.task()
        def note() -> None: ...

        note.enqueue()
        app.run_worker(until_empty=True)

        assert (BEGIN_SECONDS in pauses) == (app.store.database.dialect == "sqlite")
