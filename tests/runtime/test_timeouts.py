"""A `def` task that never returns costs its worker one thread and its job one attempt, and nobody else anything."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from haulwright import Context, Haulwright, Retry
from haulwright.engine.ids import new_id
from haulwright.engine.outcome import RetryLater
from haulwright.engine.transitions import State
from haulwright.errors import LeaseLost
from haulwright.runtime import settler
from haulwright.runtime.execution import Run
from haulwright.runtime.launch import run_worker
from haulwright.runtime.observers import SILENT
from haulwright.runtime.threads import LOST_THREADS_EXIT, LostThreads, ThreadsLost, is_overdue
from haulwright.settings import Settings
from tests.runtime.waiting import eventually

LIMITED = {"timeout": "0.1 s", "lease": "1 s"}
OVERDUE_SECONDS = 0.3
"""The limit, and the lease that `impatient` leaves."""


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """What a run waits for that never returns; it happens when the test is over."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """No sweeps: on a busy machine such short leases would be lost, and that is another story."""
    return Settings.load({"HAULWRIGHT_STALE_CHECK_INTERVAL_SECONDS": "3600"}, tmp_path)


@pytest.fixture
def impatient(app: Haulwright) -> Callable[[], None]:
    """Make the leases of all jobs shorter than anybody may ask for, so that runs are soon overdue."""
    shorten = "update haulwright_jobs set lease_us = 200000"
    return lambda: app.store.database.transact(lambda connection: connection.execute(shorten))


@pytest.fixture
def lines(caplog):
    """The facts of the lines that contain these words."""
    caplog.set_level(logging.DEBUG, logger="haulwright.worker")
    return lambda words: [record.facts for record in caplog.records if words in record.getMessage()]


def idle(_ctx: Context) -> None:
    """Nothing, with a context to hear of its time limit."""


@pytest.fixture
def an_overdue_run(app: Haulwright) -> Callable[..., Run]:
    """A run in our hands that began long ago, with a time limit of 10 s and a lease of 20 s."""

    def begin(**options: Any) -> Run:
        task = app.task(**{"timeout": "10 s", "lease": "20 s", **options})(idle)
        task.enqueue()
        (lease,) = app.store.leases.claim(new_id(), ["default"])
        run = Run.of(lease, task, app.store, "w")
        run.started = time.monotonic() - 31
        return run

    return begin


def test_a_run_is_overdue_when_its_limit_and_a_lease_have_passed(an_overdue_run):
    run = an_overdue_run()
    assert is_overdue(run)

    run.started += 2

    assert not is_overdue(run)


def test_a_run_that_has_ended_or_waits_for_its_turn_is_not_overdue(an_overdue_run):
    ended, waiting = an_overdue_run(name="ended"), an_overdue_run(name="waiting")
    ended.ended = time.monotonic()
    waiting.started = 0.0

    assert not is_overdue(ended)
    assert not is_overdue(waiting)


@pytest.mark.parametrize(
    "options", [{"isolation": "process"}, {"timeout": None}], ids=["in a child", "without a limit"]
)
def test_a_run_in_a_child_or_without_a_limit_is_never_overdue(an_overdue_run, options):
    assert not is_overdue(an_overdue_run(**options))


def test_a_run_is_given_up_once_and_comes_back_once(an_overdue_run):
    run, lost = an_overdue_run(), LostThreads(2, SILENT)

    ended = lost.give_up(run)

    assert isinstance(ended.outcome, RetryLater)
    assert ended.outcome.failure.code == "timed_out"
    assert (run.outcome, lost.give_up(run)) == (None, None)
    assert (len(lost), lost.are_too_many, run in lost) == (1, True, True)
    assert [lost.take_back(run), lost.take_back(run)] == [True, False]
    assert (len(lost), lost.are_too_many) == (0, False)


def test_a_run_that_ends_in_time_is_not_given_up_any_more(an_overdue_run):
    run, lost = an_overdue_run(), LostThreads(2, SILENT)
    run.ended = time.monotonic()

    assert lost.give_up(run) is None
    assert not lost.take_back(run)


def test_a_job_whose_run_never_returns_is_settled_as_timed_out_and_the_others_go_on(
    app, start_worker, impatient, never, lines
):
    @app.task(retry=Retry(1), **LIMITED)
    def endless(_ctx: Context) -> None:
        never.wait()

    @app.task()
    def quick(n: int) -> int:
        return n

    stuck = endless.enqueue()
    impatient()
    start_worker(concurrency=3)

    eventually(lambda: stuck.state() is State.DEAD)
    handles = [quick.enqueue(n) for n in range(20)]

    assert [handle.result(90) for handle in handles] == list(range(20))
    job = stuck.job()
    assert (job.reason, job.error_code, job.attempts, job.losses) == ("attempts_exhausted", "timed_out", 1, 0)
    (told,) = lines("never returned")
    assert (told["job"], told["lost_threads"]) == (stuck.id, 1)
    assert told["task"].endswith("endless")
    assert told["seconds"] >= OVERDUE_SECONDS


def test_a_job_whose_run_never_returns_is_tried_again_as_its_budget_says(app, start_worker, impatient, never):
    @app.task(retry=Retry(2, base=0, jitter=0), **LIMITED)
    def first_never(ctx: Context) -> int:
        if ctx.job.attempts == 1:
            never.wait()
        return ctx.job.attempts

    handle = first_never.enqueue()
    impatient()
    start_worker(concurrency=3)

    assert handle.result(90) == 2
    assert (handle.job().fence, handle.job().losses) == (2, 0)


def test_what_a_lost_thread_returns_in_the_end_is_discarded_and_said_so(app, start_worker, impatient, never, lines):
    told: list[BaseException] = []

    @app.task(retry=Retry(1), **LIMITED)
    def endless(ctx: Context) -> str:
        never.wait()
        try:
            ctx.progress(1)
        except LeaseLost as lost:
            told.append(lost)
        return "late"

    handle = endless.enqueue()
    impatient()
    start_worker(concurrency=3)
    eventually(lambda: handle.state() is State.DEAD)

    never.set()

    eventually(lambda: lines("its result is discarded"))
    assert [type(error) for error in told] == [LeaseLost]
    assert lines("its result is discarded")[0]["job"] == handle.id
    assert (handle.state(), handle.job().result) == (State.DEAD, None)


def test_a_lost_thread_takes_its_slot_along_until_it_comes_back(app, start_worker, impatient, never):
    running, most = set(), []

    @app.task(retry=Retry(1), **LIMITED)
    def endless(_ctx: Context) -> None:
        never.wait()

    @app.task()
    def together(n: int) -> None:
        running.add(n)
        most.append(len(running))
        threading.Event().wait(0.02)
        running.discard(n)

    stuck = endless.enqueue()
    impatient()
    start_worker(concurrency=3)
    eventually(lambda: stuck.state() is State.DEAD)

    for handle in [together.enqueue(n) for n in range(20)]:
        handle.result(90)
    assert max(most) == 2

    never.set()
    most.clear()
    for handle in [together.enqueue(n) for n in range(20)]:
        handle.result(90)
    assert max(most) == 3


def test_a_worker_with_a_lost_thread_claims_no_more_than_it_can_run(app, start_worker, impatient, never):
    @app.task(retry=Retry(1), **LIMITED)
    def endless(_ctx: Context) -> None:
        never.wait()

    @app.task()
    def waits() -> None:
        never.wait()

    stuck = endless.enqueue()
    impatient()
    start_worker(concurrency=3)
    eventually(lambda: stuck.state() is State.DEAD)

    app.enqueue_many(waits.call() for _ in range(10))

    eventually(lambda: app.store.queues.counts()[0].running == 2)  # what it took ahead it gives back


def test_a_worker_that_lost_half_of_its_threads_drains_and_says_who_must_replace_it(
    app, settings, impatient, never, lines
):
    @app.task(retry=Retry(1), **LIMITED)
    def endless(_ctx: Context) -> None:
        never.wait()

    @app.task()
    def later() -> None: ...

    stuck = [endless.enqueue(), endless.enqueue()]
    impatient()

    with pytest.raises(ThreadsLost, match="2 of 4 threads") as ended:
        run_worker(app, settings=settings, concurrency=4, poll_interval=0.05, grace=0)

    assert (ended.value.lost, ended.value.exit_code) == (2, LOST_THREADS_EXIT)
    assert [handle.state() for handle in stuck] == [State.DEAD] * 2
    assert lines("too many threads are lost")[0]["lost_threads"] == 2
    handle = later.enqueue()
    assert run_worker(app, settings=settings, until_empty=True, concurrency=4) == 1
    assert handle.state() is State.SUCCEEDED


def test_a_run_that_is_given_up_while_its_worker_ends_is_settled_and_not_given_back(
    app, settings, impatient, never, monkeypatch
):
    @app.task(retry=Retry(1), **LIMITED)
    def endless(_ctx: Context) -> None:
        never.wait()

    monkeypatch.setattr(settler, "LINGER_SECONDS", 0.1)  # the outcome is not yet written when the worker ends
    stuck = endless.enqueue()
    impatient()

    with pytest.raises(ThreadsLost):
        run_worker(app, settings=settings, concurrency=2, poll_interval=0.05, grace=0)

    assert (stuck.state(), stuck.job().error_code) == (State.DEAD, "timed_out")


def test_a_worn_out_worker_gives_back_what_waits_behind_the_lost_thread(app, settings, impatient, never):
    @app.task(retry=Retry(1), priority=1, **LIMITED)
    def endless(_ctx: Context) -> None:
        never.wait()

    @app.task()
    def behind() -> None: ...

    stuck, waiting = endless.enqueue(), behind.enqueue()
    impatient()

    with pytest.raises(ThreadsLost):
        run_worker(app, settings=settings, concurrency=1, poll_interval=0.05)

    assert stuck.state() is State.DEAD
    assert (waiting.state(), waiting.job().attempts, waiting.job().losses) == (State.QUEUED, 0, 0)


def test_a_run_that_never_returns_and_was_asked_to_cancel_is_cancelled(app, start_worker, impatient, never):
    begun = threading.Event()

    @app.task(retry=Retry(1), **LIMITED)
    def endless(_ctx: Context) -> None:
        begun.set()
        never.wait()

    handle = endless.enqueue()
    impatient()
    start_worker(concurrency=3)
    assert begun.wait(90)
    app.operations().jobs.cancel(handle.id, "not needed any more")

    eventually(lambda: handle.state() is State.CANCELLED)
    assert handle.job().reason == "not needed any more"


def test_a_run_that_settled_itself_before_it_hangs_stays_settled(app, start_worker, impatient, never, lines):
    @app.task(retry=Retry(1), **LIMITED)
    def done_and_stuck(ctx: Context) -> None:
        ctx.commit("all", lambda _: None, settle=True)
        never.wait()

    handle = done_and_stuck.enqueue()
    impatient()
    start_worker(concurrency=3)

    eventually(lambda: lines("never returned"))
    assert (handle.state(), handle.job().attempts) == (State.SUCCEEDED, 1)


def test_an_asynchronous_run_that_is_deaf_to_its_end_is_given_up_too(app, start_worker, impatient):
    heard = asyncio.Event()

    @app.task(retry=Retry(1), **LIMITED)
    async def deaf(ctx: Context) -> None:
        while not ctx.signals.lost:
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                heard.set()

    handle = deaf.enqueue()
    impatient()
    start_worker(concurrency=3)

    eventually(lambda: handle.state() is State.DEAD)
    assert heard.is_set()
    assert handle.job().error_code == "timed_out"


def test_a_run_without_a_time_limit_may_take_as_long_as_it_likes(app, start_worker, impatient, never, lines):
    @app.task(lease="1 s")
    def patient() -> str:
        never.wait()
        return "done"

    @app.task(retry=Retry(1), **LIMITED)
    def endless(_ctx: Context) -> None:
        never.wait()

    handle, stuck = patient.enqueue(), endless.enqueue()
    impatient()
    start_worker(concurrency=4)
    eventually(lambda: stuck.state() is State.DEAD)
    assert [event_fields["job"] for event_fields in lines("never returned")] == [stuck.id]

    never.set()

    assert handle.result(90) == "done"
