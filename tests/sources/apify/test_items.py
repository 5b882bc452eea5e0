"""Items come page by page, all of them and never more than was asked for."""

from __future__ import annotations

import pytest

from haulwright.sources.apify import Apify, ApifyUnavailable
from haulwright.sources.http import Http, Limits, Policy, TooLarge

ACTOR = "apify~instagram-post-scraper"
INPUT = {"username": ["acme"], "resultsLimit": 8}
ITEMS = "/apify/v2/datasets/*/items"


@pytest.fixture
def dataset(apify, sandbox):
    run = apify.start(ACTOR, INPUT | {"resultsLimit": 25})
    sandbox.clock.advance(60)
    return run.dataset_id


@pytest.fixture
def narrow(sandbox):
    """The same account through a client that reads no more than so many bytes."""
    clients = []

    def narrow(body_bytes):
        limits = Limits(body_bytes=body_bytes, wire_bytes=body_bytes)
        clients.append(Http(policy=Policy(private=True), limits=limits))
        return Apify(clients[-1], "token-of-mine", f"{sandbox.url}/apify")

    yield narrow
    for http in clients:
        http.close()


def offsets(sandbox):
    return [entry.query["offset"][-1] for entry in sandbox.books.requests(path=ITEMS)]


def test_all_pages_are_read_and_no_page_behind_the_last(apify, sandbox, dataset):
    items = apify.items(dataset, limit=1_000, page=10)

    assert len({item["id"] for item in items}) == 25
    assert (items.count, items.total, items.truncated) == (25, 25, False)
    assert offsets(sandbox) == ["0", "10", "20"]


@pytest.mark.proves("IN-01")
def test_a_limit_caps_what_is_read_and_says_that_more_was_there(apify, sandbox, dataset):
    items = apify.items(dataset, limit=12, page=10)

    assert len(list(items)) == 12
    assert (items.total, items.truncated) == (25, True)
    assert sandbox.books.requests(path=ITEMS)[-1].query["limit"] == ("2",)


def test_a_limit_that_is_met_exactly_truncates_nothing(apify, dataset):
    items = apify.items(dataset, limit=25, page=10)

    assert (len(list(items)), items.truncated) == (25, False)


def test_a_page_that_is_short_because_items_are_empty_is_not_the_last(apify, sandbox):
    sandbox.apify.script(broken=15)
    run = apify.start(ACTOR, INPUT | {"resultsLimit": 25})
    sandbox.clock.advance(60)

    items = apify.items(run.dataset_id, limit=100, page=5)

    assert len(list(items)) == 22  # each fifth of the broken ones is empty
    assert offsets(sandbox)[-1] == "20"


def test_a_page_that_is_too_large_to_read_is_asked_for_in_halves(narrow, sandbox, dataset):
    apify = narrow(6_000)

    assert len(list(apify.items(dataset, limit=100, page=25))) == 25
    assert len(offsets(sandbox)) > 3


def test_an_item_that_is_too_large_by_itself_is_said_so(narrow, dataset):
    apify = narrow(100)

    with pytest.raises(TooLarge):
        list(apify.items(dataset, limit=100))


def test_items_can_be_walked_over_on_the_event_loop(awaited, apify, dataset):
    async def walk():
        return [item async for item in apify.aitems(dataset, limit=20, page=7)]

    assert len(awaited(walk())) == 20


def test_an_empty_dataset_has_no_items(apify):
    run = apify.start(ACTOR, INPUT)

    assert list(apify.items(run.dataset_id, limit=10)) == []


def test_a_list_without_a_total_ends_with_the_first_empty_page(apify, sandbox, dataset):
    for body in ('[{"id": 1}]', '[{"id": 2}]', "[]"):
        sandbox.faults.add("status", path=ITEMS, code=200, body=body)

    assert [item["id"] for item in apify.items(dataset, limit=10, page=1)] == [1, 2]


@pytest.mark.parametrize("body", ["<html>", "{}", "null"])
def test_a_page_that_is_no_list_is_a_failure_and_not_an_end(apify, sandbox, dataset, body):
    sandbox.faults.add("status", path=ITEMS, code=200, body=body)

    with pytest.raises(ApifyUnavailable):
        list(apify.items(dataset, limit=10))
