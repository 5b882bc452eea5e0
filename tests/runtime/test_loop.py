"""A loop survives whatever its step raises, says so once, and ends when it is told to."""

from __future__ import annotations

import logging
import threading

import pytest

from haulwright import Observer
from haulwright.errors import DatabaseUnavailable
from haulwright.runtime import loop as loops
from haulwright.runtime.loop import BROKEN_EXIT, Loop, WorkerBroken
from haulwright.runtime.observers import Observers
from tests.runtime.waiting import eventually

ERRORS = [RuntimeError("no"), MemoryError(), RecursionError("deep"), SystemExit(3), KeyboardInterrupt()]


class Moments:
    """A monotonic clock that a test moves."""

    now = 1000.0

    def monotonic(self):
        return self.now


class Listening(Observer):
    """What was told of loops."""

    def __init__(self):
        self.failures, self.troubles, self.stuck = [], [], []

    def loop_failed(self, event):
        self.failures.append(event)

    def troubled(self, event):
        self.troubles.append(event)

    def loop_stuck(self, event):
        self.stuck.append(event)


def do(act):
    """Raise it, or call it."""
    if isinstance(act, BaseException):
        raise act
    act()


@pytest.fixture
def listening():
    return Listening()


@pytest.fixture
def moments(monkeypatch):
    moments = Moments()
    monkeypatch.setattr(loops, "time", moments)
    return moments


@pytest.fixture
def steps():
    """What each step of the loop does, the first first; the one after the last ends it."""
    return []


@pytest.fixture
def a_loop(steps, listening):
    """A loop that does these steps without a pause."""

    def step():
        if not steps:
            loop.end()
            return
        do(steps.pop(0))

    loop = Loop("heartbeat", step, Observers.logged("w1", [listening]), longest_pause=lambda: 0.0)
    return loop


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_the_thread_of_a_loop_lives_whatever_its_step_raises(a_loop, steps, listening, error):
    worked = threading.Event()
    steps += [error, error, worked.set]
    a_loop.start()

    assert worked.wait(90)
    a_loop.stop()
    assert not a_loop.is_alive
    assert [event.loop for event in listening.failures] == ["heartbeat"] * 2
    assert type(error).__name__ in listening.failures[0].error


def test_a_storm_of_one_kind_is_one_line_and_the_next_line_counts_it(a_loop, steps, caplog, monkeypatch):
    moments = Moments()
    monkeypatch.setattr("haulwright.runtime.log_lines.time", moments)
    steps += [RuntimeError("no")] * 50 + [MemoryError()]
    steps += [lambda: setattr(moments, "now", 1061.0), RuntimeError("no")]
    with caplog.at_level(logging.INFO, "haulwright.worker"):
        a_loop.run()

    lines = [(record.facts["error"], record.facts["failures"]) for record in caplog.records]
    assert lines == [("RuntimeError: no", 1), ("MemoryError: ", 1), ("RuntimeError: no", 50)]
    assert {record.message for record in caplog.records} == {"heartbeat: it failed and goes on"}


def test_a_loop_survives_the_failure_of_its_own_telling(steps):
    class Deaf(Observers):
        def failed(self, *_):
            raise MemoryError

    worked = []
    steps += [RuntimeError("no"), lambda: worked.append(1)]
    loop = Loop("settle", lambda: do(steps.pop(0)) if steps else loop.end(), Deaf("w1"), longest_pause=lambda: 0.0)
    loop.run()

    assert worked == [1]


@pytest.mark.parametrize(
    ("every", "count", "is_stuck"),
    [(5.0, 13, True), (5.0, 12, False), (1.0, 61, True), (12.0, 9, False), (20.0, 30, False)],
    ids=["for a minute", "not quite", "often", "seldom", "with breaks"],
)
def test_a_loop_that_does_nothing_but_fail_for_a_minute_is_stuck(listening, moments, every, count, is_stuck):
    loop = Loop("heartbeat", lambda: None, Observers("w1", [listening]))
    for _ in range(count):
        loop.note(RuntimeError("no"))
        moments.now += every

    assert [(event.loop, event.error) for event in listening.stuck][:1] == [
        ("heartbeat", "RuntimeError: no")
    ] * is_stuck


def test_an_hour_without_a_database_is_no_reason_to_end(listening, moments):
    loop = Loop("heartbeat", lambda: None, Observers("w1", [listening]))
    for place in range(720):
        loop.note(RuntimeError("no") if place % 100 == 99 else DatabaseUnavailable("away"))
        moments.now += 5

    assert listening.stuck == []
    assert len(listening.troubles) == 713


def test_one_good_step_is_a_new_beginning(a_loop, steps, listening, moments):
    def later():
        moments.now += 5

    for _ in range(6):
        steps += [RuntimeError("no"), RuntimeError("no"), later]
    steps += [RuntimeError("no")] * 20
    a_loop.run()

    assert listening.stuck == []


def test_a_loop_without_which_the_promises_hold_is_never_stuck(listening, moments):
    loop = Loop("listener", lambda: None, Observers("w1", [listening]), is_vital=False)
    for _ in range(100):
        loop.note(RuntimeError("no"))
        moments.now += 5

    assert listening.stuck == []


def test_a_loop_that_waits_ends_at_once_and_closes_what_it_had():
    closed = threading.Event()
    loop = Loop("maintenance", lambda: 3600.0, Observers("w1"), on_end=closed.set)
    loop.start()
    eventually(lambda: loop.is_alive)
    loop.stop()

    assert (loop.is_alive, closed.is_set()) == (False, True)


def test_whoever_stops_a_loop_that_hangs_does_not_wait_for_ever():
    let_go = threading.Event()
    loop = Loop("heartbeat", lambda: let_go.wait(60), Observers("w1"))
    loop.start()
    loop.stop(timeout=0.05)

    assert loop.is_alive
    let_go.set()
    eventually(lambda: not loop.is_alive)


def test_what_ended_a_worker_is_said_with_its_exit_code(listening):
    observers = Observers("w1", [listening])
    observers.loop_stuck("settle", RuntimeError("password=hunter2"), 14, 61.2)
    error = WorkerBroken(listening.stuck[0])

    assert (error.exit_code, error.loop, error.failures) == (BROKEN_EXIT, "settle", 14)
    assert "hunter2" not in str(error)
