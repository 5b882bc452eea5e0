"""The bench runs jobs as a worker would, without threads, and dies where it is told to."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime

import pytest

from haulwright import Context, Haulwright, Retry, Snooze, Tx
from haulwright.errors import BlockingCall, InvalidValue, JobFailed, Refused, ResultTimeout, UnknownTask
from haulwright.testing.harness import START

app = Haulwright()
seen: list[object] = []


@app.task(retry=Retry(3, base="1 min", jitter=0))
def work(ctx: Context, n: int = 0) -> int:
    try:
        ctx.effect("note", seen.append, n)
        ctx.commit("save", save)
    finally:
        seen.append("finally")
    return n


@app.task(retry=Retry(3, base="1 min", jitter=0))
async def awork(ctx: Context, n: int = 0) -> int:
    async def note(n: int) -> None:
        seen.append(n)

    try:
        await ctx.aeffect("note", note, n)
        await ctx.acommit("save", save)
    except BaseException:  # noqa: BLE001 - a task may be as rude as this
        seen.append("swallowed")
    return n


def save(tx: Tx) -> None:
    tx.execute("select 1")


@app.task()
def where() -> str:
    return threading.current_thread().name


@app.task()
def nap() -> Snooze:
    return Snooze(60)


@app.task()
def for_ever() -> None:
    for_ever.enqueue()


@app.task(queue="mail")
def tree(depth: int) -> None:
    for _ in range(2 if depth else 0):
        tree.enqueue(depth - 1)


@pytest.fixture(autouse=True)
def on_the_bench(haulwright):
    seen.clear()
    haulwright.use(app)


def test_an_app_is_moved_to_the_test_and_back():
    own = Haulwright("sqlite:///elsewhere.db")

    with own.moved_to("sqlite:///here.db"):
        assert own.database_url == "sqlite:///here.db"
        with own.moved_to("sqlite:///there.db"):
            assert own.database_url == "sqlite:///there.db"
        assert own.database_url == "sqlite:///here.db"
    assert own.database_url == "sqlite:///elsewhere.db"


def test_each_test_begins_at_the_same_time_with_nothing(haulwright):
    assert haulwright.now == START == datetime(2024, 1, 1, tzinfo=UTC)
    assert (haulwright.all_enqueued(), haulwright.drain()) == ([], 0)


def test_time_moves_only_as_far_as_the_test_says(haulwright):
    assert haulwright.advance("1h30m") == datetime(2024, 1, 1, 1, 30, tzinfo=UTC)
    haulwright.freeze(datetime(2025, 6, 1, tzinfo=UTC))
    assert haulwright.now == datetime(2025, 6, 1, tzinfo=UTC)
    with pytest.raises(InvalidValue):
        haulwright.advance("a while")
    with pytest.raises(InvalidValue, match="has no time zone"):
        haulwright.freeze(datetime(2025, 6, 1))  # noqa: DTZ001 - that is the point


def test_jobs_run_on_the_thread_of_the_test(haulwright):
    assert haulwright.run_inline(where) == threading.current_thread().name


def test_drain_runs_all_queues_and_what_jobs_enqueue_and_counts_runs(haulwright):
    tree.enqueue(2)
    work.enqueue()

    assert haulwright.drain() == 8
    assert {job.state for job in haulwright.all_enqueued()} == {"succeeded"}
    assert len(haulwright.all_enqueued(tree)) == 7


def test_drain_stops_at_its_limit_and_refuses_to_run_for_ever(haulwright, monkeypatch):
    monkeypatch.setattr("haulwright.testing.harness.MOST_RUNS", 20)
    for_ever.enqueue()

    assert haulwright.drain(limit=5) == 5
    with pytest.raises(Refused, match="Does a task enqueue itself for ever"):
        haulwright.drain()


def test_a_job_of_an_app_that_is_not_here_is_told_and_not_lost(haulwright):
    other = Haulwright()

    @other.task(name="mystery")
    def mystery() -> None: ...

    with other.moved_to(haulwright.database_url, clock=haulwright.clock):
        mystery.enqueue()
    with pytest.raises(UnknownTask, match=r"haulwright\.use\(app\)"):
        haulwright.drain()
    haulwright.use(other)

    assert haulwright.drain() == 1


@pytest.mark.parametrize("task", [work, awork])
@pytest.mark.parametrize(
    ("moment", "effects", "notes"),
    [
        ({"after": "claim"}, [], [7]),
        ({"before": "note"}, ["intent"], [7]),
        ({"after": "note"}, ["intent"], [7, 7]),
        ({"before": "save"}, ["done"], [7]),
        ({"after": "save"}, ["done", "done"], [7]),
        ({"before": "settle"}, ["done", "done"], [7]),
    ],
)
def test_a_crash_leaves_exactly_what_was_written_until_then(haulwright, task, moment, effects, notes):
    handle = task.enqueue(7)
    with haulwright.crash(task, **moment):
        assert haulwright.drain() == 1

    assert (handle.state(), handle.job().attempts) == ("running", 1)
    assert [effect.state for effect in app.operations().effects.of_job(handle.id).rows] == effects
    assert haulwright.drain() == 0  # its lease still holds
    haulwright.advance("121 s")
    assert haulwright.drain() == 1
    assert (handle.result(0), handle.job().losses) == (7, 1)
    assert [note for note in seen if note == 7] == notes


def test_what_a_dead_run_still_does_through_its_context_reaches_nobody(haulwright):
    @app.task(name="undead")
    def undead(ctx: Context) -> None:
        try:
            ctx.effect("one", int)
        finally:
            ctx.effect("two", int)

    handle = undead.enqueue()
    with haulwright.crash(undead, after="one"):
        haulwright.drain()

    assert [effect.name for effect in app.operations().effects.of_job(handle.id).rows] == ["one"]


def test_a_crash_ends_the_drain_and_another_process_goes_on(haulwright):
    first, second = work.enqueue(1), work.enqueue(2)
    with haulwright.crash("work", after="claim"):
        assert haulwright.drain() == 1
    dead = first.job().worker_id
    haulwright.drain()

    assert (second.state(), first.state()) == ("succeeded", "running")
    assert second.job().worker_id != dead


def test_a_crash_that_never_comes_fails_the_test(haulwright):
    with (
        pytest.raises(AssertionError, match="No run of work came to the moment after 'nothing'"),
        haulwright.crash(work, after="nothing"),
    ):
        haulwright.run_inline(work)


@pytest.mark.parametrize("moment", [{}, {"after": "a", "before": "b"}])
def test_a_crash_has_one_moment(haulwright, moment):
    with pytest.raises(InvalidValue, match="exactly one of"), haulwright.crash(work, **moment):
        pass


def test_an_effect_fails_as_often_as_it_is_told_and_does_not_act(haulwright):
    haulwright.fail_effect("note", OSError, times=2)
    handles = [work.enqueue(n) for n in range(3)]
    haulwright.drain()

    assert [handle.state() for handle in handles] == ["queued", "queued", "succeeded"]
    assert [note for note in seen if note != "finally"] == [2]


def test_a_job_by_itself_returns_or_raises_and_touches_no_other(haulwright):
    waiting = work.enqueue(1)

    assert haulwright.run_inline(work, n=5) == 5
    with pytest.raises(ResultTimeout):
        haulwright.run_inline(nap)
    haulwright.fail_effect("note", KeyError("sku"))
    with pytest.raises(KeyError):
        haulwright.run_inline(work)
    assert waiting.state() == "queued"


def test_at_once_means_before_enqueue_returns_and_one_level_after_the_other(haulwright):
    with haulwright.immediate():
        handle = tree.enqueue(2)
        assert handle.state() == "succeeded"
        assert len(haulwright.all_enqueued()) == 7
        delayed = work.using(delay="1 min").enqueue(1)
        assert delayed.state() == "queued"
    assert work.enqueue(2).state() == "queued"


def test_at_once_from_a_coroutine(haulwright):
    async def story() -> str:
        with haulwright.immediate():
            return await (await awork.aenqueue(3)).astate()

    assert asyncio.run(story()) == "succeeded"


def test_an_asynchronous_test_drains_by_its_own_door(haulwright):
    async def story() -> int:
        with pytest.raises(BlockingCall, match=r"await haulwright\.adrain\(\)"):
            haulwright.drain()
        await work.aenqueue(1)
        return await haulwright.adrain()

    assert asyncio.run(story()) == 1


def test_what_was_enqueued_is_found_by_its_arguments(haulwright):
    work.enqueue(1)
    last = work.enqueue(2)
    haulwright.drain()

    assert haulwright.assert_enqueued(work).id == last.id
    assert haulwright.assert_enqueued(work, n=1).args == '{"n":1}'
    haulwright.assert_not_enqueued(work, n=3)
    haulwright.assert_not_enqueued(awork)
    with pytest.raises(AssertionError, match=r"work was not enqueued with \{'n': 3\}. Enqueued were:\n  work"):
        haulwright.assert_enqueued(work, n=3)
    with pytest.raises(AssertionError, match=r"work was enqueued with \{'n': 2\}"):
        haulwright.assert_not_enqueued(work, n=2)


def test_a_misspelt_argument_cannot_make_an_assertion_pass(haulwright):
    with pytest.raises(InvalidValue, match="is none of the task 'work'"):
        haulwright.assert_not_enqueued(work, m=2)


def test_an_interrupt_is_meant_for_the_test_and_not_for_the_job(haulwright):
    @app.task(name="interrupted")
    def interrupted() -> None:
        pytest.fail("this is the test's own")

    interrupted.enqueue()
    with pytest.raises(pytest.fail.Exception, match="this is the test's own"):
        haulwright.drain()


def test_a_failed_job_has_its_story(haulwright):
    @app.task(name="hopeless", retry=Retry(1))
    def hopeless() -> None:
        raise ValueError("no")

    handle = hopeless.enqueue()
    haulwright.drain()

    with pytest.raises(JobFailed, match="no"):
        handle.result(0)
    assert app.operations().jobs.why(handle.id).code == "dead"


def test_a_due_slot_is_opened_by_the_drain(haulwright):
    own = Haulwright()

    @own.task(name="hourly")
    def hourly() -> None: ...

    own.schedule("hourly", "0 * * * *", hourly)
    haulwright.use(own)
    haulwright.advance("1 h")

    assert haulwright.drain() == 1
