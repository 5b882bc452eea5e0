"""Document 003, lines 1 to 72, each executed or compared: states, heartbeats, reclaiming, claims, backoff."""

from __future__ import annotations

import logging

import pytest

from haulwright.apps.prices.compat import STATUSES, ScrapeWorker
from haulwright.apps.prices.retry import COLLECT_RETRY
from haulwright.apps.prices.settings import PriceSettings
from haulwright.engine.lease import renewal_seconds
from haulwright.settings import Settings
from haulwright.stores.books import book
from tests.apps.prices.scenes import WHO, World

line = pytest.mark.line
PAGE = "applications/prices.md"


@pytest.fixture
def words(prices):
    return ScrapeWorker(prices, "worker-1")


@pytest.fixture
def job_id(world):
    world.source()
    (made,) = world.prices.collect(WHO, world.intake().intake_id)
    return made.id


def row(world, columns="status"):
    """The only job, as the view shows it."""
    values = world.rows(f"select {columns} from scrape_jobs")[0]  # noqa: S608 - as written above
    return values[0] if len(values) == 1 else tuple(values)


@line("9-17", "pending, running, succeeded; or retryable and running again; or failed; and back to pending when stuck")
@line("21-25", "the states are pending, running, retryable, succeeded and failed")
def test_there_are_the_five_states():
    assert set(STATUSES) == {"pending", "running", "retryable", "succeeded", "failed"}


@line("21", "a job is pending at first, and ready to be claimed")
@line("22", "a job that a worker processes is running")
@line("24", "a job that completed is succeeded")
@line("29", "pending to running is one atomic claim: nobody else gets it")
@line("30", "running to succeeded when it completes")
@line("56", "only one worker can claim a job")
@line("63", "several workers never process one job at a time")
def test_from_pending_through_running_to_succeeded(world, words, job_id):
    assert row(world) == "pending"

    assert words.claim_next_pending_job()["id"] == job_id
    assert ScrapeWorker(world.prices, "worker-2").claim_next_pending_job() is None
    assert row(world) == "running"
    assert words.mark_succeeded(job_id)

    assert row(world) == "succeeded"


@line("25", "failed is final")
@line("31", "running to failed by an error for good")
def test_an_error_for_good(world, words, job_id):
    words.claim_next_pending_job()
    words.mark_failed(job_id, "no such page")
    world.bench.advance("25 h")

    assert (row(world), words.claim_next_pending_job()) == ("failed", None)


@line("23", "a job that met a passing error is retryable until its backoff is over")
@line("33", "retryable to running when next_retry_at has passed, looked at by the claim")
@line("71", "next_retry_at says when it is tried again")
@line("72", "it can be claimed only after that")
def test_a_passing_error(world, words, job_id):
    words.claim_next_pending_job()
    words.mark_retryable(job_id, "connection reset")
    assert row(world, "status, next_retry_at is not null") == ("retryable", 1)

    world.bench.advance("59 s")
    assert words.claim_next_pending_job() is None
    world.bench.advance("2 s")

    assert words.claim_next_pending_job()["id"] == job_id
    assert row(world) == "running"


@pytest.mark.parametrize("fault", [{"code": 503}, {"kind": "refuse"}], ids=["server", "connection"])
@line("32", "running to retryable by a passing error: a time-out, a lost connection")
def test_errors_that_pass(world, fault):
    world.page()
    world.sandbox.faults.add(fault.get("kind", "status"), path="/shop/coinhall/page/odd", code=fault.get("code", 500))
    world.collect(world.intake())

    assert row(world) == "retryable"


@line(
    "32",
    "running to retryable by a rate limit",
    differs="it waits as long as the server asks, and burns no attempt",
    page=f"{PAGE}#what-goes-wrong",
)
def test_a_rate_limit_is_a_passing_error(world):
    world.page()
    world.sandbox.faults.add("rate_limit", path="/shop/coinhall/page/odd", retry_after=600)
    world.collect(world.intake())

    assert row(world) == "retryable"


@line("34", "running to pending when there was no heartbeat for JOB_LOCK_TIMEOUT_SECONDS")
@line("43", "a job whose heartbeat stops is stuck")
@line("50", "a job is stuck when its heartbeat is older than 300 seconds")
@line("51", "it is reset to pending, and can be claimed")
def test_a_stuck_job_is_reset(world, words, job_id):
    words.claim_next_pending_job()
    world.bench.advance("299 s")
    assert words.reclaim_stuck_jobs() == 0
    world.bench.advance("2 s")

    assert words.reclaim_stuck_jobs() == 1
    assert row(world) == "pending"
    assert ScrapeWorker(world.prices, "worker-2").claim_next_pending_job()["id"] == job_id


@line("40", "a worker sends a heartbeat every 20 seconds")
def test_a_heartbeat_every_20_seconds(prices):
    assert renewal_seconds(prices.collect_task.options.lease_us) == 20


@line("42", "a heartbeat updates heartbeat_at")
def test_a_heartbeat_moves_its_time(world, words, job_id):
    words.claim_next_pending_job()
    first = row(world, "heartbeat_at")
    world.bench.advance("20 s")

    assert words.heartbeat(job_id)
    assert row(world, "heartbeat_at") > first


