"""Document 000, polls of a run (lines 456 to 461, 699 to 916): how long, at what address, and how a run ends."""

from __future__ import annotations

import logging

import pytest

from haulwright.apps.brands import compat
from haulwright.apps.brands.settings import BrandSettings
from haulwright.settings import Settings
from haulwright.sources.apify import SUCCEEDED, TERMINAL, ActorRun, ApifyError, ApifyTimeoutError
from haulwright.sources.apify import errors as apify_errors
from tests.apps.brands.scenes import ACME, connect, runs_of

line = pytest.mark.line
PAGE = "applications/brands.md"
POLLS = "/apify/v2/actor-runs/*"


@line(
    "704-709",
    "a poll takes 180 seconds at 3 by default",
    differs="300 at 5, as the ingestion has it, in one setting",
    page=f"{PAGE}#settings",
)
def test_the_defaults_of_a_poll():
    figures = BrandSettings.load(Settings.load({}))

    assert (figures.poll_timeout_seconds, figures.poll_interval_seconds) == (180, 3)


@line("785-789", "an ingestion polls for 300 seconds at 5")
def test_the_figures_of_a_poll():
    figures = BrandSettings.load(Settings.load({}))

    assert (figures.poll_timeout_seconds, figures.poll_interval_seconds) == (300, 5)


@line("785-789", "these are DEFAULT_POLL_TIMEOUT_S and DEFAULT_POLL_INTERVAL_S")
def test_the_names_of_these_figures():
    assert (compat.DEFAULT_POLL_TIMEOUT_S, compat.DEFAULT_POLL_INTERVAL_S) == (300, 5)


@line("456-461", "a run is polled until it is over")
@line("729-730", "in a loop")
@line("793-799", "by the ingestion")
@line("725", "a run is polled at /v2/actor-runs/ and its id")
def test_the_address_of_a_poll(sandbox, bought):
    _, run = bought

    assert sandbox.books.count(path=f"/apify/v2/actor-runs/{run.actor_run_id}", method="GET") > 0


@line("726", "the time-out goes by a monotonic clock")
@line("830", "clocks that are set do not change it")
def test_a_clock_that_is_set_ends_no_run(brands, brand, sandbox, bench):
    sandbox.apify.script(ending="NEVER")
    connect(brands, brand)
    brands.compile(ACME, brand.id)
    bench.drain()
    bench.advance("5 s")
    bench.drain()
    before = sandbox.clock.now()
    bench.advance("10 min")  # our clock is set; only seconds have passed, as Apify's shows
    sandbox.clock.set(before + 5)
    bench.drain()

    assert "ABORTED" not in [one.status(sandbox.clock.now()) for one in sandbox.apify.runs()]


@pytest.fixture
def endless(brands, brand, sandbox, settle):
    """A run that never ends, until we gave it up."""
    sandbox.apify.script(ending="NEVER")
    (connection,) = connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    settle()
    return runs_of(brands, connection)[0], brands.compile_run(ACME, compiled.id)


@line("731-734", "a poll that takes too long says: Polling timed out after 300s")
@line("800-807", "the run is TIMED_OUT, finished, with that error")
@line("833", "it is saved before the step returns")
@line("836", "and the ingestion has failed")
def test_a_run_that_takes_too_long(endless):
    run, compiled = endless
    (failed,) = compiled.evidence_status["failed"]

    assert (run.status.upper(), run.finished_at is not None) == ("TIMED_OUT", True)
    assert run.error.startswith("Polling timed out after 300s")
    assert failed["error"].startswith("Polling timed out")


@line("722", "its error is an ApifyTimeoutError")
@line("732", "and is raised as one")
def test_the_class_of_a_time_out(endless):
    assert endless[0].error_class == "ApifyTimeoutError"


