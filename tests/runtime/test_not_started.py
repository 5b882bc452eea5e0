"""A run that cannot be started goes back and says why, and its worker lives on."""

from __future__ import annotations

import errno
import os
import pickle
import subprocess
import sys
import threading

import pytest

from haulwright import Observer
from haulwright.engine.transitions import State
from haulwright.engine.why import Surroundings, why
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from tests.runtime import isolated, starved
from tests.runtime.starved import MAY_STARVE_VARIABLE

DUE = "update haulwright_jobs set run_at = 1"
OVERDUE = "update haulwright_jobs set deadline_at = 1"


@pytest.fixture
def moved(database_url):
    database = open_database(database_url)
    migrations.migrate(database)
    database.close()
    with isolated.app.moved_to(database_url):
        yield isolated.app


@pytest.fixture
def starving(database_url):
    database = open_database(database_url)
    migrations.migrate(database)
    database.close()
    with starved.app.moved_to(database_url):
        yield starved.app


def work_in_a_process(database_url: str, **environment: str) -> str:
    """Run a worker process until nothing is due, and return what it said."""
    words = ["worker", "-A", "tests.runtime.starved:app", "--database", database_url]
    command = [sys.executable, "-m", "haulwright", *words, "--until-empty", "--concurrency", "1"]
    process = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return process.stderr


def execute(app, statement: str) -> None:
    app.store.database.transact(lambda connection: connection.execute(statement))


@pytest.mark.crash
@pytest.mark.parametrize(
    ("before", "task", "cause"),
    [
        ([starved.on_a_thread, starved.take_handles], starved.in_a_child, "Too many open files"),
        ([starved.on_a_thread, starved.take_processes], starved.in_a_child, "Resource temporarily unavailable"),
        ([starved.on_the_loop, starved.take_processes], starved.on_a_thread, "can't start new thread"),
    ],
    ids=["no file handle", "no process", "no thread"],
)
def test_a_job_for_which_the_machine_has_no_room_goes_back_and_runs_when_there_is(
    starving, database_url, before, task, cause
):
    for first in before:
        first.enqueue()
    handle = task.enqueue()

    lines = work_in_a_process(database_url, **{MAY_STARVE_VARIABLE: "1"})

    job = handle.job()
    assert (job.state, job.waiting_on, job.attempts, job.deferrals) == (State.QUEUED, "start", 0, 1)
    assert job.error_code == "not_started"
    assert cause in job.error_message
    assert lines.count("a run could not be started") == 1
    assert "Traceback" not in lines

    execute(starving, DUE)
    work_in_a_process(database_url)
    assert (handle.job().state, handle.job().attempts) == (State.SUCCEEDED, 1)


NOT_TO_BE_HAD = [OSError(errno.ENOMEM, "Cannot allocate memory"), pickle.PicklingError("not this")]


@pytest.mark.parametrize("error", NOT_TO_BE_HAD, ids=lambda error: type(error).__name__)
def test_the_pauses_of_a_job_that_cannot_be_started_grow_and_why_tells_the_cause(moved, monkeypatch, error):
    monkeypatch.setattr("multiprocessing.context.SpawnProcess.start", raising(error))
    handle, pauses = isolated.where.enqueue(), []

    for _ in range(3):
        execute(moved, DUE)
        moved.run_worker(until_empty=True, concurrency=1)
        pauses.append((handle.job().run_at - handle.job().updated_at) // 1_000_000)

    assert (pauses, handle.job().attempts) == ([5, 10, 20], 0)
    reason = why(handle.job(), Surroundings(moved.store.now(), None, workers_on_queue=1, workers_with_task=1))
    assert (reason.code, str(error) in reason.sentence) == ("not_started", True)


def test_a_job_that_can_never_be_started_dies_by_its_deadline_with_the_cause(moved, monkeypatch):
    monkeypatch.setattr("multiprocessing.context.SpawnProcess.start", raising(BlockingIOError(errno.EAGAIN, "busy")))
    handle = isolated.where.enqueue()
    moved.run_worker(until_empty=True, concurrency=1)

    execute(moved, OVERDUE)
    moved.run_worker(until_empty=True, concurrency=1)

    job = handle.job()
    assert (job.state, job.reason, job.error_class) == (State.DEAD, "deadline", "BlockingIOError")
    assert (job.error_code, "busy" in job.error_message) == ("not_started", True)


def test_jobs_go_on_with_the_threads_that_there_are(app, monkeypatch):
    """One thread was started before the machine had no more: it works everything off, and no job is sent back."""
    start, threads = threading.Thread.start, []

    def one_only(thread: threading.Thread) -> None:
        if thread.name.startswith("haulwright-run"):
            threads.append(thread)
            if len(threads) > 1:
                raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", one_only)

    @app.task()
    def short() -> str:
        return threading.current_thread().name

    handles = [short.enqueue() for _ in range(20)]
    app.run_worker(until_empty=True, concurrency=4)

    assert {handle.result(0) for handle in handles} == {"haulwright-run-1"}
    assert {(handle.job().attempts, handle.job().deferrals) for handle in handles} == {(1, 0)}


def test_a_child_that_cannot_reach_the_database_costs_neither_attempt_nor_loss(moved, monkeypatch):
    """The database may be away for a moment while a child starts."""

    class GoesAway(Observer):
        def claimed(self, _run: object, /) -> None:
            moved._url = "sqlite:////nowhere/at/all.db"

    monkeypatch.setattr(moved, "observers", [GoesAway()])
    handle = isolated.where.enqueue()
    moved.run_worker(until_empty=True, concurrency=1)

    job = handle.job()
    assert (job.state, job.waiting_on, job.attempts, job.losses) == (State.QUEUED, "start", 0, 0)
    assert "/nowhere/at/all.db" in (job.error_message or "")


def raising(error: BaseException):
    def start(*_: object) -> None:
        raise error

    return start
