"""Asynchronous jobs share lanes of the event loop, and nothing else: no job sees or feels the one before it."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

import pytest

from haulwright import State
from haulwright.runtime.prefetch import Prefetch
from tests.runtime.waiting import eventually

mood: ContextVar[str] = ContextVar("mood", default="fresh")


def test_a_context_variable_that_a_job_sets_is_not_seen_by_the_next(app, start_worker):
    @app.task()
    async def leave_a_mood() -> str:
        before = mood.get()
        mood.set("stale")
        await asyncio.sleep(0)
        return f"{before}, then {mood.get()}"

    handles = app.enqueue_many(leave_a_mood.call() for _ in range(20))
    start_worker(concurrency=1)

    assert {handle.result(90) for handle in handles} == {"fresh, then stale"}


def test_jobs_that_wait_for_each_other_all_run_at_once(app, start_worker):
    arrived, all_here = [], asyncio.Event()

    @app.task()
    async def meet() -> None:
        arrived.append(1)
        if len(arrived) == 50:
            all_here.set()
        await all_here.wait()

    handles = app.enqueue_many(meet.call() for _ in range(50))
    start_worker(concurrency=50)

    eventually(lambda: {handle.state() for handle in handles} == {State.SUCCEEDED})


def test_the_end_of_one_job_is_not_the_end_of_the_next_in_its_lane(app, start_worker, monkeypatch):
    monkeypatch.setattr(Prefetch, "ahead", property(lambda _: 3))
    held = []

    @app.task()
    async def deaf() -> str:
        held.append(asyncio.current_task())
        held[0].cancel()  # as whoever ends a run does; it comes at the next wait, and this one has none
        return "heard"

    @app.task()
    async def next_one() -> str:
        held.append(asyncio.current_task())
        await asyncio.sleep(0)
        return "whole"

    first, second = deaf.enqueue(), next_one.enqueue()
    start_worker(concurrency=1)

    assert first.result(90) == "heard"
    assert second.result(90) == "whole"
    assert held[0] is not held[1]


def test_jobs_that_never_wait_do_not_keep_the_loop_from_those_that_do(app, start_worker):
    heard = []

    @app.task(priority=10)
    async def ticking() -> None:
        for _ in range(3):
            await asyncio.sleep(0.01)
            heard.append("tick")

    @app.task()
    async def busy() -> None:
        heard.append("busy")

    ticks = ticking.enqueue()
    app.enqueue_many(busy.call() for _ in range(3000))
    start_worker(concurrency=200)

    eventually(lambda: ticks.state() == "succeeded" and heard.count("busy") == 3000)
    assert "busy" in heard[heard.index("tick") :]


@pytest.mark.parametrize("error", [ValueError, asyncio.CancelledError, KeyboardInterrupt, SystemExit])
def test_a_lane_goes_on_whatever_a_job_raises(app, start_worker, error):
    @app.task()
    async def fails() -> None:
        await asyncio.sleep(0)
        raise error

    @app.task()
    async def works() -> str:
        return "done"

    fails.enqueue()
    start_worker(concurrency=1)

    assert works.enqueue().result(90) == "done"
