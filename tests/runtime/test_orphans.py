"""A run that is held and in nobody's hands is found: its outcome is settled; without one, its job is given back."""

from __future__ import annotations

import asyncio
import threading

import pytest

from haulwright import Observer
from haulwright.runtime import orphans
from haulwright.runtime.async_executor import AsyncExecutor
from haulwright.runtime.executor import Executor
from haulwright.runtime.orphans import Orphans
from haulwright.runtime.settler import Settler
from tests.runtime.waiting import eventually


class Ends(Observer):
    """Which runs were not started, and which were settled."""

    def __init__(self):
        self.not_begun, self.ends = [], []

    def not_started(self, event):
        self.not_begun.append(event)

    def settled(self, event):
        self.ends.append(event)


@pytest.fixture
def ends(app):
    ends = Ends()
    app.observe(ends)
    return ends


@pytest.fixture
def soon(monkeypatch):
    """Looks are frequent, and soon sure of themselves."""
    monkeypatch.setattr(orphans, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(orphans, "ORPHAN_SECONDS", 0.3)
    monkeypatch.setattr("haulwright.engine.lease.START_WAIT_SECONDS", 0.1)


def dropping(monkeypatch, kind, name, first=1):
    """Let a method forget what it is given, the first time."""
    method, left = getattr(kind, name), [first]

    def drop(self, *args, **options):
        if left[0]:
            left[0] -= 1
            return None
        return method(self, *args, **options)

    monkeypatch.setattr(kind, name, drop)


@pytest.fixture
def dropped(request, monkeypatch):
    """What a method is given the first time goes nowhere."""
    dropping(monkeypatch, *request.param)


@pytest.mark.usefixtures("soon", "dropped")
@pytest.mark.parametrize("name", ["plain", "asynchronous"])
@pytest.mark.parametrize("dropped", [(Executor, "take"), (Executor, "_run"), (AsyncExecutor, "wake")], indirect=True)
def test_a_claim_that_no_executor_knows_is_given_back_and_burns_no_attempt(app, start_worker, ends, name):
    runs = []

    @app.task()
    def plain() -> str:
        runs.append(1)
        return "done"

    @app.task()
    async def asynchronous() -> str:
        runs.append(1)
        return "done"

    handle = app.tasks[name].enqueue()
    start_worker(concurrency=2)

    assert handle.result(90) == "done"
    assert (runs, handle.job().attempts, handle.job().losses) == ([1], 1, 0)
    assert all("had it in hand" in event.failure.message for event in ends.not_begun)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("name", ["plain", "asynchronous"])
def test_a_run_that_had_ended_when_it_was_dropped_is_settled_and_not_run_again(
    app, start_worker, ends, monkeypatch, name
):
    runs = []

    @app.task(retry=1)
    def plain() -> None:
        runs.append(1)
        raise ValueError("its own")

    @app.task(retry=1)
    async def asynchronous() -> None:
        runs.append(1)
        raise ValueError("its own")

    dropping(monkeypatch, Settler, "add")
    handle = app.tasks[name].enqueue()
    start_worker(concurrency=2)

    eventually(lambda: handle.state() == "dead")
    assert (runs, handle.job().attempts, handle.job().error_message) == ([1], 1, "its own")
    assert ends.not_begun == []


@pytest.mark.usefixtures("soon")
def test_runs_that_wait_run_or_are_settled_are_in_good_hands(app, start_worker, ends, monkeypatch):
    """However long each of these takes: nothing is given back that somebody has."""
    go, looks = threading.Event(), []
    check = Orphans.check
    monkeypatch.setattr(Orphans, "check", lambda self: looks.append(1) or check(self))

    @app.task()
    def plain() -> str:
        go.wait(90)
        return "done"

    @app.task()
    async def asynchronous() -> str:
        await asyncio.to_thread(go.wait, 30)
        return "done"

    handles = [task.enqueue() for task in (plain, asynchronous) * 4]
    start_worker(concurrency=4)
    eventually(lambda: len(looks) > 2)
    go.set()

    assert {handle.result(90) for handle in handles} == {"done"}
    assert {(handle.job().attempts, handle.job().fence) for handle in handles} == {(1, 1)}
    assert ends.not_begun == []


class Held:
    """As much of a run as a look needs."""

    def __init__(self, key):
        self.key = key


class Moments:
    now = 1000.0

    def monotonic(self):
        return self.now


def test_only_what_every_look_finds_in_nobodys_hands_is_an_orphan(monkeypatch):
    """What moves from hand to hand while somebody looks is not."""
    moments, adopted, held, in_hand = Moments(), [], [Held("a"), Held("b"), Held("c")], []
    monkeypatch.setattr(orphans, "time", moments)
    finder = Orphans(lambda: held, lambda: in_hand, lambda run: adopted.append(run.key))
    finder.check()
    in_hand.append(held[1])
    for moments.now in (1002, 1004):
        finder.check()
    in_hand.clear()
    del held[2]
    for moments.now in (1006, 1008):
        finder.check()

    assert adopted == ["a", "a"]
    moments.now = 1011
    finder.check()
    assert adopted == ["a", "a", "a", "b"]
