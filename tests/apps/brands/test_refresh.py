"""One source, from its order to its normalized items."""

from __future__ import annotations

import json

import pytest

from tests.apps.brands.scenes import ACME, POSTS, SIX, VIDEOS, connect, count, rows, runs_of


@pytest.mark.proves("IN-01", "IN-04", "IN-05", "RW-01", "RW-03", "NM-01", "EV-02", "TS-01")
def test_a_source_is_bought_fetched_and_normalized(brands, brand, sandbox, settle):
    (connection,) = connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    settle()

    (run,) = runs_of(brands, connection)
    (paid,) = sandbox.books.paid_runs(POSTS)
    assert (run.actor, run.status, run.actor_run_id) == (POSTS, "SUCCEEDED", paid.run)
    assert (run.connection_id, run.brand_id) == (connection.id, brand.id)
    assert json.loads(run.input) | {"_haulwright": run.id} == paid.input
    assert run.dataset_id is not None
    assert run.requested_at <= run.started_at <= run.finished_at
    assert (run.raw_item_count, run.normalized_created, run.normalized_updated) == (50, 50, 0)
    assert run.normalized_at == run.finished_at is not None
    assert count(brands, "brands_raw_items") == count(brands, "brands_evidence_refs") == 50
    (told,) = brands.compile_run(ACME, compiled.id).evidence_status["refreshed"]
    assert told == {
        "source": "instagram.posts", "connection_id": connection.id, "apify_run_id": run.id, "actor_run_id": paid.run,
        "reason": "No successful run exists for this source", "dataset_id": run.dataset_id,
        "apify_run_status": "SUCCEEDED", "raw_items_count": 50, "normalized_created": 50, "normalized_updated": 0,
    }  # fmt: skip


@pytest.mark.proves("IN-01")
def test_the_steps_of_a_source_come_in_their_order(brands, brand, sandbox, settle):
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()

    paths = [one.path.rpartition("/apify/v2/")[2] for one in sandbox.books.requests(service="apify")]
    steps = ["items" if path.endswith("/items") else path.partition("/")[0] for path in paths]
    (run,) = runs_of(brands, connection)
    assert list(dict.fromkeys(steps)) == ["actors", "actor-runs", "items"]
    assert (steps.count("actors"), run.raw_item_count, run.normalized_created) == (1, 50, 50)
    told = brands.app.store.events.latest(limit=1000)
    names = [event.name for event in told if event.name.startswith("brand.run_") and run.id in str(event.data)]
    assert names == [f"brand.run_{step}" for step in ("started", "ended", "fetched", "normalized")]


@pytest.mark.proves("CP-01", "CP-02", "TS-01")
def test_the_cap_is_in_the_input_in_the_bill_and_in_what_is_fetched(brands, brand, sandbox, settle):
    (connection,) = connect(brands, brand, settings={"cap": 6})
    sandbox.apify.script(items=40)
    brands.compile(ACME, brand.id)
    settle()

    (paid,) = sandbox.books.paid_runs(POSTS)
    assert paid.input["resultsLimit"] == 6
    start = next(one for one in sandbox.books.requests(method="POST") if one.path.endswith("/runs"))
    assert start.query == {"maxItems": ("6",), "timeout": ("360",), "maxTotalChargeUsd": ("1.0",)}
    (run,) = runs_of(brands, connection)
    assert (run.raw_item_count, run.dataset_items, run.truncated) == (6, 40, True)
    assert count(brands, "brands_evidence") == 6


def test_every_capability_brings_in_items_with_identity_text_and_figures(brands, brand, settle):
    connect(brands, brand, *SIX, ("linkedin", "profile_posts", "jane-doe"), settings={"cap": 5})
    compiled = brands.compile(ACME, brand.id)
    settle()

    assert len(brands.compile_run(ACME, compiled.id).evidence_status["refreshed"]) == 7
    for one in brands.connections(ACME, brand.id):
        items = brands.evidence(ACME, brand.id, [one.id])
        assert len(items) == 5
        for item in items:
            assert item.canonical_url.startswith("https://")
            assert item.text
            assert bool(item.external_id) == (one.platform != "web")
            assert one.platform == "web" or (item.published_at and item.metrics["likes"] >= 0 and item.author)