@line("800-807", "it is so while Apify answers nothing but errors")
def test_a_run_that_takes_too_long_while_apify_is_down(brands, brand, sandbox, bench):
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    bench.drain()
    sandbox.faults.add("status", path=POLLS, code=500, times=None)
    for _ in range(40):
        bench.advance("30 s")
        bench.drain()

    (run,) = runs_of(brands, connection)
    assert (run.finished_at is not None, run.error is not None) == (True, True)


@line("737", "one request takes 30 seconds at most")
@line("831", "so that no single request hangs")
def test_the_limit_of_one_request():
    assert BrandSettings.load(Settings.load({})).request_seconds == 30


@line("723", "errors of Apify are ApifyErrors")
@line("738-746", "they have status code and body")
def test_errors_of_apify():
    error = apify_errors.refusal("GET run", 500, b"no room")

    assert isinstance(error, ApifyError)
    assert (error.status_code, error.body) == (500, "no room")
    assert issubclass(ApifyTimeoutError, ApifyError)


@pytest.mark.parametrize("name", ["actId", "actorId"])
@line("748-750", "either spelling of the actor's id is understood")
def test_both_spellings_of_an_actor(name):
    document = {
        "id": "r1",
        name: "a1",
        "status": "RUNNING",
        "defaultDatasetId": "d1",
        "startedAt": "2024-01-01T00:00:00Z",
    }

    assert ActorRun.parse(document).actor_id == "a1"


@line("773-775", "SUCCEEDED, FAILED, TIMED-OUT and ABORTED are the ends of a run")
@line("753-759", "a run that is over is polled no more")
@line("832", "the ends are known by name")
def test_the_ends_of_a_run():
    assert set(TERMINAL) == {"SUCCEEDED", "FAILED", "TIMED-OUT", "ABORTED"}


@line("777-779", "only SUCCEEDED is a success")
def test_only_one_end_is_a_success():
    assert SUCCEEDED == "SUCCEEDED"


PATIENT = {
    "differs": "it is asked again until its time is over: a paid run is not given up for one lost answer",
    "page": "explanation/differences.md#brands",
}


@line("837", "a network error while polling makes the run FAILED", **PATIENT)
@line("838", "an answer other than 200 makes the run FAILED", **PATIENT)
@line("814-826", "an ApifyError while polling ends the ingestion", **PATIENT)
def test_one_bad_answer_ends_a_run(brands, brand, sandbox, settle):
    sandbox.faults.add("status", path=POLLS, code=502, times=1)
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()

    assert runs_of(brands, connection)[0].status == "FAILED"


@line("839", "a run that somebody aborted is known as ABORTED")
def test_a_run_that_was_aborted(brands, brand, sandbox, settle):
    sandbox.apify.script(ending="ABORTED")
    (connection,) = connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    settle()

    assert runs_of(brands, connection)[0].status == "ABORTED"
    assert brands.compile_run(ACME, compiled.id).evidence_status["failed"][0]["apify_run_status"] == "ABORTED"


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("Polling run", marks=line("727", "a poll is logged")),
        pytest.param("Run completed", marks=line("754-758", "the end of a run is logged")),
        pytest.param("still in progress", marks=line("761-766", "a run that goes on is logged for debugging")),
        pytest.param("Started Apify run", marks=line("861-866", "the start of a run is logged")),
        pytest.param("raw items", marks=line("894-898", "what was stored is logged")),
        pytest.param("created=", marks=line("911-916", "what was normalized is logged")),
    ],
)
def test_a_run_is_logged(brands, brand, settle, caplog, words):
    with caplog.at_level(logging.DEBUG):
        connect(brands, brand, settings={"cap": 2})
        brands.compile(ACME, brand.id)
        settle()

    assert words in caplog.text


@line("808-812", "a time-out is logged")
def test_a_time_out_is_logged(brands, brand, sandbox, settle, caplog):
    sandbox.apify.script(ending="NEVER")
    connect(brands, brand)
    with caplog.at_level(logging.WARNING):
        brands.compile(ACME, brand.id)
        settle()

    assert "timed out" in caplog.text
