"""A worker runs what is due, stops when it is told to, and gives back what it could not finish."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from haulwright import Context, Haulwright, Retry, Snooze, State
from haulwright.engine.ids import new_id
from haulwright.errors import DatabaseUnavailable, InvalidPayload, InvalidValue, LeaseLost, WorkerExists
from haulwright.runtime.identity import this_process
from haulwright.runtime.options import WorkerOptions
from haulwright.runtime.quota import JobUnfinished
from haulwright.runtime.worker import Worker
from tests.runtime.waiting import eventually


def states(handles):
    return [handle.state() for handle in handles]


@pytest.mark.proves("ENQ-08", "CLM-14")
def test_until_empty_runs_everything_that_is_due_and_what_that_enqueues(app):
    @app.task()
    def count_down(n: int) -> int:
        if n:
            count_down.enqueue(n - 1)
        return n

    handles = [count_down.enqueue(2), count_down.using(delay="1 h").enqueue(2)]

    assert app.run_worker(until_empty=True) == 3
    assert states(handles) == [State.SUCCEEDED, State.QUEUED]
    assert app.run_worker(until_empty=True) == 0


def test_a_worker_starts_with_what_was_asked_for_at_its_start_and_several_ask_once(app):
    @app.task(queue="upkeep", unique=True)
    def look_around() -> None: ...

    @app.task()
    def wait_for_it() -> None: ...

    app.at_start(look_around)
    app.at_start(wait_for_it)

    assert [app.enqueue_at_start(["upkeep"]) for _ in range(2)] == [1, 0]
    assert app.run_worker(queues=["upkeep"], until_empty=True) == 1
    assert app.run_worker(queues=["upkeep"], until_empty=True) == 1


def test_a_worker_of_so_many_jobs_adds_none_of_its_own(app):
    @app.task()
    def look_around() -> None: ...

    app.at_start(look_around)

    assert app.run_worker(once=True) == 0


def test_what_needs_arguments_cannot_begin_a_worker(app):
    @app.task()
    def greet(name: str) -> None: ...

    with pytest.raises(InvalidPayload):
        app.at_start(greet)


def test_plain_and_asynchronous_tasks_run_side_by_side(app):
    met = threading.Barrier(2, timeout=10)

    @app.task()
    def plain() -> str:
        met.wait()
        return threading.current_thread().name

    @app.task()
    async def asynchronous() -> str:
        await asyncio.to_thread(met.wait)
        return threading.current_thread().name

    handles = [plain.enqueue(), asynchronous.enqueue()]
    app.run_worker(until_empty=True, concurrency=2)

    assert handles[0].result(0).startswith("haulwright-run")
    assert handles[1].result(0) == "haulwright-loop"


def test_no_more_runs_at_once_than_allowed_of_both_kinds_together(app):
    running: set[int] = set()
    most: list[int] = []
    met = threading.Event()

    def begin(n: int) -> None:
        running.add(n)
        most.append(len(running))
        if len(running) == 3:
            met.set()

    @app.task()
    def busy(n: int) -> None:
        begin(n)
        met.wait(60)  # the first ones stay until as many are there as may be
        time.sleep(0.01)
        running.remove(n)

    @app.task()
    async def abusy(n: int) -> None:
        begin(n)
        await asyncio.to_thread(met.wait, 60)
        await asyncio.sleep(0.01)
        running.remove(n)

    app.enqueue_many([task.call(n) for n, task in enumerate([busy, abusy] * 20)])

    assert app.run_worker(until_empty=True, concurrency=3) == 40
    assert max(most) == 3


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


def test_a_worker_serves_its_queues_and_no_others(app):
    @app.task()
    def work() -> None: ...

    handles = [work.using(queue=queue).enqueue() for queue in ("default", "mail", "fast")]

    assert app.run_worker(until_empty=True, queues=("fast", "mail")) == 2
    assert states(handles) == ["queued", "succeeded", "succeeded"]


@pytest.mark.proves("JOB-04")
def test_a_job_whose_task_is_unknown_here_stays_queued_and_says_so(app, database_url, caplog):
    other = Haulwright(database_url)

    @other.task()
    def mystery() -> None: ...

    job_id = mystery.enqueue().id
    other.close()
    with caplog.at_level(logging.WARNING):
        assert app.run_worker(until_empty=True) == 0

    job = app.operations().jobs.get(job_id)
    assert (job.state, job.attempts, job.waiting_on) == ("queued", 0, "task:unknown")
    assert "job given back: its task is unknown here" in caplog.text


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


def test_a_worker_works_on_after_tasks_that_raise_the_strangest_things(app, start_worker):
    @app.task(retry=1)
    def exits() -> None:
        raise SystemExit(1)

    @app.task(retry=1)
    async def is_interrupted() -> None:
        raise GeneratorExit

    @app.task()
    def fine() -> str:
        return "fine"

    start_worker()
    broken = [exits.enqueue(), is_interrupted.enqueue()]
    eventually(lambda: states(broken) == ["dead", "dead"])

    assert fine.enqueue().result(90) == "fine"


def test_an_exclusive_worker_refuses_to_start_beside_another(app, start_worker):
    start_worker(name="first")
    eventually(app.store.workers.list)

    with pytest.raises(WorkerExists, match="Worker first is alive"):
        app.run_worker(exclusive=True, until_empty=True)


def test_an_exclusive_worker_is_not_kept_out_by_a_dead_one(app):
    dead = replace(this_process("killed"), pid=2**22 + 1)
    app.store.workers.register(dead, ["default"], [])

    assert app.run_worker(exclusive=True, until_empty=True) == 0


def test_of_two_exclusive_workers_that_start_at_once_the_first_one_works(app, settings):
    first = Worker(app, WorkerOptions(exclusive=True, until_empty=True), settings)
    app.store.workers.register(this_process("second"), ["default"], [])

    assert first.run() == 0


@pytest.mark.parametrize(
    "options",
    [
        {"queues": ()},
        {"queues": "default"},
        {"queues": ("a\n",)},
        {"concurrency": 0},
        {"poll_interval": -1},
        {"grace": 1e9},
    ],
)
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(InvalidValue):
        WorkerOptions(**options)


@pytest.mark.proves("CLM-06")
def test_a_worker_is_a_row_with_its_name_and_what_it_serves(app):
    @app.task()
    def work() -> None: ...

    handle = work.enqueue()
    app.run_worker(until_empty=True, name="w1", queues=("default", "mail"))

    (worker,) = app.store.workers.list(everyone=True)
    assert (worker.name, worker.queues, worker.tasks) == ("w1", ["default", "mail"], ["work"])
    assert worker.stopped_at is not None
    assert handle.job().lease_owner == "w1"


def test_until_empty_does_not_end_beside_a_job_that_went_back_while_it_looked_for_more(app, settings):
    """A claim finds nothing while the job runs; then the job fails, and is due again at once."""
    go_on, looks = threading.Event(), []

    @app.task(retry=Retry(2, base=0, jitter=0))
    def work() -> None:
        go_on.wait()
        raise ValueError("it fails each time")

    handle = work.enqueue()
    worker = Worker(app, WorkerOptions(until_empty=True, concurrency=2, poll_interval=0.05), settings)
    claim = worker._due_jobs.claim

    def look(*arguments):
        leases = claim(*arguments)
        if worker.count_held() and not looks:
            looks.append(len(leases))
            go_on.set()
            eventually(lambda: worker.count_held() == 0)
        return leases

    worker._due_jobs.claim = look
    worker.run()

    job = handle.job()
    assert (looks, job.state, job.attempts) == ([0], "dead", 2)


@pytest.mark.parametrize(("schedules", "jobs"), [(False, 1), (True, 2)])
def test_a_worker_may_be_told_to_leave_schedules_alone(app, start_worker, monkeypatch, schedules, jobs):
    monkeypatch.setattr("haulwright.runtime.maintenance.LONGEST_WAIT_SECONDS", 0.2)

    @app.task()
    def work() -> None: ...

    app.schedule("hourly", "0 * * * *", work, misfire_grace=None, overlap="allow")
    app.declare_schedules()
    owe_slots = (
        "update haulwright_schedules set opened_until = opened_until - 7200000000, next_at = next_at - 7200000000"
    )
    lose_leases = "update haulwright_jobs set lease_us = 1000000, lease_expires_at = 1 where state = 'running'"
    start_worker(schedules=schedules, queues=("other",))
    eventually(app.store.workers.list)
    handle = work.enqueue()
    app.store.leases.claim(new_id(), ["default"])
    for statement in (owe_slots, lose_leases):
        app.store.database.transact(lambda connection, statement=statement: connection.execute(statement))

    eventually(lambda: handle.state() == "queued")  # taken back before the slots, which that round may have just missed
    app.store.leases.claim(new_id(), ["default"], 5)
    app.store.database.transact(lambda connection: connection.execute(lose_leases))
    eventually(lambda: handle.job().losses == 2)
    assert len(app.operations().jobs.page().jobs) == jobs


@pytest.mark.proves("JOB-01")
def test_a_result_that_the_database_refuses_kills_its_own_job_and_no_neighbour(sqlite_url):
    """One bad row in a batch must not hold back the others."""
    app = Haulwright(sqlite_url)

    @app.task()
    def work(n: int) -> int:
        return n

    handles = [work.enqueue(n) for n in range(10)]
    trigger = """create trigger bad before insert on haulwright_history when new.result = '3'
                 begin select raise(abort, 'bad row'); end"""
    app.store.database.transact(lambda connection: connection.execute(trigger))
    app.run_worker(until_empty=True)

    assert states(handles) == ["succeeded"] * 3 + ["dead"] + ["succeeded"] * 6
    assert handles[3].job().reason == "unstorable"
    app.close()


def test_a_database_that_goes_away_while_the_worker_goes_to_sleep_does_not_end_it(app, start_worker, monkeypatch):
    """How long to sleep until the next job is due is asked of the database's clock."""
    slept = threading.Event()
    tell_time = app.store.now

    def now() -> int:
        if slept.is_set():
            return tell_time()
        slept.set()
        raise DatabaseUnavailable("away")

    @app.task()
    def later() -> str:
        return "done"

    monkeypatch.setattr(app.store, "now", now)
    parked = later.using(delay="2 s").enqueue()
    start_worker()

    assert slept.wait(90)
    assert parked.result(timeout=20) == "done"


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
