"""A worker that is told to stop claims nothing more, waits for its grace, and gives back what it could not finish."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from haulwright import Context
from haulwright.errors import LeaseLost
from tests.runtime.waiting import eventually


@pytest.fixture
def stubborn(app) -> Callable[[], object]:
    """A task that runs until it is allowed to end, and then says what became of its lease."""
    begun, let_go, told = threading.Event(), threading.Event(), []

    @app.task(name="stubborn")
    def run(ctx: Context) -> str:
        begun.set()
        let_go.wait(90)
        try:
            ctx.progress(1)
        except LeaseLost:
            told.append("lost")
        return "done"

    run.begun, run.let_go, run.told = begun, let_go, told
    yield run
    let_go.set()


@pytest.mark.proves("CLM-16", "GU-04")
def test_a_stop_gives_back_what_does_not_end_in_time_and_burns_no_attempt(app, start_worker, stubborn):
    handle = stubborn.enqueue()
    worker = start_worker(grace=0.05)
    eventually(stubborn.begun.is_set)

    worker.stop()
    eventually(lambda: handle.state() == "queued")
    stubborn.let_go.set()

    eventually(lambda: stubborn.told == ["lost"])
    job = handle.job()
    assert (job.state, job.attempts, job.losses, job.fence) == ("queued", 0, 0, 1)
    assert [event.name for event in app.operations().jobs.timeline(handle.id).rows][-1] == "job.released"


def test_a_stop_lets_runs_finish_within_the_grace_and_claims_nothing_more(start_worker, stubborn, monkeypatch):
    first = stubborn.enqueue()
    worker = start_worker(grace=120)
    eventually(stubborn.begun.is_set)
    ending, drop_all = threading.Event(), worker._executor.drop_all
    monkeypatch.setattr(worker._executor, "drop_all", lambda: ending.set() or drop_all())

    worker.stop()
    eventually(ending.is_set)  # a claim that was under way is over
    second = stubborn.enqueue()
    stubborn.let_go.set()

    assert first.result(90) == "done"
    assert (second.state(), second.job().fence) == ("queued", 0)


def test_a_second_stop_does_not_wait_for_the_grace(start_worker, stubborn):
    handle = stubborn.enqueue()
    worker = start_worker(grace=600)
    eventually(lambda: handle.state() == "running")

    worker.stop()
    worker.stop()

    eventually(lambda: handle.state() == "queued")


def test_a_stop_ends_asynchronous_runs(app, start_worker):
    ended: list[str] = []

    @app.task()
    async def sleeper() -> None:
        try:
            await asyncio.sleep(600)
        finally:
            ended.append("cleaned up")

    handle = sleeper.enqueue()
    worker = start_worker(grace=0)
    eventually(lambda: handle.state() == "running")
    worker.stop()

    eventually(lambda: ended == ["cleaned up"])
    assert (handle.state(), handle.job().attempts) == ("queued", 0)
