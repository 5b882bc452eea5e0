"""An app that no module keeps cannot be imported by another process: that is said when a worker starts."""

from __future__ import annotations

import logging
import os

import pytest

from haulwright.engine.ids import new_id
from haulwright.errors import Refused

RUN_OUT = "update haulwright_jobs set lease_us = 1000000, lease_expires_at = 1"


def lose(app, count):
    """Let the leases of so many jobs be those of a worker that died."""
    app.store.leases.claim(new_id(), ["default"], count)
    app.store.database.transact(lambda connection: connection.execute(RUN_OUT))


def test_a_task_that_needs_a_process_of_its_own_is_refused_when_the_worker_starts(app):
    @app.task(isolation="process")
    def render() -> None: ...

    handle = render.enqueue()
    with pytest.raises(Refused, match="isolation='process' needs: render") as refusal:
        app.run_worker(until_empty=True)

    assert (refusal.value.exit_code, "app = make_app()" in refusal.value.hint) == (2, True)
    assert (handle.state(), handle.job().fence) == ("queued", 0)
    assert app.store.workers.list() == []


def test_such_a_task_of_another_queue_is_no_reason_to_refuse(app):
    @app.task(isolation="process", queue="heavy")
    def render() -> None: ...

    @app.task()
    def light() -> str:
        return "done"

    handle = light.enqueue()
    app.run_worker(until_empty=True)

    assert handle.result(0) == "done"


def test_a_job_whose_worker_died_under_it_runs_in_the_workers_own_process_with_one_warning(app, caplog):
    @app.task()
    def plain() -> int:
        return os.getpid()

    @app.task()
    async def asynchronous() -> int:
        return os.getpid()

    handles = [plain.enqueue(), plain.enqueue(), asynchronous.enqueue()]
    lose(app, 3)
    with caplog.at_level(logging.WARNING, "haulwright.worker"):
        app.run_worker(until_empty=True, concurrency=2)

    assert [handle.result(0) for handle in handles] == [os.getpid()] * 3
    assert [(handle.job().losses, handle.job().deferrals) for handle in handles] == [(1, 0)] * 3
    lines = [record.message for record in caplog.records if "no other can import the app" in record.message]
    assert len(lines) == 1
