"""Our own trouble is never the job's: while the database takes no writes everything waits, and nothing is lost."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import closing, contextmanager

import pytest

from haulwright import Context, Haulwright, Observer
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from tests.runtime.waiting import eventually
from tests.support.outages import full_disk, read_only_server


@pytest.fixture(params=["full disk", pytest.param("read-only server", marks=pytest.mark.postgres)])
def outage(request, tmp_path):
    """A database that can stop taking writes."""
    if request.param == "full disk":
        outages = full_disk(tmp_path)
    else:
        outages = read_only_server(request.getfixturevalue("postgres_server"))
    with outages as outage:
        with closing(open_database(outage.url)) as database:
            migrations.migrate(database)
        yield outage


@pytest.fixture
def app(outage):
    with closing(Haulwright(outage.url)) as app:
        yield app


class Troubles(Observer):
    """Which parts of a worker told of trouble, and how runs ended."""

    def __init__(self):
        self.parts, self.outcomes = set(), []

    def troubled(self, event):
        self.parts.add(event.where)

    def ended(self, event):
        self.outcomes.append(event.outcome)


@contextmanager
def during(outage):
    outage.begin()
    try:
        yield
    finally:
        outage.end()


def test_a_database_without_writes_ends_no_worker_loses_no_outcome_and_burns_no_attempt(app, outage, start_worker):
    """What ran meanwhile is not run again: its outcome is kept until it can be written."""
    runs, everybody_runs, go, troubles = Counter(), threading.Barrier(5), threading.Event(), Troubles()

    @app.task(lease="3 s")
    def hold(n: int) -> int:
        runs[n] += 1
        everybody_runs.wait(90)
        go.wait(60)
        return n

    @app.task()
    def note(n: int) -> int:
        runs[n] += 1
        return n

    app.observe(troubles)
    handles = [hold.enqueue(n) for n in range(4)] + [note.enqueue(n) for n in range(4, 20)]
    start_worker(concurrency=4)
    everybody_runs.wait(90)

    with during(outage):
        go.set()
        eventually(lambda: {"settle", "heartbeat"} <= troubles.parts)

    assert [handle.result(90) for handle in handles] == list(range(20))
    assert set(runs.values()) == {1}
    assert {(handle.job().attempts, handle.job().losses) for handle in handles} == {(1, 0)}


def test_a_run_that_meets_such_a_database_waits_and_burns_no_attempt(app, outage, start_worker):
    met, go, troubles = threading.Event(), threading.Event(), Troubles()

    @app.task(retry=1)
    def work(ctx: Context) -> str:
        if not met.is_set():
            met.set()
            go.wait(90)
        ctx.progress(1)
        return "done"

    app.observe(troubles)
    handle = work.enqueue()
    start_worker(concurrency=1)
    met.wait(90)

    with during(outage):
        go.set()
        eventually(lambda: troubles.outcomes == ["snooze"] and "settle" in troubles.parts)

    assert handle.result(90) == "done"
    assert (handle.job().attempts, handle.job().losses) == (1, 0)
