"""The document's own words: its queue, its leases, its results and its states, on the fenced engine."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from uuid import UUID

import psycopg
import pytest

from haulwright import Haulwright
from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.compat import (
    BACKOFF_BASE_SECONDS,
    BACKOFF_MULTIPLIER,
    DEFAULT_POLL_INTERVAL_S,
    DEFAULT_POLL_TIMEOUT_S,
    NO_JOB,
    STATUSES,
    TAKEN,
    ApifyClient,
    ApifyTimeoutError,
    BrandBrain,
    BrandBrainJobStatus,
)
from haulwright.apps.brands.compile_status import status_of
from haulwright.apps.brands.retry import COMPILE_RETRY
from haulwright.apps.brands.settings import BrandSettings
from haulwright.clock import SECOND
from haulwright.engine.ids import new_id
from haulwright.engine.transitions import State
from haulwright.errors import Conflict, InvalidValue, JobFailed
from haulwright.sandbox import Sandbox
from haulwright.stores.listing import JobFilter
from tests.apps.brands.scenes import ACME, POSTS, connect, count, rows, runs_of


def job_row(brands):
    """The only job, as the view of the document shows it."""
    columns = "status, attempts, max_attempts, last_error, locked_by, job_type, compile_run_id, brand_id"
    ((status, *rest),) = rows(brands, f"select {columns} from brandbrain_job")  # noqa: S608 - as written above
    return status, *rest


@pytest.mark.proves("ENQ-01", "JOB-05", "TS-01")
def test_enqueue_makes_a_pending_job_for_its_compile_once(words, brands, brand):
    run_id = new_id()

    made, again = (words.enqueue_compile_job(brand.id, run_id, prompt_version="v1") for _ in range(2))

    assert made == again
    assert made.compile_run_id == run_id
    assert job_row(brands) == ("pending", 0, 3, None, None, "compile", run_id, brand.id)


@pytest.mark.proves("TS-01")
def test_what_was_claimed_is_complete_only_when_its_snapshot_is_there(words, brands, brand):
    made = words.enqueue_compile_job(brand.id, new_id())

    claimed = words.claim_next_job(worker_id="by hand")

    assert (claimed.claimed, claimed.reason, claimed.job.id) == (True, "", made.job_id)
    assert job_row(brands)[:5] == ("running", 1, 3, None, "by hand")
    with pytest.raises(Conflict, match="not complete"):
        words.complete_job(made.job_id)
    assert job_row(brands)[0] == "running", "it is still held, and can be failed"
    assert words.fail_job(made.job_id, "nobody executed it")
    assert not words.complete_job(made.job_id)


@pytest.mark.proves("RT-01", "RT-02", "RT-03", "JOB-15", "TS-01")
def test_a_failed_job_waits_60_s_then_120_s_and_then_has_failed(words, brands, brand, bench):
    made = words.enqueue_compile_job(brand.id, new_id())
    for attempt, wait in ((1, 60), (2, 120)):
        assert words.claim_next_job().claimed
        assert words.fail_job(made.job_id, "boom")
        assert job_row(brands)[:4] == ("pending", attempt, 3, "boom")
        bench.advance(wait - 1)
        assert words.claim_next_job().reason == NO_JOB
        bench.advance(1)
    assert words.claim_next_job().claimed
    assert words.fail_job(made.job_id, "boom")

    assert job_row(brands)[:4] == ("failed", 3, 3, "boom")
    assert not words.fail_job(new_id(), "never heard of it")


@pytest.mark.proves("CLM-05", "TS-01")
def test_two_claims_get_one_job_and_the_second_says_why(words, brands, brand):
    other = BrandBrain(brands, ACME)
    assert words.claim_next_job().reason == NO_JOB
    words.enqueue_compile_job(brand.id, new_id())
    brands.app.store.leases.claim_of_task = lambda *_: None  # as for whoever finds the row locked
    beaten = other.claim_next_job("second")
    del brands.app.store.leases.claim_of_task
    first, second = words.claim_next_job("first"), other.claim_next_job("second")

    assert (beaten.claimed, beaten.job, beaten.reason) == (False, None, TAKEN)
    assert (first.claimed, second.claimed, second.job, second.reason) == (True, False, None, NO_JOB)


@pytest.mark.proves("HB-05", "HB-06", "HB-07", "HB-12", "TS-01")
def test_stale_jobs_are_released_and_fail_after_their_last_attempt(words, brands, brand, bench):
    words.enqueue_compile_job(brand.id, new_id())
    for attempt in (1, 2, 3):
        assert words.claim_next_job().claimed
        assert words.release_stale_jobs() == 0
        bench.advance("10 min 1 s")
        assert words.release_stale_jobs() == 1
        assert job_row(brands)[1] == attempt
        bench.advance("10 min")

    assert job_row(brands)[0] == "failed"
    with pytest.raises(InvalidValue):
        words.release_stale_jobs(5)


def test_a_caller_whose_lock_went_stale_changes_nothing(words, brands, brand, bench):
    made = words.enqueue_compile_job(brand.id, new_id())
    assert words.claim_next_job().claimed
    bench.advance("10 min 1 s")
    words.release_stale_jobs()
    before = job_row(brands)

    assert not words.complete_job(made.job_id)
    assert job_row(brands) == before


@pytest.mark.proves("CLM-05")
def test_a_claim_finds_its_compile_behind_any_number_of_due_sources_and_touches_none(words, brands, brand):
    (connection,) = connect(brands, brand)
    for _ in range(30):
        brands.refresh_task.using(tenant=ACME.acting_tenant).enqueue(connection.id)
    made = words.enqueue_compile_job(brand.id, new_id())

    assert words.claim_next_job().job.id == made.job_id
    sources = brands.app.store.listing.page(JobFilter(task="brands.refresh")).jobs
    assert {(source.state, source.attempts, source.fence) for source in sources} == {(State.QUEUED, 0, 0)}
    assert words.claim_next_job().reason == NO_JOB
    with pytest.raises(InvalidValue):
        words.claim_next_job(job_type="dance")


@pytest.mark.proves("JOB-05")
@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("waiting_on", [None, "join", "source:apify:rate"])
def test_every_state_of_a_job_has_its_word(state, waiting_on):
    assert status_of(state, waiting_on) in {"pending", "running", "succeeded", "failed"}
    assert (status_of(state, waiting_on) == "succeeded") == (state is State.SUCCEEDED)


@pytest.mark.proves("NM-01", "NM-08", "CP-03")
def test_normalizing_again_does_no_harm_and_reuse_makes_sure_of_it(words, brands, brand, settle):
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()
    (run,) = runs_of(brands, connection)

    again = words.normalize_apify_run(run.id, run.cap)
    few = words.normalize_apify_run(run.id, 7)
    reused = words.reuse_cached_run(connection.id, run.id)

    assert (again.created, again.updated) == (0, 50)
    assert (few.created, few.updated) == (0, 7)
    assert (reused.success, reused.normalized_items_created, reused.raw_items_count) == (True, 0, 50)
    assert (count(brands, "brands_evidence"), count(brands, "brands_evidence_refs")) == (50, 50)
    assert words.check_source_freshness(connection.id).should_refresh is False
    assert words.check_source_freshness(connection.id, force_refresh=True).should_refresh is True
    assert len(words.create_evidence_bundle(brand.id).items) == 40


def test_what_was_observed_earlier_does_not_overwrite_what_was_observed_later(words, brands, brand, settle, bench):
    (connection,) = connect(brands, brand)
    for _ in range(2):
        brands.compile(ACME, brand.id)
        settle()
        bench.advance("2 days")
    _, older = runs_of(brands, connection)
    before = rows(brands, "select id, metrics, run_id from brands_evidence order by id")

    late = words.normalize_apify_run(older.id, older.cap)

    assert (late.created, late.updated) == (0, sum(run_id == older.id for _, _, run_id in before))
    assert rows(brands, "select id, metrics, run_id from brands_evidence order by id") == before


@pytest.fixture
def hurried(database_url, monkeypatch):
    """Brands by the database's own clock, with runs that take no time."""
    with Sandbox() as outside, closing(Haulwright(database_url)) as app:
        monkeypatch.setenv("APIFY_TOKEN", "token-of-mine")
        monkeypatch.setenv("APIFY_BASE_URL", f"{outside.url}/apify")
        outside.apify.script(duration_seconds=0, times=None)
        yield Brands(app, figures=BrandSettings.load(poll_interval_seconds=0.05))


