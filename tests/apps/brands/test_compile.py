"""A compile: its sources side by side, what is reused, what a failing one does, and the snapshot at the end."""

from __future__ import annotations

import json

import pytest

from haulwright.apps.brands.buying.freshness import NOTHING_YET, freshness
from haulwright.apps.brands.compile_request import CompileRequest
from haulwright.errors import Conflict, InvalidValue, NotFound
from haulwright.stores.listing import JobFilter
from tests.apps.brands.scenes import ACME, POSTS, SIX, TENANT, VIDEOS, connect, count, rows, runs_of

HOUR = 3_600_000_000


@pytest.mark.proves("CO-01", "CO-02", "CO-03", "EV-01", "TS-01", "NM-03")
def test_a_compile_goes_from_its_sources_to_a_snapshot(brands, brand, settle):
    connect(brands, brand, SIX[0], SIX[5], settings={"cap": 10})
    compiled = brands.compile(ACME, brand.id, prompt_version="v1")
    settle()

    done, sources = brands.compile_run(ACME, compiled.id), brands.status(ACME, compiled.id).sources
    assert (done.status, done.error, done.is_over) == ("succeeded", None, True)
    assert [one.outcome.outcome for one in sources] == ["refreshed", "refreshed"]
    snapshot = brands.snapshot(ACME, brand.id)
    assert snapshot["number"] == 1
    assert snapshot == brands.snapshot(ACME, brand.id, 1)
    assert snapshot["evidence_status"] == done.evidence_status
    assert snapshot["ran"]["compiler"] == "extractive"
    assert len(snapshot["evidence"]) == 20
    ((bundle, features),) = rows(brands, "select bundle, features from brands_snapshots")
    assert json.loads(bundle)["digest"] == snapshot["bundle"]["digest"]
    assert json.loads(features) == snapshot["features"]
    with pytest.raises(NotFound):
        brands.snapshot(ACME, brand.id, 2)


@pytest.mark.proves("PF-01", "ENQ-02")
def test_asking_is_one_short_transaction_and_waits_for_nobody(brands, brand, sandbox, monkeypatch):
    """How long it takes is measured by the bench; here is why it is short, however many sources there are."""
    connect(brands, brand, *SIX)
    database, transactions = brands.app.store.database, []
    transact = database.transact
    monkeypatch.setattr(
        database, "transact", lambda work, **options: transactions.append(work) or transact(work, **options)
    )
    brands.compile(ACME, brand.id)

    assert len(transactions) == 1
    assert sandbox.books.requests() == []
    assert [job.state for job in brands.app.operations().jobs.page().jobs] == ["queued"]


def test_one_request_is_one_compile_and_one_job(brands, brand):
    first, again = (brands.compile(ACME, brand.id, request_id="click-1") for _ in range(2))
    other = brands.compile(ACME, brand.id, request_id="click-2")

    assert (first.id, first.job_id) == (again.id, again.job_id)
    assert other.id != first.id
    assert (count(brands, "brands_compile_runs"), count(brands, "haulwright_jobs")) == (2, 2)


def test_the_same_request_for_something_else_is_refused(brands, brand):
    brands.compile(ACME, brand.id, request_id="click-1")

    with pytest.raises(Conflict, match="asked for something else"):
        brands.compile(ACME, brand.id, request_id="click-1", force_refresh=True)
    assert count(brands, "haulwright_jobs") == 1


