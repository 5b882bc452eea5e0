"""The evidence status of a compile: what was reused, bought, left alone, and what failed."""

from __future__ import annotations

import pytest

from haulwright.apps.brands.evidence.status import STATUS_SCHEMA, evidence_status
from haulwright.apps.brands.json_schema import check
from haulwright.errors import InvalidPayload
from tests.apps.brands_snapshot.scenes import an_outcome

RUN = {"apify_run_id": "run-1", "actor_run_id": "actor-1", "apify_run_status": "SUCCEEDED", "dataset_id": "set-1"}
COUNTS = {"normalized_created": 5, "normalized_updated": 1}


@pytest.mark.proves("EV-01")
def test_every_source_stands_in_exactly_one_of_four_lists():
    outcomes = [
        an_outcome("reused", source="web.pages", run_age_hours=5.2, **RUN),
        an_outcome("refreshed", source="instagram.reels", **RUN),
        an_outcome("skipped", source="linkedin.profile_posts"),
        an_outcome("failed", source="tiktok.profile_videos", error="no answer", error_class="ApifyTimeoutError"),
    ]

    status = evidence_status(outcomes)

    assert {name: [entry["source"] for entry in entries] for name, entries in status.items()} == {
        "reused": ["web.pages"],
        "refreshed": ["instagram.reels"],
        "skipped": ["linkedin.profile_posts"],
        "failed": ["tiktok.profile_videos"],
    }


def test_a_compile_without_sources_has_four_empty_lists():
    assert evidence_status([]) == {"reused": [], "refreshed": [], "skipped": [], "failed": []}


@pytest.mark.proves("EV-02")
def test_a_refreshed_source_tells_its_run_and_what_came_of_it():
    (entry,) = evidence_status([an_outcome("refreshed", raw_items_count=6, **RUN, **COUNTS)])["refreshed"]

    assert entry == {
        "source": "instagram.posts",
        "connection_id": "c1",
        "reason": "Because.",
        "raw_items_count": 6,
        **RUN,
        **COUNTS,
    }


@pytest.mark.proves("EV-03", "EV-06")
def test_a_failed_source_tells_its_error_with_class_run_and_dataset():
    told = {"error": "Polling timed out.", "error_class": "ApifyTimeoutError", **RUN, "apify_run_status": "TIMED-OUT"}

    (entry,) = evidence_status([an_outcome("failed", **told)])["failed"]

    assert entry == {"source": "instagram.posts", "connection_id": "c1", "reason": "Because.", **told}


@pytest.mark.proves("EV-03")
def test_a_source_that_failed_before_its_run_has_none():
    (entry,) = evidence_status([an_outcome("failed", error="no token", error_class="Refused")])["failed"]

    assert (entry["apify_run_id"], entry["apify_run_status"], entry["dataset_id"]) == (None, None, None)


@pytest.mark.proves("EV-04")
def test_a_reused_source_tells_the_age_of_its_run():
    (entry,) = evidence_status([an_outcome("reused", run_age_hours=5.2, **RUN, **COUNTS)])["reused"]

    assert (entry["run_age_hours"], entry["apify_run_id"], entry["normalized_created"]) == (5.2, "run-1", 5)


def test_a_reuse_of_nothing_is_a_failure():
    status = evidence_status([an_outcome("reused", run_age_hours=5.2)])

    assert status["reused"] == []
    assert status["failed"][0]["error_class"] == "NothingToReuse"


@pytest.mark.proves("EV-05")
def test_a_skipped_source_tells_only_why():
    reason = "Capability disabled (feature flag)"

    (entry,) = evidence_status([an_outcome("skipped", reason=reason)])["skipped"]

    assert entry == {"source": "instagram.posts", "connection_id": "c1", "reason": reason}


def test_a_failure_without_words_still_says_what_it_was():
    (entry,) = evidence_status([an_outcome("failed")])["failed"]

    assert (entry["error"], entry["error_class"]) == ("Because.", "Unknown")


def test_the_order_in_which_sources_ended_does_not_matter():
    first, second = an_outcome("skipped", source="a.b"), an_outcome("skipped", source="a.b", connection_id="c0")

    assert evidence_status([first, second]) == evidence_status([second, first])


@pytest.mark.parametrize("wrong", [{"raw_items_count": -1}, {"apify_run_id": ""}, {"apify_run_status": None}])
def test_an_entry_that_says_nonsense_is_refused(wrong):
    with pytest.raises(InvalidPayload, match=rf"evidence_status\.refreshed\[0\]\.{next(iter(wrong))}"):
        evidence_status([an_outcome("refreshed", **(RUN | wrong))])


def test_the_schema_allows_no_fifth_list():
    with pytest.raises(InvalidPayload, match="'lost', which does not belong there"):
        check({**evidence_status([]), "lost": []}, STATUS_SCHEMA, root="status")
