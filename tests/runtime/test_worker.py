"""A worker runs what is due in its queues, beside others or alone, and goes on whatever its tasks raise."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from dataclasses import replace

import pytest

from haulwright import Haulwright, Retry, State
from haulwright.engine.ids import new_id
from haulwright.errors import DatabaseUnavailable, InvalidPayload, InvalidValue, WorkerExists
from haulwright.runtime.identity import this_process
from haulwright.runtime.options import WorkerOptions
from haulwright.runtime.worker import Worker
from tests.runtime.waiting import eventually, states


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
    assert (worker.name, worker.queues, worker.tasks) == ("w1", ["default", "mail"], ["haulwright.bulk", "work"])
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
