"""Document 002, lines 147 to 174, 235, each executed or compared: what is told of a sync, and dead letters."""

from __future__ import annotations

import pytest

from haulwright.apps.syncs.compat import JobDispatcher
from haulwright.errors import Forbidden
from tests.apps.syncs.scenes import support

line = pytest.mark.line


def streamed(world, name):
    """The fields of the newest event of a sync of this name, as somebody who follows events sees them."""
    syncs = {str(job_id) for (job_id,) in world.rows("select job_id from ingestion_jobs")}
    events = world.app.store.events.latest(name=name)
    return next((event.data for event in events if event.data.get("job_id") in syncs), {})


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        pytest.param(
            "job.retry",
            "job_id retry_count delay_seconds",
            marks=line("155", "job.retry has job_id, retry_count, delay_seconds"),
        ),
        pytest.param(
            "job.failed",
            "job_id error_message error_code",
            marks=line("156", "job.failed has job_id, error_message, error_code"),
        ),
        pytest.param(
            "job.dead_lettered",
            "job_id retry_count error_message",
            marks=line("157", "job.dead_lettered has job_id, retry_count, error_message"),
        ),
        pytest.param(
            "job.completed",
            "job_id records_synced duration_seconds",
            marks=line("158", "job.completed has job_id, records_synced, duration_seconds"),
        ),
    ],
)
def test_an_event_is_in_the_stream_with_its_fields(world, name, fields):
    world.connect(name="good")
    world.sandbox.airbyte.script(connection="acme good", ending="failed")
    world.finish(world.dispatch("good"), "20 s")
    world.connect(name="bad", status="inactive")
    world.finish(world.dispatch("bad"))

    assert set(fields.split()) <= set(streamed(world, name))


@line("153", "job.queued is logged when a job is created, with job_id, tenant_id, connector_id")
def test_job_queued_is_in_the_stream(world):
    world.connect()
    job_id = world.dispatch()

    told = streamed(world, "job.queued")

    assert (told.get("job_id"), told.get("tenant_id"), told.get("connector_id")) == (job_id, "acme", "shop")


@line("154", "job.started is logged when the execution begins")
def test_job_started_is_in_the_stream_while_the_job_runs(world):
    world.connect()
    job_id = world.dispatch()
    with world.bench.crash(world.syncs.sync_task, after="claim"):
        world.bench.drain()

    assert streamed(world, "job.started").get("job_id") == job_id


@line(
    "154",
    "job.started has the run_id",
    differs="the run begins after the job does: job.remote_started has it",
    page="applications/syncs.md#events",
)
def test_job_started_has_the_run(world):
    world.connect()
    job_id = world.dispatch()
    world.finish(job_id)
    assert streamed(world, "job.remote_started")["run_id"] == str(world.remote()[0].id)

    assert all("run_id" in event.data for event in world.events(job_id, "job.started"))


@line("166-174", "support requeues a dead letter with job_id and correlation_id, and gets the new job")
@line("235", "only support staff requeues")
def test_the_code_of_the_requeue(world, app):
    world.connect(status="inactive")
    dispatcher = JobDispatcher(app, "acme")
    letter = dispatcher.dispatch("shop").job_id
    world.finish(letter)
    with pytest.raises(Forbidden):
        dispatcher.requeue_from_dlq(job_id=letter, correlation_id="support-ticket-123")

    new_job = dispatcher.requeue_from_dlq(job_id=letter, correlation_id="support-ticket-123", principal=support())

    assert (new_job.status, new_job.correlation_id) == ("queued", "support-ticket-123")
    assert new_job.job_id != letter
