"""Waiting for a run takes short steps, survives bad moments, and ends by a deadline."""

from __future__ import annotations

import json

import pytest

from haulwright.errors import BlockingCall
from haulwright.sources.apify import ApifyNotFound, ApifyTimeoutError, ApifyUnavailable

ACTOR = "apify~instagram-post-scraper"
INPUT = {"username": ["acme"], "resultsLimit": 8}
RUN = "/apify/v2/actor-runs/*"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr("haulwright.sources.apify.client.LOOK_SECONDS", 0.01)
    monkeypatch.setattr("haulwright.sources.apify.errors.BUSY_SECONDS", 0.01)


@pytest.fixture
def run(apify):
    return apify.start(ACTOR, INPUT)


def test_a_step_returns_an_unfinished_run_so_that_the_caller_can_go(apify, sandbox, run):
    sandbox.clock.advance(5)

    seen = apify.wait_step(run.id, 5)

    assert (seen.status, seen.is_terminal) == ("RUNNING", False)
    assert sandbox.books.requests(path=RUN)[0].query["waitForFinish"] == ("5",)


def test_no_step_is_longer_than_apify_holds_a_request(apify, sandbox, run):
    apify.wait_step(run.id, 3_600)

    assert sandbox.books.requests(path=RUN)[0].query["waitForFinish"] == ("60",)


@pytest.mark.proves("IN-08", "IN-11")
@pytest.mark.parametrize(
    ("ending", "success"), [("SUCCEEDED", True), ("FAILED", False), ("TIMED-OUT", False), ("ABORTED", False)]
)
def test_a_run_is_over_in_one_of_four_ways_of_which_one_is_a_success(apify, sandbox, ending, success):
    sandbox.apify.script(ending=ending)
    run = apify.start(ACTOR, INPUT)
    sandbox.clock.advance(60)

    seen = apify.wait_step(run.id)

    assert (seen.status, seen.is_terminal, seen.is_success) == (ending, True, success)
    assert seen.finished_at is not None


@pytest.mark.proves("IN-12")
def test_a_status_and_fields_that_nobody_knows_yet_mean_that_it_goes_on(apify, sandbox, run):
    new = {"data": {"id": run.id, "actorId": "a1", "status": "MIGRATING", "hologram": {"x": 1}, "startedAt": "soon"}}
    sandbox.faults.add("status", path=RUN, code=200, body=json.dumps(new))

    seen = apify.wait_step(run.id, 0)

    assert (seen.status, seen.is_terminal, seen.actor_id, seen.started_at) == ("MIGRATING", False, "a1", None)


def test_a_run_that_was_just_started_may_be_missing_for_a_moment(apify, sandbox, run):
    sandbox.faults.add("status", path=RUN, code=404, body='{"error": {"type": "record-not-found"}}', times=2)

    assert apify.wait_step(run.id, 0).id == run.id


def test_a_run_that_stays_missing_is_not_there(apify, monkeypatch):
    monkeypatch.setattr("haulwright.sources.apify.client.FRESH_SECONDS", 0.03)

    with pytest.raises(ApifyNotFound):
        apify.wait_step("no-such-run", 0)


def test_an_aborted_run_costs_no_more_and_aborting_twice_is_no_error(apify, sandbox, run):
    sandbox.clock.advance(5)

    assert apify.abort(run.id).status == "ABORTED"
    assert apify.abort(run.id, gracefully=True).status == "ABORTED"


@pytest.mark.proves("IN-13")
def test_a_run_that_is_not_over_in_time_is_aborted_and_reported(apify, sandbox):
    sandbox.apify.script(ending="NEVER")
    run = apify.start(ACTOR, INPUT)

    with pytest.raises(ApifyTimeoutError, match=run.id) as late:
        apify.wait_end(run.id, 0.1, step_seconds=1)

    assert late.value.run_id == run.id
    assert sandbox.apify.runs()[0].status(sandbox.clock.now()) == "ABORTED"


def test_bad_moments_while_waiting_are_tolerated(apify, sandbox, run):
    sandbox.clock.advance(60)
    sandbox.faults.add("status", path=RUN, code=502)
    sandbox.faults.add("lost_reply", path=RUN)
    sandbox.faults.add("rate_limit", path=RUN)

    assert apify.wait_end(run.id, 20).is_success


def test_bad_moments_without_an_end_are_not(apify, sandbox, run):
    sandbox.faults.add("status", path=RUN, code=502, times=None)

    with pytest.raises(ApifyUnavailable):
        apify.wait_end(run.id, 20)


def test_a_plain_door_on_the_event_loop_says_what_to_write(awaited, apify):
    async def on_the_loop():
        apify.wait_step("run")

    with pytest.raises(BlockingCall, match="await await_step"):
        awaited(on_the_loop())
