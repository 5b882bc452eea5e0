"""What operators read: the queries of the document, and the measures that it asks for."""

from __future__ import annotations

import pytest

from haulwright.engine.transitions import State
from tests.apps.syncs.scenes import support

STUCK = {
    "sqlite": "select job_id, tenant_id, connector_id, started_at from ingestion_jobs "
    "where status = 'running' and started_at < datetime('now', '-2 hours')",
    "postgres": "SELECT job_id, tenant_id, connector_id, started_at FROM ingestion_jobs "
    "WHERE status = 'running' AND started_at < NOW() - INTERVAL '2 hours'",
}
DEAD_BY_CODE = (
    "SELECT error_code, COUNT(*) as count FROM ingestion_jobs WHERE status = 'dead_letter' "
    "GROUP BY error_code ORDER BY count DESC"
)


@pytest.mark.proves("HB-10")
def test_the_query_for_stuck_syncs_runs_as_the_document_has_it(world):
    world.connect()
    world.sandbox.airbyte.script(ending="never")
    job_id = world.dispatch()
    assert world.rows(STUCK[world.bench.store.database.dialect]) == []
    world.bench.drain()  # on the test's clock, which is years ago

    ((stuck, tenant, connector, _),) = world.rows(STUCK[world.bench.store.database.dialect])

    assert (stuck, tenant, connector) == (job_id, "acme", "shop")
    assert [row["job_id"] for row in world.syncs.stats.all()["stuck"]] == [job_id]


@pytest.mark.proves("DL-04")
def test_the_query_for_dead_letters_by_error_code_runs_as_the_document_has_it(world):
    for name, status in (("a", "inactive"), ("b", "inactive"), ("c", "active")):
        world.connect(name=name, status=status)
        world.finish(world.dispatch(name))

    assert world.rows(DEAD_BY_CODE) == [("conflict", 2)]
    (counted,) = world.syncs.stats.all()["dead_letters"]
    assert (counted["tenant_id"], counted["error_code"], counted["jobs"]) == ("acme", "conflict", 2)


def test_a_dead_letter_that_was_requeued_waits_for_nobody(world):
    world.connect(status="inactive")
    letter = world.dispatch()
    world.finish(letter)

    world.syncs.requeue(support(), letter)

    assert world.syncs.stats.all()["dead_letters"] == []


@pytest.mark.proves("ME-01")
def test_success_duration_retries_and_the_queue_are_measured(world):
    world.connect(name="good")
    world.connect(name="bad")
    world.sandbox.airbyte.script(connection="acme good", ending="failed", duration_seconds=30)
    world.sandbox.airbyte.script(connection="acme good", rows=10, duration_seconds=120, times=None)
    world.sandbox.airbyte.script(connection="acme bad", ending="failed", times=None)
    jobs = [world.dispatch(name) for name in ("good", "bad")]
    assert [world.finish(job_id, "6 min").state for job_id in jobs] == [State.SUCCEEDED, State.DEAD]

    told = world.syncs.stats.all()

    bad, good = told["by_connector"]
    assert (good["connector_id"], good["success_rate"], good["mean_duration_seconds"]) == ("good", 1.0, 120.0)
    assert (good["records_synced"], bad["success_rate"], bad["dead"]) == (10, 0.0, 1)
    assert told["retries"] == [{"error_code": "sync_failed", "retries": 6, "jobs": 2, "rate": 3.0}]
    assert told["queued"] == [{"minute": "2024-01-01 00:00", "queued": 2}]
    assert told["states"] == [{"status": "dead_letter", "jobs": 1}, {"status": "success", "jobs": 1}]


@pytest.mark.proves("AU-01")
def test_the_first_event_of_a_sync_names_its_connection_and_account(world):
    world.connect()
    job_id = world.dispatch()

    (queued,) = world.bench.store.events.of_job(job_id)

    assert queued.name == "job.queued"
    assert queued.data == {
        "job_id": job_id,
        "tenant_id": "acme",
        "connector_id": "shop",
        "external_account_id": "acme-shop",
    }
