"""The document's own words: its claim, its states and its operators' queries, on the fenced engine."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime

import pytest

from haulwright import Haulwright
from haulwright.apps.prices import Prices
from haulwright.apps.prices.compat import STATUSES, ScrapeWorker, retry_count, status
from haulwright.engine.transitions import State
from tests.apps.prices.scenes import TENANT, WHO

RECENT = """
    SELECT id, status, locked_by, heartbeat_at, created_at, completed_at, error_message
    FROM scrape_jobs ORDER BY created_at DESC LIMIT 20"""
HEALTH = """
    SELECT name, enabled, failure_streak, last_success_at, last_failure_at, paused_until FROM sources ORDER BY name"""
BY_WORKER = """
    SELECT status, locked_by, COUNT(*) as count FROM scrape_jobs
    WHERE status IN ('succeeded', 'failed', 'running') GROUP BY status, locked_by"""
STUCK = {
    "postgres": """
        SELECT id, status, locked_by, heartbeat_at, NOW() - heartbeat_at as time_since_heartbeat FROM scrape_jobs
        WHERE status = 'running' AND (heartbeat_at IS NULL OR heartbeat_at < NOW() - INTERVAL '5 minutes')""",
    "sqlite": """
        SELECT id, status, locked_by, heartbeat_at FROM scrape_jobs
        WHERE status = 'running' AND (heartbeat_at IS NULL OR heartbeat_at < datetime('now', '-5 minutes'))""",
}


@pytest.fixture
def words(prices):
    return ScrapeWorker(prices, "worker-1")


@pytest.fixture
def job_id(world):
    world.source()
    (made,) = world.prices.collect(WHO, world.intake().intake_id)
    return made.id


def row(world, columns="status, attempts, retry_count, locked_by"):
    """The only job, as the document's view shows it."""
    return world.rows(f"select {columns} from scrape_jobs")[0]  # noqa: S608 - as written above


@pytest.mark.proves("JOB-07", "JOB-16")
def test_a_job_is_claimed_once_and_succeeds(world, words, job_id):
    assert row(world) == ("pending", 0, 0, None)

    claimed = words.claim_next_pending_job()

    assert (claimed["id"], words.claim_next_pending_job()) == (job_id, None)
    assert row(world) == ("running", 1, 0, "worker-1")
    assert words.heartbeat(job_id)
    assert words.mark_succeeded(job_id)
    assert row(world) == ("succeeded", 1, 0, "worker-1")
    assert not words.mark_succeeded(job_id)


@pytest.mark.proves("CLM-03")
def test_a_claimed_job_says_all_that_a_worker_by_hand_needs_to_do_it(world, words):
    world.source()
    intake = world.intake(year="1887")
    (made,) = world.prices.collect(WHO, intake.intake_id, query_params={"year": "1888"})

    job = words.claim_next_pending_job()

    assert (job["id"], job["tenant"], job["status"], job["attempts"]) == (made.id, TENANT, "running", 1)
    assert (job["intake_id"], job["source_id"]) == (intake.intake_id, "price-coinhall@acme")
    assert job["query_params"] == {"year": "1888"}
    assert job["locked_at"] == job["heartbeat_at"]
    assert job["locked_at"].startswith("2026-09-01 12:00:00")
    assert job["next_retry_at"] is None
    words.mark_retryable(made.id, "timed out")
    assert world.prices.get_job(WHO, made.id)["next_retry_at"].startswith("2026-09-01 12:01:00")


def test_a_job_of_another_kind_is_left_to_others(world, words, job_id):
    @world.app.task(name="other", queue="prices", priority=10)
    def other() -> None: ...

    stranger = other.using(tenant=TENANT).enqueue()

    assert words.claim_next_pending_job()["id"] == job_id
    left = world.bench.store.listing.get(stranger.id)
    assert (left.state, left.waiting_on, left.attempts) == (State.QUEUED, "task:unknown", 0)


@pytest.mark.proves("JOB-07", "JOB-16", "CLM-03")
def test_a_passing_error_waits_for_its_time_and_is_tried_again(world, words, job_id):
    words.claim_next_pending_job()
    assert words.mark_retryable(job_id, "timed out; token=abc")

    assert row(world, "status, retry_count, error_message") == ("retryable", 1, "timed out; token=***")
    assert row(world, "next_retry_at is not null")[0]
    assert words.claim_next_pending_job() is None
    world.bench.advance("1 min")
    assert words.claim_next_pending_job()["id"] == job_id


@pytest.mark.proves("JOB-16")
def test_an_error_for_good_is_failed(world, words, job_id):
    words.claim_next_pending_job()

    assert words.mark_failed(job_id, "no such page")

    assert row(world, "status, error_message, completed_at is not null") == ("failed", "no such page", 1)


