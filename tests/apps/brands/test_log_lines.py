"""The log lines of the document, as somebody would search for them."""

from __future__ import annotations

import logging

import pytest

from haulwright.apps.brands.compat import BrandBrain
from haulwright.engine.ids import new_id
from tests.apps.brands.scenes import ACME, connect, runs_of


@pytest.fixture
def lines(caplog):
    """What was logged by brands."""
    caplog.set_level(logging.DEBUG, logger="haulwright.brands")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "haulwright.brands"]


def test_a_run_is_told_from_its_start_to_its_items(brands, brand, settle, lines):
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()

    (run,) = runs_of(brands, connection)
    told = lines()
    assert [line for line in told if not line.startswith("Run still in progress")] == [
        f"Started Apify run {run.id} (apify_run_id={run.actor_run_id}) for {connection.id}",
        f"Polling run: run_id={run.actor_run_id}, timeout_s=300",
        f"Run completed: run_id={run.actor_run_id}, status=SUCCEEDED",
        f"Stored 50 raw items for ApifyRun {run.id}",
        f"Normalization complete for ApifyRun {run.id}: created=50, updated=0",
    ]
    assert f"Run still in progress: run_id={run.actor_run_id}, status=RUNNING, elapsed=10.0s" in told


def test_a_run_that_is_given_up_is_told_too(brands, brand, sandbox, settle, lines):
    sandbox.apify.script(ending="NEVER")
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()

    assert [line for line in lines() if line.startswith(f"Ingestion timed out for {connection.id}: Polling timed out")]


def test_jobs_are_told_when_they_are_enqueued_claimed_and_failed(brands, brand, bench, lines):
    words, run_id = BrandBrain(brands, ACME), new_id()
    made = words.enqueue_compile_job(brand.id, run_id)
    for _ in range(3):
        words.claim_next_job(worker_id="by hand")
        words.fail_job(made.job_id, "boom")
        bench.advance("2 min")

    first, claimed, retried, *_, dead = lines()
    assert first == f"Enqueued compile job {made.job_id} for brand {brand.id} (compile_run={run_id})"
    assert claimed == f"Claimed job {made.job_id} for brand {brand.id} (attempt 1/3, worker=by hand)"
    assert retried == (
        f"Job {made.job_id} scheduled for retry (attempt 1/3, available at 2024-01-01T00:01:00+00:00): boom"
    )
    assert dead == f"Job {made.job_id} permanently failed after 3 attempts: boom"
