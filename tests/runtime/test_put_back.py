"""A worker notices that its database was put back to an earlier time, says so, and takes its place in it again."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from haulwright import Context, Observer
from haulwright.errors import LeaseLost
from haulwright.stores.claim_cursor import ClaimCursor
from tests.runtime.waiting import eventually

PATIENCE_SECONDS = 90


class Notice(Observer):
    """Waits for the one call."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.came = threading.Event()

    def database_put_back(self, event: Any, /) -> None:
        self.events.append(event)
        self.came.set()


EARLIER = {
    "to a time when it knew the worker": "update haulwright_workers set beats = 0",
    "to a time before the worker began": "delete from haulwright_workers",
}


@pytest.mark.parametrize("earlier", EARLIER)
def test_a_database_that_was_put_back_is_noticed_and_said(app, start_worker, caplog, earlier):
    notice, refusals = Notice(), []
    app.observe(notice)

    @app.task(lease="1 s")
    def work(ctx: Context) -> None:
        """The database forgets this claim and the worker; another has the job under the same number."""
        if refusals:
            return
        eventually(lambda: beats_of(app) > 1)  # before its first beat there is nothing that it could remember
        give = "update haulwright_jobs set worker_id = '00000000-0000-7000-8000-000000000000'"
        for statement in (give, EARLIER[earlier]):
            ctx.store.database.transact(lambda connection, sql=statement: connection.execute(sql))
        assert notice.came.wait(PATIENCE_SECONDS)
        try:
            ctx.progress(1)
        except LeaseLost:
            refusals.append(ctx.job.fence)
            raise

    work.enqueue()
    with caplog.at_level("CRITICAL"):
        start_worker(concurrency=1)
        assert notice.came.wait(PATIENCE_SECONDS)

    (event,) = notice.events
    assert event.beats < event.remembered + 1
    assert "put back to an earlier time" in caplog.text
    eventually(lambda: app.store.events.latest(name="database.put_back"))
    (written,) = app.store.events.latest(name="database.put_back")
    assert written.data == {"worker": event.worker, "beats": event.beats, "remembered": event.remembered}
    assert [worker.name for worker in app.store.workers.list()] == [event.worker]


def test_a_lease_that_is_given_out_again_to_the_worker_that_holds_it_is_not_run_twice(app, start_worker):
    """The database forgot the claim, and the worker that still runs the job claims it again, under the same number."""
    forget = (
        "update haulwright_jobs set state = 'queued', fence = 0, attempts = 0, worker_id = null, leased_at = null, "
        "heartbeat_at = null, lease_expires_at = null"
    )
    begun, refusals, may_end = [], [], threading.Event()

    @app.task()
    def work(ctx: Context) -> int:
        begun.append(ctx.job.fence)
        if len(begun) > 1:
            may_end.set()
            return ctx.job.fence
        ctx.store.database.transact(lambda connection: connection.execute(forget))
        assert may_end.wait(PATIENCE_SECONDS)
        try:
            ctx.progress(1)
        except LeaseLost:
            refusals.append(ctx.job.fence)
            raise
        return 0

    job = work.enqueue()
    start_worker(concurrency=2)

    eventually(lambda: refusals)
    assert job.result(PATIENCE_SECONDS) == 2
    assert begun == [1, 2]


def test_a_lease_of_ours_whose_run_ended_since_the_backup_is_given_back_at_once(app, start_worker):
    """The database has it running here: nobody would renew it, nor run it before it runs out."""
    notice = Notice()
    app.observe(notice)

    @app.task(lease="1 s")
    def wait_for_notice() -> None:
        assert notice.came.wait(PATIENCE_SECONDS)

    @app.task(queue="aside", lease="1 h")
    def work() -> None: ...

    handle = work.enqueue()
    start_worker(concurrency=1)
    eventually(lambda: beats_of(app) > 0)
    (worker,) = app.store.workers.list()
    assert len(app.store.leases.claim(worker.id, ["aside"], 1, ClaimCursor())) == 1
    sql = EARLIER["to a time when it knew the worker"]
    app.store.database.transact(lambda connection: connection.execute(sql))
    wait_for_notice.enqueue()

    eventually(lambda: handle.state() == "queued")

    assert (handle.job().attempts, handle.job().losses) == (0, 0)


def beats_of(app):
    """How often the database has seen its worker."""
    rows = app.store.database.read(lambda connection: connection.execute("select beats from haulwright_workers"))
    return rows[0][0] if rows else 0
