"""The document's own words: its queue, its leases, its results and its states, on the fenced engine."""

from __future__ import annotations

from contextlib import closing

import pytest

from haulwright import Haulwright
from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.compat import NO_JOB, TAKEN, BrandBrain
from haulwright.apps.brands.compile_status import status_of
from haulwright.apps.brands.settings import BrandSettings
from haulwright.engine.ids import new_id
from haulwright.engine.transitions import State
from haulwright.errors import InvalidValue, JobFailed
from haulwright.sandbox import Sandbox
from haulwright.stores.listing import JobFilter
from tests.apps.brands.scenes import ACME, connect, count, rows, runs_of


@pytest.fixture
def words(brands):
    return BrandBrain(brands, ACME)


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
def test_claim_complete(words, brands, brand):
    made = words.enqueue_compile_job(brand.id, new_id())

    claimed = words.claim_next_job(worker_id="by hand")

    assert (claimed.claimed, claimed.reason, claimed.job.id) == (True, "", made.job_id)
    assert job_row(brands)[:5] == ("running", 1, 3, None, "by hand")
    assert words.complete_job(made.job_id)
    assert job_row(brands)[0] == "succeeded"
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
    store, due = brands.app.store, brands.app.store.leases.due_pairs("brands")

    first = words.claim_next_job("first")
    store.leases.due_pairs = lambda _queue: due  # what the other saw before the first one claimed
    second = other.claim_next_job("second")

    assert (first.claimed, second.claimed, second.job, second.reason) == (True, False, None, TAKEN)


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


def test_a_claim_gives_jobs_of_another_kind_back_at_once(words, brands, brand, bench):
    connect(brands, brand)
    words.enqueue_compile_job(brand.id, new_id())
    bench.drain(limit=1)

    assert words.claim_next_job().reason == NO_JOB
    (source,) = brands.app.store.listing.page(JobFilter(task="brands.refresh")).jobs
    assert (source.state, source.attempts) == (State.QUEUED, 0)
    with pytest.raises(InvalidValue):
        words.claim_next_job(job_type="dance")


@pytest.mark.proves("JOB-05")
@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("waiting_on", [None, "join", "source:apify:rate"])
def test_every_state_of_a_job_has_its_word(state, waiting_on):
    assert status_of(state, waiting_on) in {"pending", "running", "succeeded", "failed"}
    assert (status_of(state, waiting_on) == "succeeded") == (state is State.SUCCEEDED)


@pytest.mark.proves("NM-01", "NM-08", "FR-05")
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

    brought = words.ingest_source(connection.id, timeout_s=60)
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
    with pytest.raises(InvalidValue):
        words.execute_compile_job(made.compile_run_id, force_refresh=True)
