"""A bulk action whose worker is killed in the middle: each job is acted on once, and none is forgotten."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from haulwright import Haulwright, Permanent, Principal, State

WORKER = Path(__file__).with_name("bulk_worker.py")
SUPPORT = Principal.support("ann", tenant="acme", reason="ticket 7")
LETTERS = 23
PATIENCE_SECONDS = 120


@pytest.fixture
def app(database_url):
    with closing(Haulwright(database_url)) as app:

        @app.task(name="fails")
        def fails(sku: str) -> None:
            raise Permanent(sku)

        app.enqueue_many([fails.using(tenant="acme").call(str(number)) for number in range(LETTERS)])
        app.run_worker(until_empty=True, schedules=False)
        yield app


def work(database_url, moment, nth):
    command = [sys.executable, str(WORKER), database_url, moment, str(nth)]
    return subprocess.run(command, check=False, timeout=PATIENCE_SECONDS, capture_output=True).returncode


@pytest.mark.crash
@pytest.mark.parametrize(("moment", "nth", "done"), [("inside a page", 8, 5), ("behind a page", 2, 10)])
def test_each_job_is_acted_on_exactly_once_whenever_the_worker_dies(app, database_url, moment, nth, done):
    operations = app.operations(SUPPORT)
    action = operations.bulk.start("requeue", "task:fails")

    code = work(database_url, moment, nth)
    halfway = operations.bulk.get(action.job.id)
    assert work(database_url, "never", 0) == 0

    assert code == -signal.SIGKILL
    assert (halfway.job.state, halfway.progress.done) == (State.RUNNING, done)
    ended = operations.bulk.get(action.job.id)
    assert (ended.job.state, ended.job.losses) == (State.SUCCEEDED, 1)
    assert (ended.progress.done, ended.progress.of, ended.progress.refused) == (LETTERS, LETTERS, 0)
    record = app.store.events.latest(name="job.requeued", limit=1000)
    assert Counter(event.job_id for event in record).most_common(1)[0][1] == 1
    assert len(record) == LETTERS
    (event,) = app.store.events.latest(name="bulk.finished")
    assert (event.data["done"], event.data["refused"], event.actor) == (LETTERS, 0, "support:ann")
