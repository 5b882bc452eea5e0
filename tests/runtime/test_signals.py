"""Cancel, time limit and loss reach a run: an asynchronous one is ended, a plain one is told at its next call."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing

import pytest

from haulwright import Context, Retry
from haulwright.runtime.prefetch import Prefetch
from tests.runtime import importable
from tests.runtime.importable import until_told
from tests.runtime.waiting import eventually


@pytest.fixture(autouse=True)
def tasks(app):
    """Tasks that would run for a long while; a short lease makes for a quick heartbeat."""

    @app.task(lease="1 s")
    async def sleeper() -> None:
        await asyncio.sleep(20)

    @app.task(lease="1 s")
    def worker(ctx: Context) -> None:
        until_told(ctx)

    @app.task(timeout="0.1 s", retry=Retry(1))
    async def slow_sleeper() -> None:
        await asyncio.sleep(20)

    @app.task(timeout="0.1 s", retry=Retry(1))
    def slow_worker(ctx: Context) -> None:
        until_told(ctx)


@pytest.mark.parametrize("name", ["sleeper", "worker"])
def test_a_cancel_ends_a_running_job(app, start_worker, name):
    handle = app.tasks[name].enqueue()
    start_worker()
    eventually(lambda: handle.state() == "running")

    app.operations().jobs.cancel(handle.id, "not needed")
    eventually(lambda: handle.state() != "running")

    job = handle.job()
    assert (job.state, job.reason, job.attempts) == ("cancelled", "not needed", 1)


@pytest.mark.proves("RT-09", "HB-08")
@pytest.mark.parametrize("name", ["slow_sleeper", "slow_worker"])
def test_a_time_limit_ends_a_run(app, name):
    handle = app.tasks[name].enqueue()
    app.run_worker(until_empty=True)

    job = handle.job()
    assert (job.state, job.error_code, job.error_message) == ("dead", "timed_out", "the run passed its time limit")


def test_a_time_limit_of_the_call_stands_above_that_of_the_task(app):
    @app.task(timeout="1 h", retry=Retry(1))
    async def patient() -> None:
        await asyncio.sleep(3600)  # longer than any test may take

    handle = patient.using(timeout="0.01 s").enqueue()
    app.run_worker(until_empty=True)

    assert handle.job().error_code == "timed_out"


def test_a_time_out_of_the_tasks_own_is_not_its_time_limit(app):
    @app.task(timeout="20 s", retry=Retry(1))
    async def asks() -> None:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(20)

    handle = asks.enqueue()
    app.run_worker(until_empty=True)

    assert handle.job().error_code == "timeout"


@pytest.fixture
def by_name(database_url, monkeypatch):
    """An app that a child process finds by its name; closed after the workers that the test starts."""
    monkeypatch.setenv("HAULWRIGHT_DATABASE_URL", database_url)
    importable.told.clear()
    with closing(importable.app):
        yield importable


@pytest.mark.proves("GU-04", "CLM-12", "RT-03")
def test_a_run_that_lost_its_lease_is_told_and_its_result_is_discarded_and_counted(app, by_name, start_worker):
    """The same worker takes the job again while its first run still goes on."""
    handle = by_name.late.enqueue()
    worker = start_worker(by_name.app, grace=20)
    eventually(lambda: handle.state() == "running")
    app.store.recovery.recover([handle.job().worker_id])

    assert handle.result(90) == "second"
    eventually(lambda: by_name.told == ["lost"])
    worker.stop()
    eventually(lambda: [row.refused for row in app.store.workers.list(everyone=True)] == [1])


def test_a_job_that_is_cancelled_while_it_waits_in_hand_is_never_begun(app, start_worker, monkeypatch):
    begun: list[int] = []
    monkeypatch.setattr(Prefetch, "ahead", property(lambda _: 1))

    @app.task(lease="1 s")
    def work(ctx: Context, n: int) -> None:
        begun.append(n)
        if n == 0:
            until_told(ctx)

    first, second = work.enqueue(0), work.enqueue(1)
    worker = start_worker(concurrency=1)
    eventually(lambda: [first.state(), second.state()] == ["running", "running"])
    app.operations().jobs.cancel(second.id)
    eventually(lambda: app.store.listing.get(second.id).cancel_reason is not None)
    eventually(lambda: second.id in {run.lease.id for run in worker._held_runs() if run.context.signals.cancelled})
    app.operations().jobs.cancel(first.id)

    eventually(lambda: [first.state(), second.state()] == ["cancelled", "cancelled"])
    assert begun == [0]


@pytest.mark.proves("HB-01", "HB-13")
def test_a_heartbeat_keeps_a_job_alive_that_takes_longer_than_its_lease(app, start_worker):
    """Claimed by an idle worker, whose next heartbeat would have been far away; another one sweeps meanwhile."""

    @app.task(lease="1 s")
    def long() -> str:
        time.sleep(1.6)
        return "done"

    start_worker(name="a")
    start_worker(name="b")
    eventually(lambda: len(app.store.workers.list()) == 2)
    time.sleep(0.2)
    handle = long.enqueue()

    assert handle.result(90) == "done"
    job = handle.job()
    assert (job.losses, job.attempts, job.fence) == (0, 1, 1)
