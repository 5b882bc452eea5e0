"""Real workers lose what they left, soon after it ran out, and what they hold they keep, whatever a clock says."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import closing

import psycopg
import pytest

from haulwright import Haulwright, events
from haulwright.clock import SECOND
from haulwright.engine.ids import new_id
from haulwright.settings import Settings
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from tests.runtime.test_recovery import a_worker, has_noted
from tests.runtime.waiting import eventually
from tests.support.outages import read_only_server

HOUR = 3600
SOON_SECONDS = 15
"""Far less than the minute between two sweeps; within two seconds on a machine that has nothing else to do."""
REASONS = "select reason, count(*) from haulwright_history where state = 'dead' group by reason"


@pytest.fixture
def settings(tmp_path):
    """The defaults."""
    return Settings.load({}, tmp_path)


def seconds_after_its_end(app, handle, lease_seconds):
    """How long after its lease ran out a job was taken back, by the database's clock."""
    (lost,) = [event for event in app.store.events.of_job(handle.id) if event.name == events.JOB_LEASE_EXPIRED]
    (started,) = [event for event in app.store.events.of_job(handle.id) if event.name == events.JOB_STARTED]
    return (lost.at - started.at) / SECOND - lease_seconds


@pytest.mark.crash
@pytest.mark.proves("HB-02", "HB-13")
def test_the_job_of_a_worker_that_is_frozen_is_taken_back_soon_after_its_lease_ran_out(app, start_worker, tmp_path):
    @app.task(lease="3 s")
    def work(n: int) -> int: ...

    handle = work.enqueue(1)
    with a_worker(tmp_path, app.database_url, lease="3 s") as frozen:
        eventually(lambda: has_noted(app, handle))
        os.kill(frozen.pid, signal.SIGSTOP)
        start_worker(queues=("other",))

        eventually(lambda: handle.job().losses == 1)

    assert 0 < seconds_after_its_end(app, handle, 3) < SOON_SECONDS


@pytest.fixture
def let_go():
    """Set by a test to let its runs end; at its end in any case."""
    event = threading.Event()
    yield event
    event.set()


class Looks:
    """Counts the looks that are made at the leases of a store."""

    def __init__(self, store, monkeypatch):
        self.count, look = 0, store.recovery.ending

        def ending(*words):
            found = look(*words)
            self.count += 1
            return found

        monkeypatch.setattr(store.recovery, "ending", ending)

    def wait_for(self, more):
        until = self.count + more
        eventually(lambda: self.count >= until)


@pytest.mark.proves("HB-03")
def test_a_jump_of_the_databases_clock_by_an_hour_takes_nothing_from_workers_that_live(
    bench, start_worker, monkeypatch, let_go
):
    app, running = bench.use(Haulwright()), threading.Barrier(5)

    @app.task()
    def work(n: int) -> int:
        running.wait(90)
        assert let_go.wait(60)
        return n

    handles = [work.enqueue(n) for n in range(4)]
    worker = start_worker(app, concurrency=4, grace=20)
    start_worker(app, queues=("other",))
    running.wait(90)
    looks = Looks(app.store, monkeypatch)

    for jump in (HOUR, -HOUR, -HOUR):
        bench.clock.advance(jump)
        looks.wait_for(4)
        worker._heartbeat.beat()
        looks.wait_for(2)
    let_go.set()

    assert [handle.result(90) for handle in handles] == [0, 1, 2, 3]
    assert {(handle.job().losses, handle.job().fence) for handle in handles} == {(0, 1)}


@pytest.fixture
def hasty_app(postgres_server):
    """An app on a database that ends every session that is idle for half a second."""
    with read_only_server(postgres_server) as database:
        with psycopg.connect(database.url, autocommit=True) as session:
            session.execute(f"alter database {session.info.dbname} set idle_session_timeout = '500ms'")
        with closing(open_database(database.url)) as opened:
            migrations.migrate(opened)
        with closing(Haulwright(database.url)) as app:
            yield app


@pytest.mark.postgres
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.proves("HB-02")
def test_a_server_that_cuts_idle_connections_keeps_no_lost_lease_from_being_taken_back(hasty_app, start_worker):
    """Each cut is mended at once: it is no outage, after which everybody would wait."""

    @hasty_app.task(lease="3 s")
    def work(n: int) -> int: ...

    handle = work.enqueue(1)
    hasty_app.store.leases.claim(new_id(), ["default"])
    start_worker(hasty_app, queues=("other",))

    eventually(lambda: handle.job().losses == 1)


def test_what_waited_past_its_deadline_while_no_worker_was_there_is_never_begun(app):
    begun = []

    @app.task(deadline="1 h")
    def work(n: int) -> None:
        begun.append(n)

    app.enqueue_many(work.call(n) for n in range(250))
    late = "update haulwright_jobs set deadline_at = 1"
    app.store.database.transact(lambda connection: connection.execute(late))
    in_time = work.enqueue(1_000)

    app.run_worker(until_empty=True, concurrency=10)

    assert begun == [1_000]
    assert in_time.state() == "succeeded"
    reasons = app.store.database.transact(lambda connection: connection.execute(REASONS))
    assert [tuple(row) for row in reasons] == [("deadline", 250)]
