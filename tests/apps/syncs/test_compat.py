"""The words of the document: its states, its dispatcher, its worker cycle."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import UTC, datetime

import pytest

from haulwright.apps.syncs.compat import JobDispatcher, retry_count, run_worker_cycle, status
from haulwright.apps.syncs.errors import ActiveJobExists
from haulwright.clock import SECOND
from haulwright.engine.transitions import State
from haulwright.errors import Forbidden, Refused
from tests.apps.syncs.scenes import opened, support

TABLE = [
    (State.QUEUED, 0, False, "queued", 0),
    (State.QUEUED, 0, True, "running", 0),
    (State.QUEUED, 2, False, "failed", 2),
    (State.QUEUED, 2, True, "running", 2),
    (State.RUNNING, 1, False, "running", 0),
    (State.RUNNING, 3, True, "running", 2),
    (State.SUCCEEDED, 1, False, "success", 0),
    (State.SUCCEEDED, 6, False, "success", 5),
    (State.DEAD, 6, False, "dead_letter", 5),
    (State.DEAD, 0, False, "dead_letter", 0),
    (State.CANCELLED, 1, False, "cancelled", 0),
    (State.SKIPPED, 1, False, "skipped", 0),
]


@pytest.mark.proves("JOB-06", "JOB-09")
@pytest.mark.parametrize(("state", "attempts", "under_way", "word", "retries"), TABLE)
def test_every_state_has_its_word_and_its_number_of_retries(state, attempts, under_way, word, retries):
    assert (status(state, attempts, under_way=under_way), retry_count(state, attempts)) == (word, retries)


def test_the_table_is_total():
    assert {row[0] for row in TABLE} == set(State)


@pytest.mark.proves("JOB-06", "JOB-17")
def test_the_view_has_the_same_words_at_every_step_of_a_sync(world):
    world.connect()
    world.sandbox.airbyte.script(ending="failed")
    job_id = world.dispatch()

    seen = []
    for _ in range(12):
        ((word, retries, under_way),) = world.rows(
            "select status, retry_count, run_id is not null and "
            "exists (select 1 from syncs_runs where settled_at is null) from ingestion_jobs"
        )
        job = world.job(job_id)
        assert (word, retries) == (
            status(job.state, job.attempts, under_way=bool(under_way)),
            retry_count(job.state, job.attempts),
        )
        seen.append(word)
        world.bench.advance("20 s")
        world.bench.drain()

    assert list(dict.fromkeys(seen)) == ["queued", "running", "failed", "success"]


@pytest.mark.proves("ENQ-03", "ENQ-04", "CLI-06")
def test_a_dispatcher_dispatches_and_lists_as_the_document_says(world, app):
    world.connect(external_account_id="shop-456")
    dispatcher = JobDispatcher(app, "acme")

    job = dispatcher.dispatch(connector_id="shop", external_account_id="shop-456", correlation_id="req-789")

    assert (job.status, job.retry_count, job.run_id) == ("queued", 0, None)
    assert (job.external_account_id, job.correlation_id) == ("shop-456", "req-789")
    assert dispatcher.get_queued_jobs() == [job]
    with pytest.raises(ActiveJobExists):
        dispatcher.dispatch("shop")


def test_a_job_says_when_it_is_tried_again(world, app):
    world.connect()
    world.sandbox.faults.add("status", path="/airbyte/v1/jobs", method="POST", code=500)
    dispatcher = JobDispatcher(app, "acme")
    job = dispatcher.dispatch("shop")
    assert job.next_retry_at is None
    world.bench.drain()

    waiting = dispatcher.get_job(job.job_id)

    assert (waiting.status, waiting.error_code) == ("failed", "server_error")
    run_at = datetime.fromtimestamp(world.job(job.job_id).run_at // SECOND, UTC)
    assert waiting.next_retry_at == run_at


def test_a_dispatch_on_the_callers_connection_commits_or_not_with_the_callers_rows(world, app, database_url):
    world.connect()

    made = []
    for commits in (False, True):
        with closing(opened(database_url)) as connection:
            made.append(JobDispatcher(connection, "acme", app=app).dispatch("shop"))
            connection.commit() if commits else connection.rollback()

    assert [job.job_id for job in JobDispatcher(app, "acme").get_queued_jobs()] == [made[1].job_id]


def test_a_connection_without_an_app_is_refused():
    with pytest.raises(Refused, match="app=app"):
        JobDispatcher(object(), "acme")


@pytest.mark.proves("DL-02", "DL-03", "CLI-06")
def test_the_dispatcher_requeues_for_support_alone(world, app):
    world.connect(status="inactive")
    dispatcher = JobDispatcher(app, "acme")
    letter = dispatcher.dispatch("shop").job_id
    world.finish(letter)

    with pytest.raises(Forbidden):
        dispatcher.requeue_from_dlq(letter)
    job = dispatcher.requeue_from_dlq(letter, "support-ticket-123", principal=support())

    assert (job.status, job.correlation_id) == ("queued", "support-ticket-123")
    assert world.job(job.job_id).requeued_from == letter


@pytest.mark.proves("IN-16", "RT-11")
def test_a_worker_cycle_counts_new_syncs_and_retries(world, app):
    for name in ("a", "b", "c"):
        world.connect(name=name)
    world.sandbox.faults.add("status", path="/airbyte/v1/jobs", method="POST", code=500)
    world.dispatch("a")
    world.bench.drain()
    world.bench.advance("80 s")
    world.dispatch("b")
    world.dispatch("c")

    counted = asyncio.run(run_worker_cycle(app))

    assert counted == {"queued_processed": 2, "retry_processed": 1}
    assert [len(world.remote(name=name)) for name in ("a", "b", "c")] == [1, 1, 1]
