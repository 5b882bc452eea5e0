"""What goes wrong at Airbyte, what becomes of the job, and the code by which operators count it."""

from __future__ import annotations

import pytest

from haulwright.apps.syncs.errors import CODES, code_of, in_our_words
from haulwright.engine.transitions import State
from haulwright.errors import LeaseLost, Retryable, Throttled
from haulwright.sources.airbyte import CLASSES
from haulwright.sources.airbyte.errors import refusal
from haulwright.sources.http import NotSent, OutcomeUnknown

JOBS = "/airbyte/v1/jobs"


@pytest.mark.proves("RT-08", "RT-09", "AU-03", "AU-04")
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        pytest.param({"kind": "status", "code": 500}, "server_error", id="500"),
        pytest.param({"kind": "status", "code": 503}, "server_error", id="503"),
        pytest.param({"kind": "refuse"}, "connection_error", id="no connection"),
    ],
)
def test_a_server_that_fails_is_asked_again_with_backoff(world, fault, code):
    world.connect()
    world.sandbox.faults.add(path=JOBS, method="POST", **fault)

    job_id = world.dispatch()
    job = world.finish(job_id)

    (failed,), (retry, *_) = world.events(job_id, "job.failed"), world.events(job_id, "job.retry")
    assert (job.state, job.attempts) == (State.SUCCEEDED, 2)
    assert (failed.data["error_code"], failed.attempt) == (code, retry.attempt)
    assert 45 <= retry.data["delay_seconds"] <= 75


@pytest.mark.proves("RT-07", "RL-06")
def test_a_429_is_waited_for_as_long_as_the_server_says_and_burns_no_attempt(world):
    world.connect()
    world.sandbox.faults.add("rate_limit", path=JOBS, method="POST", retry_after=600)

    job_id = world.dispatch()
    world.bench.drain()
    waiting = world.job(job_id)
    world.go("1 min", times=9)
    assert world.remote() == []
    job = world.finish(job_id)

    assert (waiting.state, waiting.attempts, waiting.error_code) == (State.QUEUED, 0, "rate_limit")
    assert (job.state, job.attempts, len(world.remote())) == (State.SUCCEEDED, 1, 1)
    assert world.events(job_id, "job.failed") == []


@pytest.mark.parametrize(
    ("status", "code"), [("inactive", "conflict"), ("deprecated", "conflict")], ids=["inactive", "deprecated"]
)
def test_a_connection_that_cannot_be_synced_is_a_dead_letter_at_once(world, status, code):
    world.connect(status=status)

    job = world.finish(world.dispatch())

    assert (job.state, job.reason, job.error_code, job.attempts) == (State.DEAD, "permanent", code, 1)


def test_a_locked_connection_is_tried_again(world):
    world.connect(status="locked")
    job_id = world.dispatch()
    world.bench.drain()
    assert world.job(job_id).error_code == "connection_locked"

    world.sandbox.airbyte.connections[world.airbyte_id()].status = "active"

    assert world.finish(job_id).state is State.SUCCEEDED


def test_a_connection_that_is_gone_at_airbyte_is_a_dead_letter_that_says_so(world):
    world.connect()
    del world.sandbox.airbyte.connections[world.airbyte_id()]

    job = world.finish(world.dispatch())

    assert (job.state, job.error_code) == (State.DEAD, "not_found")


def test_a_run_that_is_gone_at_airbyte_is_a_dead_letter_and_not_waited_for(world):
    world.connect()
    world.sandbox.airbyte.script(ending="never")
    job_id = world.dispatch()
    world.go("1 min")
    world.sandbox.airbyte._jobs.clear()

    job = world.finish(job_id, "10 min")

    assert (job.state, job.error_code) == (State.DEAD, "not_found")
    assert world.rows("select count(*) from syncs_runs where settled_at is null") == [(0,)]


def test_every_class_of_the_connector_has_a_code():
    assert set(CODES) == set(CLASSES)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OutcomeUnknown("POST jobs: the answer took too long; it may have been processed."), "timeout"),
        (NotSent("POST jobs: the connection could not be made; it was not sent."), "connection_error"),
        (Retryable("who knows"), "unknown_error"),
    ],
)
def test_an_error_of_the_network_is_told_from_a_timeout(error, code):
    assert (code_of(error), in_our_words(error).code) == (code, code)


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [(429, b"", "rate_limit"), (409, b'{"type": "x#try-again-later"}', "conflict"), (403, b"", "rate_limit")],
)
def test_what_airbyte_asks_us_to_wait_for_has_its_code_and_its_time(status, body, code):
    waiting = in_our_words(refusal("POST jobs", status, body, after=17))

    assert isinstance(waiting, Throttled)
    assert (waiting.code, waiting.after, waiting.gate) == (code, 17, "")


def test_a_wait_at_a_gate_of_ours_stays_what_it_is():
    closed = Throttled("closed", after=17, gate="source:airbyte@shared:rate")

    assert in_our_words(closed) is closed


def test_what_is_no_failure_of_airbyte_stays_what_it_is():
    lost = LeaseLost("job", 1)

    assert in_our_words(lost) is lost