@pytest.mark.proves("IN-02", "EV-05", "CF-04", "CO-06", "TS-01")
def test_what_is_switched_off_costs_nothing(install, sandbox, settle, monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_BRANDS_DISABLED", "tiktok.profile_videos")
    brands = install()
    brand = brands.add(ACME, "Acme")
    connect(brands, brand, SIX[0], SIX[2])
    connect(brands, brand, SIX[1], enabled=False)
    compiled = brands.compile(ACME, brand.id)
    settle()

    status = brands.compile_run(ACME, compiled.id).evidence_status
    assert [(one["source"], one["reason"]) for one in status["skipped"]] == [
        ("tiktok.profile_videos", "Capability disabled (feature flag)")
    ]
    assert [one["source"] for one in status["refreshed"]] == ["instagram.posts"]
    assert len(sandbox.books.paid_runs()) == 1


@pytest.mark.proves("IN-03")
def test_a_connection_whose_capability_is_gone_costs_nothing_and_is_recorded(brands, brand, sandbox, settle):
    connect(brands, brand, SIX[0], SIX[2])
    brands.tables.transact(
        lambda writing: writing._connection.execute(
            "update brands_connections set capability = 'likes' where platform = 'tiktok'"
        )
    )
    compiled = brands.compile(ACME, brand.id)
    settle()

    (failed,) = brands.compile_run(ACME, compiled.id).evidence_status["failed"]
    assert (failed["source"], failed["error"]) == ("tiktok.likes", "No actor spec for tiktok.likes")
    assert sandbox.books.paid_runs(VIDEOS) == []


@pytest.mark.proves("IN-06", "IN-09")
def test_a_run_that_takes_too_long_is_aborted_and_recorded(brands, brand, sandbox, settle):
    sandbox.apify.script(ending="NEVER")
    (connection,) = connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    settle()

    (run,) = runs_of(brands, connection)
    assert (run.status, run.error_class, run.normalized_at) == ("timed_out", "ApifyTimeoutError", None)
    assert run.error.startswith("Polling timed out after 300s")
    assert [one.status(sandbox.clock.now()) for one in sandbox.apify.runs()] == ["ABORTED"]
    done = brands.compile_run(ACME, compiled.id)
    (failed,) = done.evidence_status["failed"]
    assert (failed["apify_run_status"], failed["dataset_id"]) == ("timed_out", run.dataset_id)
    assert (done.status, done.error_class) == ("failed", "NoEvidence")


@pytest.mark.proves("IN-08", "IN-11", "EV-03", "EV-06")
@pytest.mark.parametrize("ending", ["FAILED", "ABORTED", "TIMED-OUT"])
def test_a_run_that_ends_without_success_is_a_failed_source(brands, brand, sandbox, settle, ending):
    sandbox.apify.script(actor=POSTS, ending=ending, message="the profile is private")
    connect(brands, brand, SIX[0], SIX[2])
    compiled = brands.compile(ACME, brand.id)
    settle()

    done = brands.compile_run(ACME, compiled.id)
    (failed,) = done.evidence_status["failed"]
    assert (failed["apify_run_status"], failed["error_class"]) == (ending, "RunFailed")
    assert "the profile is private" in failed["error"]
    assert done.status == "succeeded"
    assert len(sandbox.books.paid_runs(POSTS)) == 1


def test_looks_that_fail_for_a_while_are_tolerated(brands, brand, sandbox, settle):
    sandbox.faults.add("status", path="/apify/v2/actor-runs/*", code=502, times=3)
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()

    (run,) = runs_of(brands, connection)
    assert (run.status, run.normalized_created) == ("SUCCEEDED", 50)
    assert len(sandbox.books.paid_runs()) == 1


def test_a_revoked_token_lets_every_source_wait_until_it_is_changed(brands, brand, sandbox, bench):
    sandbox.apify.script(revoke="token-of-mine")
    connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    for _ in range(5):
        bench.drain()
        bench.advance("1 min")

    (source,) = brands.status(ACME, compiled.id).sources
    job = brands.app.operations().jobs.get(source.job_id)
    assert (job.state, job.attempts, job.waiting_on) == ("queued", 0, "source:apify@brands:credential")
    assert sandbox.books.paid_runs() == []


@pytest.mark.proves("NM-02", "NM-04", "NM-06", "NM-08")
def test_a_second_run_updates_what_is_known_and_adds_what_is_new(brands, brand, settle, bench):
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()
    bench.advance("10 days")
    brands.compile(ACME, brand.id)
    settle()

    newer, older = runs_of(brands, connection)
    assert (older.normalized_created, older.normalized_updated) == (50, 0)
    assert newer.normalized_created > 0
    assert newer.normalized_created + newer.normalized_updated == 50
    seen_twice = rows(brands, "select evidence_id from brands_evidence_refs group by evidence_id having count(*) = 2")
    assert len(seen_twice) == newer.normalized_updated > 0
    assert count(brands, "brands_evidence") == 50 + newer.normalized_created


def test_raw_items_are_kept_as_the_actor_gave_them(brands, brand, settle):
    connect(brands, brand, settings={"cap": 3})
    brands.compile(ACME, brand.id)
    settle()

    bodies = [json.loads(body) for (body,) in rows(brands, "select body from brands_raw_items order by item_index")]
    assert [one["ownerUsername"] for one in bodies] == ["acme"] * 3
