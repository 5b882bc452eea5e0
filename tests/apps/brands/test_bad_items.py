"""What an actor gives that cannot be used: recorded at the level where it went wrong, the good items kept."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from haulwright.apps.brands.evidence.normalization import sort_out
from haulwright.apps.brands.platforms.shapes import SHAPES
from haulwright.clock import SECOND
from tests.apps.brands.scenes import ACME, SIX, connect, count, rows, runs_of

ITEMS = "/apify/v2/datasets/*/items"


def give(sandbox, *items, total=None):
    """Let the next page of a dataset hold these items."""
    headers = {"X-Apify-Pagination-Total": str(len(items) if total is None else total)}
    sandbox.faults.add("status", path=ITEMS, code=200, body=json.dumps(list(items)), headers=headers, times=1)


def post(number, **changes):
    return {"id": str(number), "caption": f"post {number}", "timestamp": "2023-12-01T10:00:00Z"} | changes


def compiled(brands, brand, settle):
    (connection,) = connect(brands, brand)
    run = brands.compile(ACME, brand.id)
    settle()
    return brands.compile_run(ACME, run.id), runs_of(brands, connection)[0]


@pytest.mark.proves("NM-05")
def test_items_that_cannot_be_used_are_set_aside_each_with_its_reason(brands, brand, sandbox, settle):
    sandbox.apify.script(broken=4)
    done, run = compiled(brands, brand, settle)

    reasons = [reason for (reason,) in rows(brands, "select reason from brands_quarantine order by item_index")]
    assert sorted(reasons) == ["error_item", "missing_external_id", "missing_external_id", "unreadable_date"]
    assert (done.status, run.quarantined, run.normalized_created) == ("succeeded", 4, 46)


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("text", "no_object"),
        ([1, 2], "no_object"),
        (7, "no_object"),
        ({"caption": "no id"}, "missing_external_id"),
        ({"id": {"deep": 1}}, "missing_external_id"),
        ({"id": ""}, "missing_external_id"),
        ({"id": "x" * 400}, "bad_external_id"),
        ({"id": "a\u0000b"}, "bad_external_id"),
        ({"id": "1", "timestamp": "yesterday-ish"}, "unreadable_date"),
        ({"id": "1", "timestamp": ["2024"]}, "unreadable_date"),
        ({"id": "1", "timestamp": 1}, "unreadable_date"),
        ({"id": "1", "timestamp": 4_200_000_000}, "unreadable_date"),
        ({"id": "1", "timestamp": 9e15}, "unreadable_date"),
        ({"id": "1", "timestamp": "1905-01-01"}, "unreadable_date"),
        ({"id": "1", "timestamp": "2101-01-01"}, "unreadable_date"),
        ({"error": "not_found", "errorDescription": "Post does not exist"}, "error_item"),
    ],
)
def test_each_kind_of_garbage_has_its_reason(item, reason):
    text = json.dumps(item)

    found = sort_out([(0, len(text), text)], SHAPES["instagram"])

    assert ([one.reason for one in found.bad], found.good) == ([reason], [])


DAY = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
"""1,700,000,000 seconds after the beginning of 1970."""


@pytest.mark.parametrize("written", [1_700_000_000, 1_700_000_000_000, 1_700_000_000_000_000, "2023-11-14T22:13:20Z"])
def test_a_number_of_seconds_milliseconds_or_microseconds_is_the_same_moment(written):
    text = json.dumps(post(1, timestamp=written))

    ((_, item),) = sort_out([(0, len(text), text)], SHAPES["instagram"]).good

    assert item.published_at == DAY.timestamp() * SECOND


def test_an_odd_date_of_one_item_stops_no_compile(brands, brand, sandbox, settle):
    give(sandbox, post(1, timestamp=1_700_000_000_000_000), post(2, timestamp=9e15), post(3))
    done, run = compiled(brands, brand, settle)

    assert rows(brands, "select item_index, reason from brands_quarantine") == [(1, "unreadable_date")]
    assert (done.status, done.error, run.normalized_created) == ("succeeded", None, 2)
    dates = {one["published_at"] for one in brands.snapshot(ACME, brand.id)["evidence"].values()}
    assert dates == {"2023-11-14T22:13:20Z", "2023-12-01T10:00:00Z"}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("garbage", [None, 0, -1, "x", [], {}, [{}], {"a": []}, 1e300, True, float("nan")])
def test_fields_of_any_type_spoil_no_more_than_their_item(shape, garbage):
    names = (
        "id", "url", "caption", "timestamp", "hashtags", "images", "likesCount", "authorMeta", "diggCount", "author",
        "stats", "media", "posted_at", "activity_urn", "metadata", "crawl", "text", "date", "createTimeISO", "title",
    )  # fmt: skip
    text = json.dumps(dict.fromkeys(names, garbage))
    good = json.dumps({"id": "1", "activity_urn": "1", "url": "https://acme.example/a"})

    found = sort_out([(0, 1, text), (1, 1, good)], SHAPES[shape])

    assert len(found.good) + len(found.bad) == 2
    assert 1 in [index for index, _ in found.good]


def test_an_address_is_what_a_page_is_known_by():
    found = sort_out([(0, 1, '{"text": "no address"}'), (1, 1, '{"url": "ftp://x"}')], SHAPES["web"])

    assert [one.reason for one in found.bad] == ["missing_canonical_url"] * 2


def test_text_that_no_database_takes_is_cleaned_and_giant_items_are_left_out(brands, brand, sandbox, settle):
    give(sandbox, post(1, caption="a\u0000b \ud800 c"), post(2, caption="x" * 10_000_000), post(3))
    done, run = compiled(brands, brand, settle)

    assert (done.status, run.raw_item_count, run.normalized_created, run.quarantined) == ("succeeded", 3, 2, 1)
    assert rows(brands, "select item_index, reason from brands_quarantine") == [(1, "too_large")]
    assert rows(brands, "select body from brands_evidence where external_id = '1'") == [("ab \ufffd c",)]
    assert rows(brands, "select bytes > 10000000, body from brands_raw_items where item_index = 1")[0][1] is None


def test_the_same_thing_twice_is_one_item_as_it_was_last_given(brands, brand, sandbox, settle):
    give(sandbox, post(1, caption="old"), post(2), post(1, caption="new"))
    _, run = compiled(brands, brand, settle)

    assert (run.raw_item_count, run.normalized_created, run.normalized_updated) == (3, 2, 0)
    assert rows(brands, "select body from brands_evidence where external_id = '1'") == [("new",)]
    assert count(brands, "brands_evidence_refs") == 3


@pytest.mark.proves("CP-02")
def test_an_actor_that_gives_more_than_it_was_asked_for_is_cut_off(brands, brand, sandbox, settle):
    give(sandbox, *[post(number) for number in range(80)])
    _, run = compiled(brands, brand, settle)

    assert (run.raw_item_count, run.normalized_created, run.truncated) == (50, 50, True)


@pytest.mark.proves("NM-07")
def test_mostly_garbage_fails_the_source_and_keeps_what_is_good(brands, brand, sandbox, settle):
    give(sandbox, post(1), {"caption": "no id"}, {"caption": "nor here"})
    done, run = compiled(brands, brand, settle)

    (failed,) = done.evidence_status["failed"]
    assert failed["error"] == "2 of 3 items cannot be used: missing_external_id 2."
    assert failed["error_class"] == run.error_class == "TooManyBadItems"
    assert (run.normalized_at, run.quarantined, count(brands, "brands_evidence")) == (None, 2, 1)
    assert brands.plan(ACME, brand.id)[0].decision == "buy"


def test_a_run_that_found_nothing_is_no_failure_and_is_not_bought_again(brands, brand, sandbox, settle):
    sandbox.apify.script(items=0, actor="apify~instagram-post-scraper")
    connect(brands, brand, SIX[2])
    done, run = compiled(brands, brand, settle)

    told = next(one for one in done.evidence_status["refreshed"] if one["source"] == "instagram.posts")
    assert (done.status, told["raw_items_count"], run.raw_item_count) == ("succeeded", 0, 0)
    assert [one.decision for one in brands.plan(ACME, brand.id)] == ["reuse", "reuse"]


def test_a_dataset_that_is_gone_fails_its_source_alone(brands, brand, sandbox, settle):
    gone = json.dumps({"error": {"type": "record-not-found", "message": "Dataset was not found"}})
    sandbox.faults.add("status", path=ITEMS, code=404, body=gone, times=None)
    done, run = compiled(brands, brand, settle)

    (failed,) = done.evidence_status["failed"]
    assert (failed["error_class"], run.error_class) == ("ApifyNotFound", "ApifyNotFound")
    assert (run.status, run.fetched_at, done.status) == ("SUCCEEDED", None, "failed")
    assert brands.plan(ACME, brand.id)[0].decision == "buy"


@pytest.mark.parametrize("body", ["<html>", '{"items": 1}'])
def test_a_dataset_that_is_no_list_fails_its_source_after_its_tries(brands, brand, sandbox, settle, body):
    sandbox.faults.add("status", path=ITEMS, code=200, body=body, times=None)
    done, run = compiled(brands, brand, settle)

    (failed,) = done.evidence_status["failed"]
    assert (failed["error_class"], run.error_class, done.status) == ("ApifyUnavailable", "ApifyUnavailable", "failed")
    assert len(sandbox.books.paid_runs()) == 1
