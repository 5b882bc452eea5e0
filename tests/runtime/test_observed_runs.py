"""What happens in a worker is told to whoever observes it: every step of every run, in order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from haulwright import Context, Haulwright, Retry, Tx
from haulwright.engine.ids import new_id
from haulwright.errors import DatabaseUnavailable
from haulwright.runtime import children
from haulwright.runtime.observed import JobRun
from haulwright.runtime.prefetch import Prefetch
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from tests.runtime import isolated
from tests.runtime.recorder import CANARY, Recorder, drain
from tests.runtime.waiting import eventually


def steal(ctx: Context) -> None:
    """The lease of a run runs out and is taken back, as if its worker had stood still."""
    run_out = "update haulwright_jobs set lease_us = 1000000, lease_expires_at = 1"
    ctx.store.database.transact(lambda connection: connection.execute(run_out))
    assert len(ctx.store.recovery.reap()) == 1


def test_a_job_that_succeeds_is_claimed_started_ended_and_settled(app, recorder):
    @app.task(queue="prices")
    def fine(word: str) -> str:
        return word

    headers = {"traceparent": "00-0af7-b7ad-01"}
    handle = fine.using(tenant="acme", correlation_id="req-1", headers=headers).enqueue(CANARY)
    drain(app, queues=("prices",))

    assert [call for call, _ in recorder.calls] == [
        "enqueued", "worker_started", "claimed", "started", "ended", "settled", "worker_stopped",
    ]  # fmt: skip
    run = JobRun(
        worker="w1", job_id=handle.id, fence=1, task="fine", queue="prices", tenant="acme", attempt=1, max_attempts=5,
        correlation_id="req-1", headers=headers,
    )  # fmt: skip
    assert recorder.of("enqueued")[0].headers == headers
    assert recorder.of("claimed") == recorder.of("started") == [run]
    (ended,), (settled,), (stopped,) = recorder.of("ended"), recorder.of("settled"), recorder.of("worker_stopped")
    assert (ended.run, ended.outcome, ended.failure, ended.exception) == (run, "done", None, None)
    assert (settled.run, settled.settled_as, settled.failure) == (run, "succeeded", None)
    assert 0 <= ended.seconds == settled.seconds
    assert (stopped.worker, stopped.runs, stopped.refused) == ("w1", 1, 0)
    assert CANARY not in str(recorder.calls)


def test_a_job_that_fails_is_retried_and_then_dead(app, recorder):
    @app.task(retry=Retry(2, base=0, jitter=0))
    async def fails() -> None:
        message = f"no answer from https://bob:{CANARY}@shop.example/"
        raise ConnectionError(message)

    fails.enqueue()
    drain(app)

    assert recorder.names == ["claimed", "started", "ended", "settled"] * 2
    assert [ended.outcome for ended in recorder.of("ended")] == ["retry", "retry"]
    assert [type(ended.exception) for ended in recorder.of("ended")] == [ConnectionError, ConnectionError]
    first, second = recorder.of("settled")
    assert (first.settled_as, first.delay_seconds, first.run.attempt) == ("retry", 0, 1)
    assert (second.settled_as, second.reason, second.run.attempt) == ("dead", "attempts_exhausted", 2)
    assert (second.failure.error_class, second.failure.code) == ("ConnectionError", "connection")
    assert CANARY not in str(recorder.calls)


def test_a_job_that_a_commit_settles_is_settled(app, recorder):
    @app.task()
    def saves(ctx: Context) -> None:
        ctx.commit("save", save, settle=True)

    saves.enqueue()
    drain(app)

    assert recorder.names == ["claimed", "started", "ended", "settled"]
    assert (recorder.of("ended")[0].outcome, recorder.of("settled")[0].settled_as) == ("done", "succeeded")


def save(tx: Tx) -> None:
    tx.execute("select 1")


def test_a_run_that_lost_its_lease_is_lost_and_not_settled(app, recorder):
    @app.task(retry=Retry(1))
    def late(ctx: Context) -> None:
        steal(ctx)

    late.enqueue()
    drain(app)

    assert recorder.names == ["claimed", "started", "ended", "lost"]
    assert (recorder.of("ended")[0].outcome, recorder.of("lost")[0].verb) == ("done", "settle")
    assert recorder.of("worker_stopped")[0].refused == 1


def test_a_run_that_passes_its_time_limit_ends_as_timed_out(app, recorder):
    @app.task(timeout="0.05 s", retry=Retry(1))
    async def slow() -> None:
        await asyncio.sleep(60)

    slow.enqueue()
    drain(app)

    assert recorder.names == ["claimed", "started", "ended", "settled"]
    assert (recorder.of("ended")[0].outcome, recorder.of("ended")[0].failure.code) == ("retry", "timed_out")
    assert (recorder.of("settled")[0].settled_as, recorder.of("settled")[0].failure.code) == ("dead", "timed_out")


def test_a_run_that_never_returns_costs_a_thread_that_may_come_back(app, recorder, start_worker):
    go_on = threading.Event()

    @app.task(timeout="0.1 s", lease="1 s", retry=Retry(1))
    def endless(ctx: Context) -> None:
        del ctx  # it never asks
        go_on.wait()

    endless.enqueue()
    shorten = "update haulwright_jobs set lease_us = 200000"
    app.store.database.transact(lambda connection: connection.execute(shorten))
    start_worker(concurrency=3)
    eventually(lambda: recorder.of("settled"))
    assert recorder.names == ["claimed", "started", "thread_lost", "settled"]
    assert (recorder.of("thread_lost")[0].lost_threads, recorder.of("thread_lost")[0].concurrency) == (1, 3)

    go_on.set()

    eventually(lambda: recorder.of("thread_returned"))
    assert recorder.names[-2:] == ["ended", "thread_returned"]
    assert recorder.of("thread_returned")[0].lost_threads == 0


def test_a_worker_whose_threads_are_lost_is_exhausted(app, recorder, start_worker):
    go_on = threading.Event()

    @app.task(timeout="0.1 s", lease="1 s", retry=Retry(1))
    def endless(ctx: Context) -> None:
        del ctx  # it never asks
        go_on.wait()

    endless.enqueue()
    shorten = "update haulwright_jobs set lease_us = 200000"
    app.store.database.transact(lambda connection: connection.execute(shorten))
    start_worker(concurrency=2)

    eventually(lambda: recorder.of("worker_stopped"))
    go_on.set()
    assert [(event.lost_threads, event.concurrency) for event in recorder.of("threads_exhausted")] == [(1, 2)]


@pytest.fixture
def moved(database_url) -> Iterator[tuple[Haulwright, Recorder]]:
    """An app that child processes can import, observed here."""
    database = open_database(database_url)
    migrations.migrate(database)
    database.close()
    recorder = Recorder()
    isolated.app.observe(recorder)
    with isolated.app.moved_to(database_url):
        yield isolated.app, recorder
    isolated.app.observers.remove(recorder)


@pytest.mark.crash
def test_a_run_in_a_child_is_observed_in_the_parent_and_so_is_the_death_of_the_child(moved):
    app, recorder = moved
    isolated.where.enqueue()
    drain(app)
    assert recorder.names == ["claimed", "started", "ended", "settled"]
    recorder.calls.clear()

    isolated.segfault.enqueue()
    drain(app)

    assert recorder.names == ["claimed", "started", "child_died", "ended", "settled"]
    (death,) = recorder.of("child_died")
    assert (death.phase, death.exit_code, "SIGSEGV" in death.death) == ("run", -11, True)
    assert recorder.of("ended")[0].outcome == "died"
    assert (recorder.of("settled")[0].settled_as, recorder.of("settled")[0].reason) == ("dead", "lease_exhausted")


@pytest.mark.crash
def test_a_child_that_does_not_start_is_told_and_its_job_waits(moved, monkeypatch):
    app, recorder = moved
    monkeypatch.setattr(children, "START_SECONDS", 0.0)
    isolated.where.enqueue()

    drain(app)

    assert recorder.names == ["claimed", "child_died", "not_started", "settled"]
    assert recorder.of("child_died")[0].phase == "start"
    assert recorder.of("not_started")[0].failure.code == "not_started"
    assert (recorder.of("settled")[0].settled_as, recorder.of("settled")[0].gate) == ("snooze", "start")


def test_a_job_whose_task_is_unknown_is_claimed_and_released(app, recorder, database_url):
    other = Haulwright(database_url)

    @other.task()
    def theirs() -> None: ...

    handle = theirs.enqueue()
    other.close()
    drain(app)

    assert recorder.names == ["claimed", "released"]
    (released,) = recorder.of("released")
    assert (released.job_id, released.reason, released.run.task) == (handle.id, "unknown_task", "theirs")


def test_a_worker_that_stops_releases_what_still_runs(app, recorder, start_worker):
    go_on = threading.Event()

    @app.task()
    def long() -> None:
        go_on.wait()

    handle = long.enqueue()
    worker = start_worker(concurrency=1)
    eventually(lambda: recorder.of("started"))

    worker.stop()

    eventually(lambda: recorder.of("released"))
    go_on.set()
    (released,) = recorder.of("released")
    assert (released.job_id, released.reason) == (handle.id, "worker_stopping")


def test_a_worker_held_up_by_long_runs_releases_what_it_took_ahead(app, recorder, start_worker, monkeypatch):
    go_on = threading.Event()
    ahead = [2]
    monkeypatch.setattr(Prefetch, "ahead", property(lambda _: ahead[0]))

    @app.task()
    def long() -> None:
        go_on.wait()

    app.enqueue_many(long.call() for _ in range(3))
    start_worker(concurrency=1)
    eventually(lambda: len(recorder.of("claimed")) == 3)

    ahead[0] = 0

    eventually(lambda: len(recorder.of("released")) == 2)
    assert {released.reason for released in recorder.of("released")} == {"prefetched"}
    go_on.set()


def test_a_lease_whose_claim_was_not_answered_is_released_by_its_id(app, recorder, start_worker, monkeypatch):
    @app.task()
    def work() -> None: ...

    handle = work.enqueue()
    claim = app.store.leases.claim

    def claim_and_lose_the_reply(*arguments: Any, **bounds: Any) -> Any:
        monkeypatch.setattr(app.store.leases, "claim", claim)
        assert claim(*arguments, **bounds)
        raise DatabaseUnavailable(f"the connection password={CANARY} is gone")

    monkeypatch.setattr(app.store.leases, "claim", claim_and_lose_the_reply)
    start_worker(concurrency=1)

    eventually(lambda: recorder.of("settled"))
    assert recorder.names == ["troubled", "released", "claimed", "started", "ended", "settled"]
    (trouble,), (released,) = recorder.of("troubled"), recorder.of("released")
    assert (trouble.where, CANARY in trouble.error, trouble.retry_seconds > 0) == ("claim", False, True)
    assert (released.job_id, released.reason, released.run) == (handle.id, "reply_lost", None)


def test_what_a_worker_takes_back_buries_and_opens_is_told(app, recorder, move_times):
    @app.task(retry=Retry(1))
    def work() -> None: ...

    app.schedule("often", "0 * * * *", work, misfire_grace=None)
    lost, overdue = work.enqueue(), work.enqueue()
    move_times()

    drain(app)

    (reaped,), (expired,) = recorder.of("reaped"), recorder.of("expired")
    assert (reaped.job_id, reaped.fence, reaped.state, reaped.reason) == (lost.id, 1, "dead", "sweep")
    assert expired.job_id == overdue.id
    (opened,) = recorder.of("slots_opened")
    assert (opened.schedule, opened.slots > 0, len(opened.job_ids)) == ("often", True, 1)


@pytest.fixture
def move_times(app: Haulwright) -> Callable[[], None]:
    """Have somebody claim a job and lose it, the deadline of the other pass, and slots of the schedule due."""

    def change() -> None:
        app.declare_schedules()
        app.store.leases.claim(new_id(), ["default"])
        for statement in (
            "update haulwright_jobs set deadline_at = 1 where lease_expires_at is null",
            "update haulwright_jobs set lease_us = 1000000, lease_expires_at = 1 where lease_expires_at is not null",
            "update haulwright_schedules set next_at = next_at - 7200000000, opened_until = opened_until - 7200000000",
        ):
            app.store.database.transact(lambda connection, sql=statement: connection.execute(sql))

    return change


def test_a_job_that_existed_is_told_as_such(app, recorder):
    @app.task(unique=True)
    def once() -> None: ...

    first, second = once.enqueue(), once.enqueue()

    assert [(event.job_id, event.created) for event in recorder.of("enqueued")] == [
        (first.id, True), (second.id, False),
    ]  # fmt: skip
    assert first.id == second.id