@pytest.mark.proves("IN-14")
def test_a_source_and_a_compile_can_be_carried_out_here_and_now(hurried):
    words, brand = BrandBrain(hurried, ACME), hurried.add(ACME, "Acme")
    (connection,) = connect(hurried, brand)

    brought = words.ingest_source(connection, poll_interval_s=0.05)
    made = words.enqueue_compile_job(brand.id, new_id())
    words.execute_compile_job(made.compile_run_id, timeout_s=60)

    (run,) = runs_of(hurried, connection)
    assert (brought.success, brought.error, brought.apify_run_id) == (True, None, run.id)
    assert (brought.apify_run_status, brought.raw_items_count) == ("SUCCEEDED", 50)
    assert (brought.normalized_items_created, brought.normalized_items_updated) == (50, 0)
    assert hurried.compile_run(ACME, made.compile_run_id).status == "succeeded"


@pytest.mark.proves("IN-02")
def test_a_source_that_is_switched_off_is_an_error_before_any_paid_call(install, sandbox, monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_BRANDS_DISABLED", "instagram.posts")
    brands = install()
    (connection,) = connect(brands, brands.add(ACME, "Acme"))

    brought = BrandBrain(brands, ACME).ingest_source(connection.id)

    assert (brought.success, brought.error) == (False, "Capability instagram.posts is disabled")
    assert sandbox.books.requests() == []


def test_a_compile_that_fails_here_and_now_says_why(hurried):
    words, brand = BrandBrain(hurried, ACME), hurried.add(ACME, "Acme")
    made = words.enqueue_compile_job(brand.id, new_id())

    with pytest.raises(JobFailed, match="No source could be used"):
        words.execute_compile_job(made.compile_run_id)
    with pytest.raises(InvalidValue, match="began with"):
        words.execute_compile_job(made.compile_run_id, force_refresh=True)


@pytest.mark.proves("JOB-05")
def test_a_claimed_job_has_the_columns_of_the_document(words, brand, bench):
    run_id = new_id()
    made = words.enqueue_compile_job(brand.id, run_id, force_refresh=True)

    job = words.claim_next_job(worker_id="by hand").job

    assert (job.id, job.compile_run_id, job.brand_id, job.job_type) == (made.job_id, run_id, brand.id, "compile")
    assert job.params_json == {"force_refresh": True, "prompt_version": "v1", "model": "gpt-4"}
    assert (job.status, job.locked_by, job.locked_at) == (BrandBrainJobStatus.RUNNING, "by hand", bench.now)
    assert (job.attempts, job.max_attempts, job.last_error, job.finished_at) == (1, 3, None, None)
    words.fail_job(job.id, "boom")
    waiting = words.get_job(job.id)
    assert (waiting.status, waiting.last_error, waiting.locked_at, waiting.locked_by) == ("pending", "boom", None, None)
    assert (waiting.available_at - bench.now).total_seconds() == 60


def test_lost_locks_are_told_in_the_words_of_the_document(words, brands, brand, bench):
    made = words.enqueue_compile_job(brand.id, new_id())
    errors = []
    for _ in range(3):
        assert words.claim_next_job().claimed
        bench.advance("10 min 1 s")
        assert words.release_stale_jobs() == 1
        errors.append(words.get_job(made.job_id).last_error)
        assert job_row(brands)[3] == errors[-1]
        bench.advance("10 min")

    assert errors == ["Released from stale lock"] * 2 + ["Stale lock after 3 attempts"]
    assert words.get_job(made.job_id).status == BrandBrainJobStatus.FAILED


def test_a_compile_is_enqueued_in_the_transaction_of_the_caller(words, brands, brand, database_url):
    is_file = database_url.startswith("sqlite")
    connect_to = sqlite3.connect if is_file else psycopg.connect
    with closing(connect_to(database_url.removeprefix("sqlite:///"))) as connection:
        words.enqueue_compile_job(brand.id, connection=connection)
        connection.rollback()
        assert words.claim_next_job().reason == NO_JOB
        assert count(brands, "brands_compile_runs") == 0
        made = words.enqueue_compile_job(brand.id, connection=connection)
        connection.commit()
    assert words.claim_next_job().job.id == made.job_id


def test_the_flag_given_to_an_execution_counts_until_the_compile_begins(hurried):
    words, brand = BrandBrain(hurried, ACME), hurried.add(ACME, "Acme")
    (connection,) = connect(hurried, brand)
    for is_forced in (False, True):
        made = words.enqueue_compile_job(brand.id)
        words.execute_compile_job(made.compile_run_id, force_refresh=is_forced)

    assert len(runs_of(hurried, connection)) == 2


def test_objects_are_taken_as_well_as_ids(hurried):
    words, brand = BrandBrain(hurried, ACME), hurried.add(ACME, "Acme")
    (connection,) = connect(hurried, brand)
    words.ingest_source(UUID(connection.id), poll_interval_s=0.05)

    freshness = words.check_source_freshness(UUID(connection.id))
    reused = words.reuse_cached_run(connection, freshness.cached_run)

    assert (reused.success, reused.apify_run_id) == (True, freshness.cached_run.id)


def test_a_source_without_an_actor_says_so_and_not_that_it_is_disabled(words, brands, brand, sandbox):
    (connection,) = connect(brands, brand)
    brands.tables.transact(
        lambda writing: writing._connection.execute("update brands_connections set capability = 'likes'")
    )

    assert words.ingest_source(connection.id).error == "No actor spec for instagram.likes"
    assert sandbox.books.requests() == []


def test_the_documents_client_starts_polls_and_fetches(sandbox, request):
    client = ApifyClient("token-of-mine", f"{sandbox.url}/apify")
    request.addfinalizer(client.close)
    sandbox.apify.script(duration_seconds=0)
    sandbox.apify.script(ending="NEVER")

    started = client.start_actor_run(POSTS, {"username": ["acme"], "resultsLimit": 5})
    done = client.poll_run(started.run_id, timeout_s=10, interval_s=1)
    hanging = client.start_actor_run(POSTS, {"username": ["acme"], "resultsLimit": 5})

    assert (done.is_terminal(), done.is_success(), done.status) == (True, True, "SUCCEEDED")
    assert len(client.fetch_dataset_items(done.dataset_id, limit=3, offset=0)) == 3
    assert len(client.fetch_dataset_items(done.dataset_id, limit=3, offset=3)) == 2
    with pytest.raises(ApifyTimeoutError, match=r"Polling timed out after 0\.01s for run_id="):
        client.poll_run(hanging.run_id, timeout_s=0.01, interval_s=0.01)


def test_the_figures_of_the_document_have_their_names():
    assert (DEFAULT_POLL_TIMEOUT_S, DEFAULT_POLL_INTERVAL_S) == (300, 5)
    assert [BACKOFF_BASE_SECONDS * BACKOFF_MULTIPLIER**attempt for attempt in (1, 2)] == [60, 120]
    assert (COMPILE_RETRY.base_us, COMPILE_RETRY.factor) == (BACKOFF_BASE_SECONDS * SECOND, BACKOFF_MULTIPLIER)
    words = ("PENDING", "RUNNING", "SUCCEEDED", "FAILED")
    assert tuple(getattr(BrandBrainJobStatus, word) for word in words) == STATUSES
