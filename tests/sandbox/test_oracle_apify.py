"""The vendor's own client reads what the sandbox writes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from apify_client import ApifyClient
from apify_client.errors import ApifyApiError

POSTS = "apify/instagram-post-scraper"
INPUT = {"username": ["acme"], "resultsLimit": 7}


@pytest.fixture
def apify(sandbox):
    return ApifyClient("mine", api_url=f"{sandbox.url}/apify", max_retries=0)


def test_it_starts_watches_and_reads_a_run(sandbox, apify):
    run = apify.actor(POSTS).start(run_input=INPUT, memory_mbytes=512, run_timeout=timedelta(seconds=300))
    sandbox.clock.advance(60)

    finished = apify.run(run.id).wait_for_finish(wait_duration=timedelta(seconds=1))
    page = apify.dataset(run.default_dataset_id).list_items(limit=5, clean=True)

    assert (run.status, finished.status) == ("READY", "SUCCEEDED")
    assert (page.total, page.count, page.limit, page.desc) == (7, 5, 5, False)
    assert len(list(apify.dataset(run.default_dataset_id).iterate_items())) == 7


def test_it_finds_a_run_and_its_input_again(sandbox, apify):
    run = apify.actor(POSTS).start(run_input=INPUT)
    before = datetime.fromtimestamp(sandbox.clock.now() - 5, UTC)

    listed = apify.actor(POSTS).runs().list(desc=True, started_after=before, status="READY")
    everywhere = apify.runs().list(limit=10)
    record = apify.key_value_store(run.default_key_value_store_id).get_record("INPUT")

    assert [found.id for found in listed.items] == [found.id for found in everywhere.items] == [run.id]
    assert record["value"] == INPUT


def test_it_aborts_and_resurrects(sandbox, apify):
    run = apify.actor(POSTS).start(run_input=INPUT)

    aborted = apify.run(run.id).abort()
    revived = apify.run(run.id).resurrect()
    sandbox.clock.advance(60)

    assert (aborted.status, revived.status, apify.run(run.id).get().status) == ("ABORTED", "READY", "SUCCEEDED")
    assert apify.run(run.id).get().stats.resurrect_count == 1


def test_it_reads_the_last_run_the_dataset_the_log_and_the_account(sandbox, apify):
    run = apify.actor(POSTS).start(run_input=INPUT)
    sandbox.clock.advance(60)

    assert apify.actor(POSTS).last_run(status="SUCCEEDED").get().id == run.id
    assert apify.dataset(run.default_dataset_id).get().item_count == 7
    assert "7 items" in apify.run(run.id).log().get()
    assert apify.user().get().username.startswith("sandbox-")
    assert apify.actor(POSTS).validate_input(INPUT)


def test_it_understands_a_refusal(apify):
    with pytest.raises(ApifyApiError) as refused:
        apify.actor(POSTS).start(run_input={"resultsLimit": 1})

    assert (refused.value.status_code, refused.value.type) == (400, "invalid-input")
    assert apify.run("unknown").get() is None