@pytest.mark.parametrize(
    "said",
    [
        {"prompt_version": ""},
        {"prompt_version": 3},
        {"prompt_version": "v999"},
        {"model": ""},
        {"model": "x" * 101},
        {"force_refresh": "yes"},
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_asked(said):
    with pytest.raises(InvalidValue):
        CompileRequest(TENANT, "a brand", **said)


@pytest.mark.proves("CO-05", "JOB-12")
def test_what_was_asked_for_is_passed_on_and_stored(brands, brand, settle):
    connect(brands, brand, settings={"cap": 3})
    compiled = brands.compile(ACME, brand.id, force_refresh=True, prompt_version="v1", model="gpt-4")
    settle()

    asked = brands.snapshot(ACME, brand.id)["asked"]
    assert asked == {"force_refresh": True, "prompt_version": "v1", "model": "gpt-4"}
    done = brands.compile_run(ACME, compiled.id)
    assert (done.force_refresh, done.prompt_version, done.model) == (True, "v1", "gpt-4")


@pytest.mark.proves("FR-01", "FR-02", "EV-04", "TS-01")
def test_a_second_compile_within_a_day_buys_nothing_and_says_why(brands, brand, sandbox, settle, bench):
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()
    (run,) = runs_of(brands, connection)
    bench.clock.set(run.started_at + 5.2 * HOUR)

    (planned,) = brands.plan(ACME, brand.id)
    compiled = brands.compile(ACME, brand.id)
    settle()

    reason = "Cached run is fresh (5.2h old, TTL=24h)"
    assert (planned.decision, planned.reason, planned.cap) == ("reuse", reason, 50)
    (told,) = brands.compile_run(ACME, compiled.id).evidence_status["reused"]
    assert (told["reason"], told["run_age_hours"], told["apify_run_id"]) == (reason, 5.2, run.id)
    assert (told["normalized_created"], told["normalized_updated"]) == (0, 0)
    assert len(sandbox.books.paid_runs()) == 1
    assert (
        brands.snapshot(ACME, brand.id, 2)["evidence"].keys() == brands.snapshot(ACME, brand.id, 1)["evidence"].keys()
    )


@pytest.mark.proves("FR-05")
def test_a_run_that_is_used_again_is_normalized_first_where_it_was_not(brands, brand, sandbox, settle):
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()
    for statement in (
        "update brands_runs set normalized_at = null, normalized_created = 0",
        "delete from brands_evidence_refs",
        "delete from brands_evidence",
    ):
        brands.app.store.database.transact(lambda connection, sql=statement: connection.execute(sql))

    compiled = brands.compile(ACME, brand.id)
    settle()

    (told,) = brands.compile_run(ACME, compiled.id).evidence_status["reused"]
    (run,) = runs_of(brands, connection)
    assert (told["normalized_created"], run.normalized_at is None) == (50, False)
    assert (count(brands, "brands_evidence"), len(sandbox.books.paid_runs())) == (50, 1)
    assert len(brands.snapshot(ACME, brand.id, 2)["evidence"]) == 40  # what the compile stands on was there by then


@pytest.mark.proves("CP-03")
def test_of_raw_items_no_more_are_normalized_than_the_cap_of_their_run(brands, brand, settle):
    (connection,) = connect(brands, brand, settings={"cap": 6})
    brands.compile(ACME, brand.id)
    settle()
    for statement in (
        "update brands_runs set normalized_at = null, cap = 4",  # fewer than there are raw items
        "delete from brands_evidence_refs",
        "delete from brands_evidence",
    ):
        brands.app.store.database.transact(lambda connection, sql=statement: connection.execute(sql))

    compiled = brands.compile(ACME, brand.id)
    settle()

    (told,) = brands.compile_run(ACME, compiled.id).evidence_status["reused"]
    (run,) = runs_of(brands, connection)
    assert (run.raw_item_count, told["normalized_created"]) == (6, 4)
    assert count(brands, "brands_evidence") == 4


@pytest.mark.proves("FR-04")
def test_a_forced_refresh_buys_each_source_once_for_a_compile_whatever_happens_to_it(
    brands, brand, sandbox, settle, bench
):
    connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()
    compiled = brands.compile(ACME, brand.id, force_refresh=True)
    with bench.crash(brands.refresh_task, after="start"):
        bench.drain()
    with bench.crash(brands.compile_task, before="draft"):
        settle(seconds=30)

    (told,) = brands.compile_run(ACME, compiled.id).evidence_status["refreshed"]
    assert told["reason"].startswith("A refresh was forced (the cached run is ")
    assert len(sandbox.books.paid_runs(POSTS)) == 2


@pytest.mark.parametrize("force", [False, True])
def test_two_compiles_at_the_same_moment_buy_each_source_once(brands, brand, sandbox, settle, force):
    connect(brands, brand, SIX[0], SIX[2])
    compiles = [brands.compile(ACME, brand.id, force_refresh=force) for _ in range(2)]
    settle()

    assert [len(sandbox.books.paid_runs(actor)) for actor in (POSTS, VIDEOS)] == [1, 1]
    told = [brands.compile_run(ACME, one.id) for one in compiles]
    assert [one.status for one in told] == ["succeeded", "succeeded"]
    assert [len(one.evidence_status["refreshed"]) + len(one.evidence_status["reused"]) for one in told] == [2, 2]
    assert count(brands, "brands_snapshots") == 2


def test_who_finds_a_source_being_bought_at_the_same_moment_waits_for_it(brands, brand, bench):
    connect(brands, brand, SIX[0])
    for _ in range(2):
        brands.compile(ACME, brand.id)
    bench.drain()

    jobs = bench.store.listing.page(JobFilter(task="brands.refresh")).jobs
    gates = [job.waiting_on for job in jobs if (job.waiting_on or "").startswith("brands:connection:")]
    assert (len(jobs), len(gates)) == (2, 1)


@pytest.mark.proves("CO-04")
def test_a_source_that_cannot_be_read_does_not_stop_the_others(brands, brand, sandbox, settle):
    sandbox.faults.add("status", path=f"/apify/v2/actors/{VIDEOS}/runs", method="POST", code=400, times=None)
    connect(brands, brand, SIX[0], SIX[2])
    compiled = brands.compile(ACME, brand.id)
    settle()

    done = brands.compile_run(ACME, compiled.id)
    (failed,) = done.evidence_status["failed"]
    assert (done.status, failed["source"], failed["error_class"]) == (
        "succeeded",
        "tiktok.profile_videos",
        "ApifyRefused",
    )
    assert (failed["actor_run_id"], failed["apify_run_status"]) == (None, "ORDERED")


@pytest.mark.parametrize("sources", [(), (SIX[0],)])
def test_without_any_usable_source_a_compile_fails_and_says_so(brands, brand, sandbox, settle, sources):
    sandbox.apify.script(ending="FAILED", times=None)
    if sources:
        connect(brands, brand, *sources)
    compiled = brands.compile(ACME, brand.id)
    settle()

    done = brands.compile_run(ACME, compiled.id)
    assert (done.status, done.error_class) == ("failed", "NoEvidence")
    assert len(done.evidence_status["failed"]) == len(sources)
    assert count(brands, "brands_snapshots") == 0


def test_a_source_whose_job_was_cancelled_is_recorded_and_the_compile_goes_on(brands, brand, bench, settle):
    connect(brands, brand, SIX[0], SIX[2])
    compiled = brands.compile(ACME, brand.id)
    bench.drain(limit=1)
    doomed = next(one for one in brands.status(ACME, compiled.id).sources if one.source == "tiktok.profile_videos")
    brands.app.operations().jobs.cancel(doomed.job_id, "not now")
    settle()

    done = brands.compile_run(ACME, compiled.id)
    (failed,) = done.evidence_status["failed"]
    assert (done.status, failed["error"]) == ("succeeded", "its job is cancelled: not now")


def test_a_requeued_compile_tries_again_what_failed_and_buys_nothing_else(brands, brand, sandbox, settle):
    sandbox.apify.script(ending="FAILED", times=2)
    connect(brands, brand, SIX[0], SIX[2])
    compiled = brands.compile(ACME, brand.id)
    settle()
    assert brands.compile_run(ACME, compiled.id).status == "failed"

    brands.app.operations().dead_letters.requeue(compiled.job_id)
    settle()

    done = brands.compile_run(ACME, compiled.id)
    assert (done.status, done.error) == ("succeeded", None)
    assert len(done.evidence_status["refreshed"]) == 2
    assert len(sandbox.books.paid_runs()) == 4


def test_a_requeued_compile_waits_for_its_new_jobs_and_not_for_those_that_died(brands, brand, sandbox, bench, settle):
    connect(brands, brand, SIX[0], SIX[2])
    compiled = brands.compile(ACME, brand.id)
    bench.drain(limit=1)
    bench.advance("2 days")
    settle()
    assert brands.compile_run(ACME, compiled.id).status == "failed", "nobody worked until it was too late"

    brands.app.operations().dead_letters.requeue(compiled.job_id)
    settle()

    done = brands.compile_run(ACME, compiled.id)
    assert (done.status, done.error, len(done.evidence_status["refreshed"])) == ("succeeded", None, 2)
    assert len(sandbox.books.paid_runs()) == 2


@pytest.mark.proves("FR-02", "FR-03")
def test_freshness_says_what_to_do_and_why(brands, brand, settle):
    (connection,) = connect(brands, brand, settings={"cap": 1})
    assert freshness(None, 0, 86_400).reason == NOTHING_YET == "No successful run exists for this source"
    brands.compile(ACME, brand.id)
    settle()
    (run,) = runs_of(brands, connection)

    stale = freshness(run, run.started_at + int(26.1 * HOUR), 86_400)
    young = freshness(run, run.started_at + HOUR, 86_400)
    forced = freshness(run, run.started_at + HOUR, 86_400, forced_at=run.started_at + 1)
    again = freshness(run, run.started_at + HOUR, 86_400, forced_at=run.started_at)
    assert (stale.should_refresh, stale.reason) == (True, "Cached run is stale (26.1h old, TTL=24h)")
    assert (young.should_refresh, young.cached_run, young.run_age_hours) == (False, run, 1.0)
    assert (forced.should_refresh, again.should_refresh) == (True, False)


def test_a_compile_waits_visibly_for_its_sources(brands, brand, bench):
    connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    assert compiled.status == "pending"
    bench.drain()

    job = brands.app.operations().jobs.get(compiled.job_id)
    assert (job.state, job.waiting_on, job.attempts) == ("queued", "join", 0)
    assert brands.compile_run(ACME, compiled.id).status == "running"


@pytest.mark.proves("CP-04", "CP-05")
def test_the_caps_of_a_bundle_are_settings(install, settle):
    brands = install(bundle_items_per_kind=4, bundle_items=5)
    brand = brands.add(ACME, "Acme")
    connect(brands, brand, SIX[0], SIX[2], settings={"cap": 10})
    brands.compile(ACME, brand.id)
    settle()

    bundle = brands.snapshot(ACME, brand.id)["bundle"]
    assert {kind: each["cap"] for kind, each in bundle["criteria"]["kinds"].items()} == {
        "instagram.post": 4,
        "tiktok.video": 4,
    }
    assert sum(each["taken"] for each in bundle["criteria"]["kinds"].values()) == 5
    assert len(brands.snapshot(ACME, brand.id)["evidence"]) == 5
