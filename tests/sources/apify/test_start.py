"""A run is paid for once, whatever becomes of the request that starts it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from haulwright.errors import InvalidValue
from haulwright.sources.apify import ApifyUnavailable, Order, RunOptions, input_hash, matching
from haulwright.sources.http import OutcomeUnknown

ACTOR = "apify~instagram-post-scraper"
INPUT = {"username": ["acme"], "resultsLimit": 8}
SINCE = datetime(2026, 10, 1, 12, tzinfo=UTC)
STARTS = "/apify/v2/actors/*/runs"
INPUTS = "/apify/v2/key-value-stores/*/records/INPUT"
LOST = [
    pytest.param({"kind": "lost_reply"}, OutcomeUnknown, id="the reply is lost"),
    pytest.param({"kind": "status", "code": 500, "carried_out": True}, ApifyUnavailable, id="500 after it began"),
    pytest.param(
        {"kind": "status", "code": 201, "body": "<html>", "carried_out": True}, ApifyUnavailable, id="no JSON"
    ),
]


def test_a_start_returns_the_run_with_its_dataset(apify, sandbox):
    run = apify.start(ACTOR, INPUT)

    assert (run.status, run.is_terminal, run.adopted) == ("READY", False, False)
    assert run.dataset_id
    assert [paid.run for paid in sandbox.books.paid_runs(ACTOR)] == [run.id]


@pytest.mark.parametrize(("fault", "error"), LOST)
def test_a_start_is_sent_exactly_once_and_found_afterwards(apify, sandbox, fault, error):
    sandbox.faults.add(path=STARTS, method="POST", **fault)

    with pytest.raises(error):
        apify.start(ACTOR, INPUT, marker="job-1")
    found = apify.find(ACTOR, since=SINCE, marker="job-1", input=INPUT)

    assert found.adopted
    assert [paid.run for paid in sandbox.books.paid_runs(marker="job-1")] == [found.id]
    assert sandbox.books.count(service="apify", method="POST") == 1


@pytest.mark.parametrize("code", [500, 502, 503, 429])
def test_a_start_that_is_refused_is_not_repeated_either(apify, sandbox, code):
    sandbox.faults.add("status", path=STARTS, code=code, times=None)

    with pytest.raises(Exception, match=str(code)):
        apify.start(ACTOR, INPUT)

    assert sandbox.books.count(service="apify") == 1


def test_a_start_that_never_arrived_is_not_found(apify, sandbox):
    sandbox.faults.add("refuse", path=STARTS, method="POST")

    with pytest.raises(OutcomeUnknown):
        apify.start(ACTOR, INPUT, marker="job-1")

    assert apify.find(ACTOR, since=SINCE, marker="job-1", patience_seconds=0) is None


def test_somebody_elses_run_with_the_same_input_is_not_adopted(apify):
    apify.start(ACTOR, INPUT, marker="job-1")
    apify.start(ACTOR, INPUT)

    assert apify.find(ACTOR, since=SINCE, marker="job-2", input=INPUT, patience_seconds=0) is None


def test_without_a_marker_a_run_is_known_by_its_input_in_any_order(apify):
    apify.start(ACTOR, {"username": ["others"]})
    begun = apify.start(ACTOR, {**INPUT, "proxy": {"useDefault": True}})  # as Apify adds what the schema has by default
    apify.start(ACTOR, {"username": ["acme"], "resultsLimit": 9})

    found = apify.find(ACTOR, since=SINCE, input=dict(reversed(INPUT.items())))

    assert found.id == begun.id


def test_a_run_from_before_the_order_is_not_adopted(apify, sandbox):
    apify.start(ACTOR, INPUT)
    sandbox.clock.advance(600)

    assert apify.find(ACTOR, since=SINCE + timedelta(seconds=600), input=INPUT, patience_seconds=0) is None


@pytest.mark.parametrize(
    "lag",
    [
        {"path": STARTS, "method": "GET", "code": 200, "body": '{"data": {"items": []}}'},
        {"path": INPUTS, "code": 404, "body": '{"error": {"type": "record-not-found"}}'},
    ],
    ids=["the list lags behind", "the input lags behind"],
)
def test_a_run_that_is_not_visible_yet_is_looked_for_again(apify, sandbox, lag, monkeypatch):
    monkeypatch.setattr("haulwright.sources.vendor.LOOK_SECONDS", 0.01)
    begun = apify.start(ACTOR, INPUT, marker="job-1")
    sandbox.faults.add("status", **lag)

    assert apify.find(ACTOR, since=SINCE, marker="job-1").id == begun.id


def test_a_run_is_found_behind_many_others_and_no_input_is_read_twice(apify, sandbox, monkeypatch):
    monkeypatch.setattr(matching, "PAGE_RUNS", 2)
    begun = apify.start(ACTOR, INPUT, marker="job-1")
    for number in range(4):
        apify.start(ACTOR, INPUT, marker=f"other-{number}")

    assert apify.find(ACTOR, since=SINCE, marker="job-1").id == begun.id
    assert sandbox.books.count(path=INPUTS) == 5


def test_an_order_starts_or_adopts(awaited, apify, sandbox):
    order = Order(apify, ACTOR, INPUT, since=SINCE)
    sandbox.faults.add("lost_reply", path=STARTS, method="POST")

    run = awaited(order.astart_or_adopt("job-1"))

    assert run.adopted
    assert len(sandbox.books.paid_runs(marker="job-1")) == 1


def test_an_order_that_found_nothing_says_that_it_does_not_know(awaited, apify, sandbox):
    order = Order(apify, ACTOR, INPUT, since=SINCE, marked=False, patience_seconds=0)
    sandbox.faults.add("refuse", path=STARTS, method="POST")

    with pytest.raises(OutcomeUnknown):
        awaited(order.astart_or_adopt("job-1"))


def test_caps_on_cost_reach_apify(apify, sandbox):
    options = RunOptions(timeout_seconds=60, memory_mbytes=512, max_items=3, max_total_charge_usd=0.05, build="latest")

    apify.start(ACTOR, INPUT, options=options)

    query = sandbox.books.requests(method="POST")[0].query
    assert {name: values[-1] for name, values in query.items()} == {
        "timeout": "60",
        "memory": "512",
        "maxItems": "3",
        "maxTotalChargeUsd": "0.05",
        "build": "latest",
    }


@pytest.mark.parametrize("senseless", [{"memory_mbytes": 500}, {"memory_mbytes": 64}, {"max_items": 0}])
def test_caps_that_apify_would_refuse_are_refused_before_anything_is_sent(senseless):
    with pytest.raises(InvalidValue):
        RunOptions(**senseless)


def test_the_hash_of_an_input_does_not_depend_on_the_order_of_its_fields():
    assert input_hash({"a": 1, "b": [1, 2]}) == input_hash({"b": [1, 2], "a": 1})
    assert input_hash({"a": 1}) != input_hash({"a": "1"})


def test_a_search_needs_something_to_go_by(apify):
    with pytest.raises(InvalidValue):
        apify.find(ACTOR, since=SINCE)
