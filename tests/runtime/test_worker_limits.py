"""A worker of one job, or of so many, carries those to their end and leaves all others alone."""

from __future__ import annotations

import time

import pytest

from haulwright import Context, Retry, Snooze
from haulwright.runtime.quota import JobUnfinished
from tests.runtime.waiting import states


def test_a_worker_of_so_many_jobs_adds_none_of_its_own(app):
    @app.task()
    def look_around() -> None: ...

    app.at_start(look_around)

    assert app.run_worker(once=True) == 0


def test_once_runs_one_job_and_stops_at_once_where_none_is_due(app):
    @app.task()
    def work() -> None: ...

    assert app.run_worker(once=True) == 0
    handles = [work.enqueue() for _ in range(3)]

    assert app.run_worker(once=True) == 1
    assert sorted(states(handles)) == ["queued", "queued", "succeeded"]


def test_a_limit_of_jobs_is_kept_exactly_and_none_is_given_back(app):
    @app.task()
    def work() -> None:
        time.sleep(0.02)

    handles = [work.enqueue() for _ in range(8)]

    assert app.run_worker(max_jobs=5, concurrency=1, grace=0) == 5
    assert sorted(states(handles)) == ["queued"] * 3 + ["succeeded"] * 5
    assert [handle.job().fence for handle in handles if handle.state() == "queued"] == [0, 0, 0]


def test_the_last_job_may_take_longer_than_the_grace_of_a_stop(app):
    @app.task()
    def slow() -> str:
        time.sleep(0.3)
        return "done"

    handle = slow.enqueue()
    app.run_worker(once=True, grace=0)

    assert handle.result(0) == "done"


def test_once_runs_one_job_to_its_end_with_its_waits_its_retries_and_its_children(app):
    """Nobody else's job is touched, however long its own has to wait for a moment."""
    steps: list[str] = []

    @app.task(retry=Retry(3, base=0.01, jitter=0))
    def child(n: int) -> int | Snooze:
        steps.append(f"child {n}")
        return Snooze(0.01) if steps.count(f"child {n}") < 3 else n

    @app.task(retry=Retry(3, base=0.01, jitter=0))
    def parent(ctx: Context) -> int:
        steps.append("parent")
        if ctx.job.attempts == 1 and steps.count("parent") == 1:
            raise ValueError("once more")
        return sum(outcome.value() for outcome in ctx.join(ctx.enqueue_many("parts", [child.call(1), child.call(2)])))

    handle = parent.using(priority=1).enqueue()
    other = child.enqueue(9)

    app.run_worker(once=True, poll_interval=0.05)

    assert (handle.result(0), other.job().fence) == (3, 0)
    assert [steps.count(step) for step in ("parent", "child 1", "child 2")] == [3, 3, 3]


def test_once_says_that_its_job_is_not_finished_where_that_has_to_wait_for_long(app):
    @app.task(retry=Retry(3, base="1 h"))
    def fails() -> None:
        raise ValueError("later")

    handle = fails.enqueue()

    with pytest.raises(JobUnfinished, match=f"Job {handle.id} is not finished") as told:
        app.run_worker(once=True, poll_interval=0.05)

    assert (told.value.exit_code, handle.state(), handle.job().attempts) == (75, "queued", 1)


def test_once_leaves_a_job_of_an_unknown_task_to_others_and_takes_the_next(app):
    @app.task()
    def known() -> None: ...

    stranger = known.enqueue()
    app.store.database.transact(lambda c: c.execute("update haulwright_jobs set task = 'unknown'"))
    handle = known.enqueue()

    app.run_worker(once=True)

    assert (handle.state(), stranger.job().waiting_on) == ("succeeded", "task:unknown")


def test_a_limit_counts_jobs_that_have_ended_and_not_their_runs(app):
    @app.task(retry=Retry(5, base=0.01, jitter=0))
    def work(ctx: Context) -> Snooze | None:
        if ctx.job.deferrals == 0:
            return Snooze(0.01)
        if ctx.job.attempts == 1:
            raise ValueError("once more")
        return None

    handles = [work.enqueue() for _ in range(4)]
    app.run_worker(max_jobs=2, concurrency=1, poll_interval=0.05)

    assert sorted(states(handles)).count("succeeded") == 2