@pytest.mark.proves("JOB-16", "HB-03", "HB-04", "TS-05")
def test_the_job_of_a_dead_worker_is_pending_again_and_another_one_finishes_it(world, words, job_id):
    other = ScrapeWorker(world.prices, "worker-2")
    words.claim_next_pending_job()
    world.bench.advance("299 s")
    assert other.reclaim_stuck_jobs() == 0
    world.bench.advance("2 s")

    assert other.reclaim_stuck_jobs() == 1
    (lost,) = world.bench.store.events.latest(name="job.lease_expired")
    assert lost.data["held_by_name"] == "worker-1"
    assert row(world, "status, attempts") == ("pending", 1)
    assert other.claim_next_pending_job()["id"] == job_id
    assert not words.heartbeat(job_id)
    assert not words.mark_succeeded(job_id)
    assert other.mark_succeeded(job_id)
    assert row(world)[0:4:3] == ("succeeded", "worker-2")


@pytest.mark.proves("CF-02", "CLM-06")
def test_lock_time_out_and_worker_name_come_from_the_environment(world, monkeypatch):
    monkeypatch.setenv("JOB_LOCK_TIMEOUT_SECONDS", "77")
    monkeypatch.setenv("WORKER_ID", "worker-of-the-environment")

    with closing(Haulwright("sqlite:///never-opened.db")) as app:
        assert Prices(app).collect_task.options.lease_us == 77_000_000
    assert ScrapeWorker(world.prices).worker_id == "worker-of-the-environment"


@pytest.mark.proves("CF-02", "HB-03")
def test_the_lock_time_out_is_that_of_the_worker_whoever_enqueued_the_job(world, job_id, database_url, monkeypatch):
    monkeypatch.setenv("JOB_LOCK_TIMEOUT_SECONDS", "77")
    with closing(Haulwright(database_url, clock=world.bench.clock)) as app:
        words = ScrapeWorker(Prices(app), "worker-1")
        assert words.claim_next_pending_job()["id"] == job_id
        world.bench.advance("76 s")
        assert words.reclaim_stuck_jobs() == 0
        assert words.heartbeat(job_id)
        world.bench.advance("78 s")
        assert words.reclaim_stuck_jobs() == 1


@pytest.mark.proves("CF-02")
@pytest.mark.parametrize(
    ("name", "value", "requests"),
    [("CACHE_ENABLED", "false", 2), ("CACHE_TTL_SECONDS", "60", 2), ("CACHE_TTL_SECONDS", "6000", 1)],
)
def test_cache_switch_and_cache_age_come_from_the_environment(world, monkeypatch, name, value, requests):
    monkeypatch.setenv(name, value)
    world.source()
    intake = world.intake()

    world.collect(intake)
    world.bench.advance("2 min")
    world.collect(intake)

    assert len(world.sandbox.books.requests(path="/shop/*")) == requests


@pytest.mark.proves("ME-04")
def test_the_documents_queries_run_as_they_stand(world, words, job_id):
    assert [one[:2] for one in map(tuple, world.rows(RECENT))] == [(_id(world, job_id), "pending")]
    words.claim_next_pending_job()
    assert world.rows(BY_WORKER) == [("running", "worker-1", 1)]
    ((name, enabled, streak, *never),) = world.rows(HEALTH)
    assert (name, bool(enabled), streak, never) == ("coinhall", True, 0, [None, None, None])
    columns = "source_id, error_message, completed_at, cast(query_params as text)"
    assert row(world, columns) == ("price-coinhall@acme", None, None, "{}")


@pytest.mark.proves("HB-11")
def test_a_job_whose_worker_fell_silent_is_shown_as_stuck(world, words):
    world.bench.freeze(datetime(2020, 1, 1, tzinfo=UTC))
    world.source()
    world.prices.collect(WHO, world.intake().intake_id)
    stuck = STUCK[world.bench.store.database.dialect]
    assert world.rows(stuck) == []

    words.claim_next_pending_job()

    assert [one[1:3] for one in world.rows(stuck)] == [("running", "worker-1")]


@pytest.mark.proves("ME-04")
def test_operators_see_how_a_source_stands(world):
    world.page(rate="30/min")
    world.answer_text("odd", "", code=503)
    world.collect(world.intake())

    (health,) = world.prices.sources.health(TENANT)

    assert (health["name"], health["enabled"], health["failure_streak"]) == ("odd", True, 1)
    assert health["rate_limit_per_minute"] == 30
    assert health["last_success_at"] is None
    assert health["last_failure_at"].startswith("2026-09-01")


@pytest.mark.proves("JOB-07")
def test_the_table_of_states_is_total_and_the_view_follows_it():
    assert {status(state, attempts) for state in State for attempts in (0, 1)} == set(STATUSES)
    assert status(State.QUEUED, 2, "lease_expired") == "pending"
    assert (status(State.QUEUED, 1), retry_count(State.QUEUED, 1), retry_count(State.RUNNING, 2)) == ("retryable", 1, 1)


def _id(world, job_id):
    """An id as the driver of the database has it."""
    return type(world.rows("select id from scrape_jobs")[0][0])(job_id)