@line("49", "stuck jobs are looked for every 60 seconds at least")
def test_stuck_jobs_are_looked_for_once_a_minute():
    assert Settings.load({})["stale_check_interval_seconds"] == 60


@line("50", "JOB_LOCK_TIMEOUT_SECONDS is 300 unless the environment says otherwise")
def test_the_lock_time_out_comes_from_the_environment():
    usual, ours = ({}, {"JOB_LOCK_TIMEOUT_SECONDS": "77"})

    assert PriceSettings.load(Settings.load(usual)).lease_seconds == 300
    assert PriceSettings.load(Settings.load(ours)).lease_seconds == 77


@line("50", "it is the worker's: what a worker claims it holds for so long")
def test_the_lock_time_out_is_the_workers(world, job_id, monkeypatch):
    monkeypatch.setenv("JOB_LOCK_TIMEOUT_SECONDS", "60")
    worker = World.open(world.bench, world.sandbox)
    ScrapeWorker(worker.prices, "worker-1").claim_next_pending_job()
    world.bench.advance("61 s")

    assert (ScrapeWorker(world.prices, "worker-2").reclaim_stuck_jobs(), row(world)) == (1, "pending")
    assert job_id


@line(
    "52",
    "reclaiming counts an attempt",
    differs="attempts are counted once, at the claim; losses have a counter of their own",
    page="explanation/life-of-a-job.md#the-life-of-a-job",
)
def test_reclaiming_counts_an_attempt(world, words, job_id):
    words.claim_next_pending_job()
    before = row(world, "attempts")
    world.bench.advance("301 s")
    words.reclaim_stuck_jobs()

    assert job_id
    assert row(world, "attempts") == before + 1


@line("52", "the log names the worker that held a reclaimed job")
def test_the_log_names_who_held_it(world, words, job_id, caplog):
    words.claim_next_pending_job()
    world.bench.advance("301 s")
    with caplog.at_level(logging.INFO):
        world.bench.drain(limit=0)
    told = [str(event.data) for event in world.app.store.events.latest(name="job.lease_expired")]

    assert job_id
    assert "worker-1" in caplog.text + "".join(told)


@line(
    "29",
    "the claim is a function of the database, claim_next_pending_job",
    differs="a database file has no functions: a method there",
    page="applications/prices.md#from-code",
    on="sqlite",
)
def test_the_claim_is_a_function_of_the_database(world):
    functions = {
        "postgres": "select count(*) from pg_proc where proname = 'claim_next_pending_job'",
        "sqlite": "select count(*) from pragma_function_list where name = 'claim_next_pending_job'",
    }

    assert world.rows(functions[world.bench.store.database.dialect]) != [(0,)]


@line(
    "58",
    "the claim selects FOR UPDATE SKIP LOCKED",
    differs="SQLite has one writer at a time and no row locks; the same claim is atomic there",
    page="decisions/0004-a-claim-is-a-walk-and-an-update.md#4-a-claim-is-a-walk-and-an-update",
    on="sqlite",
)
def test_the_claim_skips_locked_rows(world):
    claims = book("haulwright.stores", world.bench.store.database.dialect, "jobs")

    assert any("skip locked" in " ".join(texts).lower() for name, texts in claims.items() if "claim" in name)


@line("59", "the claim sets status, locked_by, locked_at and heartbeat_at at once")
@line("60", "in one transaction")
def test_what_a_claim_sets(world, words, job_id):
    words.claim_next_pending_job()

    assert job_id
    assert row(world, "status, locked_by, locked_at is not null, heartbeat_at = locked_at") == (
        "running",
        "worker-1",
        1,
        1,
    )


@line("60", "the claim returns the job itself, as scrape_jobs has it")
def test_a_claim_returns_the_job(words, job_id):
    claimed = words.claim_next_pending_job()

    assert claimed["id"] == job_id
    assert {"query_params", "locked_at", "heartbeat_at", "next_retry_at"} <= set(claimed)


@line(
    "61",
    "the claim takes stuck jobs as well",
    differs="only reclaiming takes a job away, so that losses are counted in one place",
    page="requirements.md#claims-and-leases-clm",
)
def test_a_claim_takes_a_stuck_job(world, words, job_id):
    words.claim_next_pending_job()
    world.bench.advance("301 s")

    claimed = ScrapeWorker(world.prices, "worker-2").claim_next_pending_job()

    assert claimed is not None
    assert claimed["id"] == job_id


@line("69", "the wait is base_delay_minutes doubled with each retry")
@line("70", "a wait is at most 24 hours")
def test_the_waits_between_retries():
    minutes = [COLLECT_RETRY.delay_us(attempt, lambda: 0.5) / 60e6 for attempt in (1, 2, 3, 4, 11, 12, 99)]

    assert minutes == [1, 2, 4, 8, 1024, 1440, 1440]


@line("69", "base_delay_minutes can be set")
def test_the_base_of_the_waits_is_a_setting():
    assert [figure for figure in PriceSettings.figures() if "delay" in figure.name or "retry" in figure.name]
