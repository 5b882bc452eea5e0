"""A worker takes ahead what it will run in a moment, and keeps nothing that others could run sooner."""

from __future__ import annotations

import threading

import pytest

from haulwright import State
from haulwright.runtime.prefetch import AHEAD_SECONDS, MOST_AHEAD, Prefetch
from tests.runtime.waiting import eventually


class Watch:
    """A clock that is set by hand."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def watch():
    return Watch()


def test_a_worker_that_ran_nothing_yet_takes_nothing_ahead(watch):
    assert Prefetch(watch).ahead == 0


def test_short_runs_are_taken_ahead_as_many_as_end_in_a_moment(watch):
    appetite = Prefetch(watch)

    for _ in range(10):
        watch.seconds += 0.1
        appetite.ended(100)

    assert appetite.ahead == int(1000 * AHEAD_SECONDS)


def test_however_short_the_runs_are_the_number_is_bounded(watch):
    appetite = Prefetch(watch)

    watch.seconds += 0.1
    appetite.ended(1_000_000)

    assert appetite.ahead == MOST_AHEAD


def test_what_is_taken_ahead_shrinks_when_runs_stop_ending(watch):
    appetite = Prefetch(watch)
    watch.seconds += 0.1
    appetite.ended(1000)

    watch.seconds += 10

    assert appetite.ahead == 0


def test_a_worker_held_up_by_long_runs_gives_back_what_it_took_ahead(app, start_worker, monkeypatch):
    go_on = threading.Event()
    greed = [5]
    monkeypatch.setattr(Prefetch, "ahead", property(lambda _: greed[0]))

    @app.task()
    def long() -> None:
        go_on.wait()

    handles = app.enqueue_many(long.call() for _ in range(6))
    start_worker(concurrency=1)
    eventually(lambda: {handle.state() for handle in handles} == {State.RUNNING})

    greed[0] = 0

    eventually(lambda: sorted(handle.state() for handle in handles) == ["queued"] * 5 + ["running"])
    assert {handle.job().attempts for handle in handles[1:]} == {0}
    go_on.set()
    eventually(lambda: {handle.state() for handle in handles} == {State.SUCCEEDED})
