"""A job in a process of its own can kill nobody else, and its death is known at once."""

from __future__ import annotations

import logging
import os

import pytest

from haulwright import Context, Haulwright, HaulwrightError
from haulwright.engine.ids import new_id
from haulwright.engine.transitions import State
from haulwright.runtime import children
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from tests.runtime import isolated
from tests.runtime.isolated import app


@pytest.fixture
def moved(database_url):
    database = open_database(database_url)
    migrations.migrate(database)
    database.close()
    with app.moved_to(database_url):
        yield app


@pytest.mark.crash
@pytest.mark.parametrize("task", [isolated.where, isolated.awhere], ids=["plain", "asynchronous"])
def test_an_isolated_task_runs_in_another_process_under_its_own_lease(moved, task):
    handle = task.enqueue()

    moved.run_worker(until_empty=True, concurrency=1)

    assert handle.result(0) != os.getpid()
    assert handle.job().progress is not None


@pytest.mark.crash
@pytest.mark.parametrize("task", [isolated.gather, isolated.agather], ids=["in a process", "on the event loop"])
def test_more_jobs_wait_for_others_than_a_worker_can_run(moved, task):
    """None of them holds the one place that the others need."""
    handles = [task.enqueue(count) for count in (2, 3, 4)]

    moved.run_worker(until_empty=True, concurrency=1)

    assert [handle.result(0) for handle in handles] == [1, 3, 6]
    assert [handle.job().attempts for handle in handles] == [1, 1, 1]


@pytest.mark.crash
@pytest.mark.parametrize(
    ("task", "reason", "told"),
    [
        (isolated.segfault, "lease_exhausted", "signal 11 (SIGSEGV)"),
        (isolated.leave, "lease_exhausted", "exit code 0"),
        (isolated.exit_politely, "attempts_exhausted", "3"),
        (isolated.never, "attempts_exhausted", "time limit"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_task_that_takes_its_process_along_dies_alone_and_says_how(moved, task, reason, told):
    deadly, neighbour = task.enqueue(), isolated.anywhere.enqueue()

    moved.run_worker(until_empty=True, concurrency=2)

    job = deadly.job()
    assert (job.state, job.reason) == (State.DEAD, reason)
    assert told in job.error_message
    assert (neighbour.result(0), neighbour.job().attempts) == (os.getpid(), 1)


@pytest.mark.crash
def test_a_job_whose_worker_died_under_it_runs_in_a_process_of_its_own(moved):
    suspect = isolated.anywhere.enqueue()
    moved.store.leases.claim(new_id(), ["default"])
    run_out = "update haulwright_jobs set lease_us = 1000000, lease_expires_at = 1"
    moved.store.database.transact(lambda connection: connection.execute(run_out))

    moved.run_worker(until_empty=True, concurrency=1)

    assert suspect.result(0) != os.getpid()
    assert suspect.job().losses == 1


def test_a_child_whose_run_broke_off_in_the_parent_does_not_answer_for_the_next_one(moved, monkeypatch):
    must_end, broken = children._Child._must_end, []

    def break_off_once(child, run):
        if not broken:
            broken.append(child.process)
            raise MemoryError
        return must_end(child, run)

    monkeypatch.setattr(children._Child, "_must_end", break_off_once)
    first, second = isolated.slowly.enqueue(1), isolated.slowly.enqueue(2)
    moved.run_worker(until_empty=True, concurrency=1)

    assert second.result(0) == 2
    job = first.job()  # given back unharmed; on a slow machine its pause may be over by now, and it has run again
    assert (job.state, job.attempts) in {(State.QUEUED, 0), (State.SUCCEEDED, 1)}
    assert job.error_class == "MemoryError"
    assert not broken[0].is_alive()


def test_an_app_that_no_module_knows_cannot_be_sent_to_another_process():
    with pytest.raises(HaulwrightError, match="found by name"):
        Haulwright().address()


@pytest.mark.crash
def test_what_a_task_logs_in_a_process_of_its_own_is_in_the_workers_log_with_its_job(moved, caplog):
    caplog.set_level(logging.INFO)
    handle = isolated.talk.enqueue()

    moved.run_worker(until_empty=True, concurrency=1)

    lines = {record.getMessage(): record for record in caplog.records if record.processName == "haulwright-child"}
    assert set(lines) == {"3 pages", "a page was skipped"}
    assert {record.facts["job"] for record in lines.values()} == {handle.id}
    assert (lines["3 pages"].name, lines["3 pages"].facts["host"]) == ("talk", "shop.example")
    assert "ZeroDivisionError: division by zero" in lines["a page was skipped"].exc_text


@pytest.mark.crash
def test_what_a_task_adds_to_a_line_in_a_process_of_its_own_is_there_for_any_handler(moved, caplog):
    caplog.set_level(logging.INFO)
    handle = isolated.talk_badly.enqueue()

    moved.run_worker(until_empty=True, concurrency=1)

    record = next(record for record in caplog.records if record.getMessage() == "a page")
    line = logging.Formatter("%(job)s %(task)s %(tenant)s %(attempt)s %(page)d %(sku)s").format(record)
    assert line == f"{handle.id} talk_badly default 1 3 shop.example"


@pytest.mark.crash
def test_a_line_that_cannot_be_written_ends_no_task(moved, caplog):
    caplog.set_level(logging.INFO)
    handle = isolated.talk_badly.enqueue()

    moved.run_worker(until_empty=True, concurrency=1)

    assert handle.result(0) == "done"
    lines = [record.getMessage() for record in caplog.records if record.processName == "haulwright-child"]
    assert lines == ["a page", "%d pages ('three',)", "a page", "and on"]


@pytest.mark.crash
def test_a_handler_of_the_worker_that_raises_ends_no_run_in_a_process_of_its_own(moved, monkeypatch, caplog):
    caplog.set_level(logging.INFO)

    class Full(logging.Handler):
        def emit(self, record):
            raise OSError(record.getMessage())

    talkers = [logging.getLogger("shop"), logging.getLogger("talk_badly")]
    for logger in talkers:
        monkeypatch.setattr(logger, "handlers", [Full()])
        monkeypatch.setattr(logger, "level", logging.INFO)
    handle = isolated.talk_badly.enqueue()

    moved.run_worker(until_empty=True, concurrency=1)

    assert (handle.result(0), handle.job().attempts) == ("done", 1)


@pytest.mark.crash
def test_a_task_that_logs_without_an_end_is_ended_at_its_time_limit(moved):
    handle = isolated.talk_on.enqueue()

    moved.run_worker(until_empty=True, concurrency=1)

    assert "time limit" in handle.job().error_message


def test_a_context_has_a_logger_that_names_its_job(bench, caplog):
    caplog.set_level(logging.INFO)
    app = bench.use(Haulwright())

    @app.task(name="shop.scrape")
    def scrape(ctx: Context) -> None:
        ctx.log.info("%s pages", 3)

    handle = scrape.enqueue()
    bench.drain()

    (record,) = [record for record in caplog.records if record.getMessage() == "3 pages"]
    assert (record.name, record.job, record.task, record.attempt) == ("shop.scrape", handle.id, "shop.scrape", 1)
