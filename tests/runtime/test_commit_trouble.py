"""A statement of a task's own that fails is the task's trouble; one of ours, or a server that goes away, is not."""

from __future__ import annotations

import threading
from contextlib import closing

import psycopg
import pytest

from haulwright import Context, Haulwright, Observer, Retry, Tx
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from tests.runtime.waiting import eventually

pytestmark = pytest.mark.postgres


@pytest.fixture
def app(postgres_url):
    """An app whose server ends statements that take longer than they should."""
    with closing(open_database(postgres_url)) as database:
        migrations.migrate(database)
    with closing(Haulwright(f"{postgres_url}%20-c%20statement_timeout%3D200")) as app:
        yield app


def too_slow(tx: Tx) -> None:
    tx.execute("select pg_sleep(60)")


def locked_out(tx: Tx) -> None:
    tx.execute("set local lock_timeout = '1ms'")
    tx.execute("lock table haulwright_keys")


@pytest.mark.parametrize(
    ("function", "error"),
    [(too_slow, "QueryCanceled"), (locked_out, "LockNotAvailable")],
    ids=["too slow", "locked out"],
)
def test_a_commit_whose_own_statement_always_times_out_is_the_tasks_trouble(app, function, error):
    """It is counted, and its job is dead with that cause in the end: nobody waits for a database that is well."""

    @app.task(retry=Retry(2, base=0, jitter=0))
    def work(ctx: Context) -> None:
        ctx.commit("work", function)

    handle = work.enqueue()
    with psycopg.connect(app.database_url) as other:
        other.execute("lock table haulwright_keys in share mode")
        app.run_worker(until_empty=True)

    job = handle.job()
    assert (job.state, job.attempts, job.reason, job.error_class) == ("dead", 2, "attempts_exhausted", error)


def test_a_commit_whose_server_goes_away_under_its_own_statement_burns_no_attempt(app, start_worker):
    calls = []

    def end_the_session(tx: Tx) -> int:
        calls.append(1)
        if len(calls) < 4:
            tx.execute("select pg_terminate_backend(pg_backend_pid())")
        return len(calls)

    @app.task(retry=1)
    def work(ctx: Context) -> int:
        return ctx.commit("work", end_the_session)

    handle = work.enqueue()
    start_worker()

    assert (handle.result(90), handle.job().attempts) == (4, 1)


def test_a_statement_of_our_own_that_times_out_burns_no_attempt(app, start_worker):
    """The lock, the ledger and the settlement are ours, also in a commit."""
    let_go, outcomes = threading.Event(), []

    class Outcomes(Observer):
        def ended(self, event):
            outcomes.append(event.outcome)

    @app.task(retry=1)
    def work(ctx: Context) -> str:
        if not let_go.is_set():
            other.execute("select from haulwright_jobs where id = %s for update", [ctx.job.id])
        return ctx.commit("work", lambda _: "done")

    app.observe(Outcomes())
    handle = work.enqueue()
    with psycopg.connect(app.database_url) as other:
        start_worker()
        eventually(lambda: outcomes == ["snooze"])
        let_go.set()
        other.rollback()

    assert handle.result(90) == "done"
    assert handle.job().attempts == 1
