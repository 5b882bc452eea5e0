"""Document 000, the evidence status (lines 12 to 13, 514 to 568, 597 to 639, 1295 to 1385): each source in its list."""

from __future__ import annotations

import pytest

from haulwright.apps.brands.compat import BrandBrain
from haulwright.errors import HaulwrightError
from tests.apps.brands.scenes import ACME, POSTS, SIX, VIDEOS, connect, runs_of

line = pytest.mark.line
PAGE = "applications/brands.md"


@line("514", "a capability that is switched off is not bought")
@line("528-534", "it is skipped with: Capability disabled (feature flag)")
@line("624-629", "a skipped entry has source and reason")
@line("1355-1360", "skipped entries are recorded so")
def test_a_skipped_source(install, sandbox, settle, monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_BRANDS_DISABLED", "linkedin.profile_posts")
    brands = install()
    brand = brands.add(ACME, "Acme")
    connect(brands, brand, SIX[0], ("linkedin", "profile_posts", "jane"), settings={"cap": 2})
    run = brands.compile(ACME, brand.id)
    settle()

    (entry,) = brands.compile_run(ACME, run.id).evidence_status["skipped"]
    assert (entry["source"], entry["reason"]) == ("linkedin.profile_posts", "Capability disabled (feature flag)")
    assert len(sandbox.books.paid_runs()) == 1


@line("515", "what is fresh is reused, what is not is bought")
@line("536-539", "check_source_freshness says which, and why")
def test_freshness_decides(brands, brand, status, bench):
    status(SIX[0])
    (connection,) = brands.connections(ACME, brand.id)
    words = BrandBrain(brands, ACME)
    fresh = words.check_source_freshness(connection.id)
    forced = words.check_source_freshness(connection.id, force_refresh=True)
    bench.advance("25 h")
    stale = words.check_source_freshness(connection.id)

    assert [one.should_refresh for one in (fresh, forced, stale)] == [False, True, True]
    assert all(one.reason for one in (fresh, forced, stale))


REFRESHED = ("source", "reason", "apify_run_id", "apify_run_status", "raw_items_count", "normalized_created")


@line("540-541", "a source that is not fresh is ingested")
@line("516", "a source that is refreshed is run, fetched and normalized")
@line("543-552", "a refreshed entry has source, reason, run, status and counts")
@line("613-622", "as in the schema")
@line("1302-1311", "refreshed entries are recorded so")
def test_a_refreshed_source(status):
    (entry,) = status(SIX[0]).evidence_status["refreshed"]

    assert set(REFRESHED) | {"normalized_updated"} <= set(entry)
    assert (entry["source"], entry["apify_run_status"], entry["raw_items_count"]) == ("instagram.posts", "SUCCEEDED", 6)


@line("608", "apify_run_id is the UUID of our row in a reused entry")
@line("617", "and in a refreshed one")
@line("547", "str of the run's own id")
def test_the_id_of_a_run_is_ours(brands, brand, status):
    (entry,) = status(SIX[0]).evidence_status["refreshed"]
    (connection,) = brands.connections(ACME, brand.id)

    assert entry["apify_run_id"] == runs_of(brands, connection)[0].id


@line("616", "the reason of a stale one is: Cached run is stale (26.1h old, TTL=24h)")
def test_the_reason_of_a_stale_run(brands, brand, status, bench, settle):
    status(SIX[0])
    (connection,) = brands.connections(ACME, brand.id)
    (run,) = runs_of(brands, connection)
    bench.clock.set(run.started_at + int(26.1 * 3_600_000_000))
    again = brands.compile(ACME, brand.id)
    settle()

    (entry,) = brands.compile_run(ACME, again.id).evidence_status["refreshed"]
    assert entry["reason"] == "Cached run is stale (26.1h old, TTL=24h)"


@line("517", "what is reused is normalized if it was not")
@line("561-568", "a reused entry has source, reason, age and run")
@line("603-611", "with the reason: Cached run is fresh (5.2h old, TTL=24h), and counts of 0")
@line("1331-1343", "reused entries are recorded so")
def test_a_reused_source(brands, brand, status, bench, settle):
    status(SIX[0])
    (connection,) = brands.connections(ACME, brand.id)
    bench.clock.set(runs_of(brands, connection)[0].started_at + int(5.2 * 3_600_000_000))
    again = brands.compile(ACME, brand.id)
    settle()

    (entry,) = brands.compile_run(ACME, again.id).evidence_status["reused"]
    assert (entry["source"], entry["run_age_hours"]) == ("instagram.posts", 5.2)
    assert entry["reason"] == "Cached run is fresh (5.2h old, TTL=24h)"
    assert (entry["normalized_created"], entry["normalized_updated"]) == (0, 0)


@line(
    "1344-1349",
    "a reuse without a run is recorded as reused",
    differs="it is recorded as failed: there was nothing to reuse",
    page=f"{PAGE}#the-evidence-status",
)
def test_a_reuse_without_a_run():
    from haulwright.apps.brands.evidence.status import SourceOutcome, evidence_status  # noqa: PLC0415 - here alone

    assert evidence_status([SourceOutcome("instagram.posts", "c", "reused", "fresh")])["reused"]


@line("562", "reuse_cached_run takes the source and the run that the check gave")
def test_reuse_takes_what_the_check_gave(brands, brand, status):
    status(SIX[0])
    (connection,) = brands.connections(ACME, brand.id)
    words = BrandBrain(brands, ACME)
    freshness = words.check_source_freshness(connection.id)
    try:
        reused = words.reuse_cached_run(connection, freshness.cached_run)
    except (HaulwrightError, AttributeError, TypeError) as refused:
        pytest.fail(str(refused))
    assert reused.success


@pytest.fixture
def failed(sandbox, status):
    """The entry of a source that failed, beside one that did not."""
    sandbox.apify.script(actor=VIDEOS, ending="FAILED", message="the profile is private")
    done = status(SIX[0], SIX[2])
    assert done.status == "succeeded"
    return done.evidence_status["failed"][0]


@line("553-558", "a failed entry has source, reason and error")
@line("630-638", "with run and status")
@line("633", "the reason of a source without a run is: No successful run exists for this source")
@line("1317-1324", "failed entries are recorded so")
@line("1367", "the run is recorded")
@line("1369", "the message is recorded")
@line("1372-1385", "the dataset too, as is proposed there")
@line("1368", "dataset_id is recorded after all")
@line("1370", "the class of the error is recorded after all")
def test_a_failed_source(failed):
    assert (failed["source"], failed["reason"]) == (
        "tiktok.profile_videos",
        "No successful run exists for this source",
    )
    assert "the profile is private" in failed["error"]
    assert (failed["apify_run_status"], failed["error_class"]) == ("FAILED", "RunFailed")
    assert failed["apify_run_id"]
    assert failed["dataset_id"]


@line("634", "the error of a time-out begins with: Polling timed out after 300s")
def test_the_error_of_a_time_out(sandbox, status):
    sandbox.apify.script(actor=POSTS, ending="NEVER")
    (entry,) = status(SIX[0], SIX[2]).evidence_status["failed"]

    assert entry["error"].startswith("Polling timed out after 300s")


@line("636", "its status is timed_out in small letters")
def test_the_status_of_a_time_out(sandbox, status):
    sandbox.apify.script(actor=POSTS, ending="NEVER")
    (entry,) = status(SIX[0], SIX[2]).evidence_status["failed"]

    assert entry["apify_run_status"] == "timed_out"


@line("13", "the status has reused, refreshed, skipped and failed")
@line("601-639", "these four lists and no others")
@line("685", "evidence is tracked in them")
def test_the_four_lists(status):
    assert set(status(SIX[0]).evidence_status) == {"reused", "refreshed", "skipped", "failed"}


@line("12", "caps hold in the input of an actor and in the fetch")
@line("683", "both are enforced")
def test_caps_hold_twice(sandbox, status):
    sandbox.apify.script(items=40)
    (entry,) = status(SIX[0]).evidence_status["refreshed"]

    assert (sandbox.books.paid_runs(POSTS)[0].input["resultsLimit"], entry["raw_items_count"]) == (6, 6)
