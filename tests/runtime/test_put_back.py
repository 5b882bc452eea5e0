"""A worker notices that its database was put back to an earlier time, says so, and takes its place in it again."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from haulwright import Context, Observer
from haulwright.errors import LeaseLost
from tests.runtime.waiting import eventually

PATIENCE_SECONDS = 20


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
