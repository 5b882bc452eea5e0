"""The loop of the document runs on the fenced engine: to its end, and through a kill in the middle."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from haulwright import Haulwright
from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.compat import ApifyClient, BrandBrain
from haulwright.sandbox import Sandbox
from haulwright.sandbox.books import digest
from tests.apps.brands.document_worker import Command
from tests.apps.brands.scenes import ACME, SIX, connect, count, runs_of

OPTIONS = {"poll_interval": 0.05, "stale_check_interval": 0, "max_jobs": 0, "once": True}


@pytest.fixture
def outside():
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def brands(database_url, outside, monkeypatch):
    """Brands by the database's own clock, which another process can have as well."""
    monkeypatch.setenv("APIFY_TOKEN", "token-of-mine")
    monkeypatch.setenv("APIFY_BASE_URL", f"{outside.url}/apify")
    monkeypatch.setenv("HAULWRIGHT_DATABASE_URL", database_url)
    monkeypatch.setenv("HAULWRIGHT_BRANDS_POLL_INTERVAL_SECONDS", "0.05")
    with closing(Haulwright(database_url)) as app:
        yield Brands(app)


@pytest.mark.proves("CLI-06")
def test_the_loop_of_the_document_carries_a_compile_to_its_end(brands, outside):
    outside.apify.script(duration_seconds=0, times=None)
    words, brand = BrandBrain(brands, ACME), brands.add(ACME, "Acme")
    connect(brands, brand, SIX[0], SIX[2])
    made = words.enqueue_compile_job(brand.id)

    Command(words, "by hand").handle(**OPTIONS)

    run = brands.compile_run(ACME, made.compile_run_id)
    job = words.get_job(made.job_id)
    assert (run.status, len(run.evidence_status["refreshed"])) == ("succeeded", 2)
    assert (job.status, job.attempts, job.locked_by, job.last_error) == ("succeeded", 1, None, None)
    assert len(outside.books.paid_runs()) == 2
    assert brands.snapshot(ACME, brand.id)["number"] == 1


def test_a_compile_that_fails_in_the_loop_waits_for_its_next_try(brands, outside):
    outside.apify.script(duration_seconds=0, ending="FAILED", message="the profile is private")
    words, brand = BrandBrain(brands, ACME), brands.add(ACME, "Acme")
    connect(brands, brand)
    made = words.enqueue_compile_job(brand.id)

    Command(words, "by hand").handle(**OPTIONS)

    job = words.get_job(made.job_id)
    assert (job.status, job.attempts, job.locked_by) == ("pending", 1, None)
    assert "the profile is private" in job.last_error


@pytest.mark.crash
@pytest.mark.proves("HB-13")
def test_the_loop_of_the_document_goes_on_after_a_kill_and_pays_once(brands, outside):
    outside.apify.script(duration_seconds=200, times=None)
    words, brand = BrandBrain(brands, ACME), brands.add(ACME, "Acme")
    connections = connect(brands, brand, SIX[0], SIX[2])
    made = words.enqueue_compile_job(brand.id)
    with subprocess.Popen([sys.executable, "-m", "tests.apps.brands.document_worker", "doomed"]) as doomed:
        assert outside.clock.wait(lambda _: len(outside.books.requests(path="/apify/v2/actor-runs/*")) > 3, 60)
        doomed.kill()
    outside.clock.advance(200)

    Command(words, "next").handle(**OPTIONS)

    run = brands.compile_run(ACME, made.compile_run_id)
    assert (run.status, len(run.evidence_status["refreshed"]), run.error) == ("succeeded", 2, None)
    assert words.get_job(made.job_id).status == "succeeded"
    assert sorted(paid.run for paid in outside.books.paid_runs()) == sorted(
        paid.actor_run_id for each in connections for paid in runs_of(brands, each)
    )
    assert (len(outside.books.paid_runs()), count(brands, "brands_snapshots")) == (2, 1)


def test_a_source_is_brought_in_through_the_callers_own_client_and_in_its_time(brands, outside):
    (connection,) = connect(brands, brands.add(ACME, "Acme"))
    outside.apify.script(ending="NEVER")
    client = ApifyClient("token-of-another", f"{outside.url}/apify")

    brought = BrandBrain(brands, ACME).ingest_source(
        connection, poll_timeout_s=0.5, poll_interval_s=0.05, apify_client=client
    )

    (run,) = runs_of(brands, connection)
    assert (brought.success, brought.apify_run_id, brought.apify_run_status) == (False, run.id, "timed_out")
    assert brought.error.startswith("Polling timed out after 0.5s")
    start = next(one for one in outside.books.requests(method="POST") if one.path.endswith("/runs"))
    assert start.headers["authorization"] == digest("Bearer token-of-another")


def test_two_who_bring_the_same_source_in_at_once_pay_for_one_run(brands, outside):
    outside.apify.script(duration_seconds=1, times=None)
    (connection,) = connect(brands, brands.add(ACME, "Acme"))

    def ingest(_number):
        return BrandBrain(brands, ACME).ingest_source(connection, poll_interval_s=0.05)

    with ThreadPoolExecutor(2) as threads:
        results = list(threads.map(ingest, range(2)))

    (run,) = runs_of(brands, connection)
    assert [(each.success, each.apify_run_id, each.error) for each in results] == [(True, run.id, None)] * 2
    assert len(outside.books.paid_runs()) == 1
