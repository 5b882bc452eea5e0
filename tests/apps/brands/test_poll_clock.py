"""How long a run may take: whatever gate is closed, whatever our clock does, and without paying twice."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from haulwright.clock import SECOND
from tests.apps.brands.scenes import ACME, POSTS, connect, runs_of

LOOKS = "/apify/v2/actor-runs/*"


@pytest.fixture
def scene(brands, brand, sandbox, bench, settle):
    """One source that is to be brought in."""
    (connection,) = connect(brands, brand)
    return SimpleNamespace(
        brands=brands, brand=brand, connection=connection, sandbox=sandbox, bench=bench, settle=settle
    )


def run_of(scene):
    (run,) = runs_of(scene.brands, scene.connection)
    return run


def start_run(scene):
    """A compile whose only source has just begun its run."""
    compiled = scene.brands.compile(ACME, scene.brand.id)
    scene.bench.drain()
    assert run_of(scene).started_at is not None
    return compiled


def poll_until_over(scene):
    """Work in short steps until the run is over, and return how many seconds after its start that was."""
    for _ in range(200):
        scene.bench.drain()
        run = run_of(scene)
        if run.finished_at is not None:
            return (run.finished_at - run.started_at) / SECOND
        scene.bench.advance(5)
    raise AssertionError("the run is not over")


def failed_entry(scene, compiled):
    (entry,) = scene.brands.compile_run(ACME, compiled.id).evidence_status["failed"]
    return entry


def statuses_at_apify(scene):
    return [run.status(scene.sandbox.clock.now()) for run in scene.sandbox.apify.runs()]


@pytest.mark.proves("IN-09", "EV-03")
@pytest.mark.parametrize("closed_by", ["errors", "a refused token", "a person"])
def test_a_run_that_nobody_can_ask_about_is_timed_out_in_its_time(scene, closed_by):
    scene.sandbox.apify.script(ending="NEVER")
    compiled = start_run(scene)
    match closed_by:
        case "errors":
            scene.sandbox.faults.add("status", path=LOOKS, code=500, times=None)
        case "a refused token":
            scene.sandbox.apify.script(revoke="token-of-mine")
        case "a person":
            scene.brands.account.source.pause(reason="the bill")

    assert 300 <= poll_until_over(scene) <= 340

    run = run_of(scene)
    assert (run.status, run.error_class) == ("timed_out", "ApifyTimeoutError")
    assert run.error.startswith("Polling timed out after 300s")
    scene.bench.drain()
    entry = failed_entry(scene, compiled)
    assert (entry["apify_run_id"], entry["actor_run_id"]) == (run.id, run.actor_run_id)
    assert entry["dataset_id"] == run.dataset_id
    assert (entry["apify_run_status"], entry["error_class"]) == ("timed_out", "ApifyTimeoutError")


def test_a_run_that_was_given_up_unheard_is_aborted_as_soon_as_apify_answers(scene):
    scene.sandbox.apify.script(ending="NEVER")
    start_run(scene)
    scene.sandbox.faults.add("status", path="/apify/v2/actor-runs/**", code=500, times=None)
    poll_until_over(scene)
    scene.sandbox.faults.clear()

    scene.settle()

    assert statuses_at_apify(scene) == ["ABORTED"]


@pytest.mark.proves("IN-07")
@pytest.mark.parametrize("jump", [605, 5 * 3600, -3600])
@pytest.mark.parametrize("is_heard", [True, False])
def test_a_jump_of_our_clock_ends_no_healthy_run(scene, jump, is_heard):
    scene.sandbox.apify.script(duration_seconds=60)
    compiled = start_run(scene)
    scene.bench.advance(5)
    scene.bench.drain()

    scene.bench.clock.advance(jump)
    scene.sandbox.clock.advance(-jump)
    if not is_heard:
        scene.sandbox.faults.add("status", path=LOOKS, code=502, times=1)
    scene.settle(rounds=600)

    run = run_of(scene)
    assert (run.status, run.error) == ("SUCCEEDED", None)
    assert scene.brands.compile_run(ACME, compiled.id).status == "succeeded"


@pytest.mark.proves("IN-07")
def test_a_run_is_aborted_by_apifys_clock_when_ours_stands_still(scene):
    scene.sandbox.apify.script(ending="NEVER")
    start_run(scene)
    scene.sandbox.clock.advance(301)
    scene.bench.advance(5)

    scene.bench.drain()

    run = run_of(scene)
    assert (run.status, run.error_class) == ("timed_out", "ApifyTimeoutError")
    assert statuses_at_apify(scene) == ["ABORTED"]


@pytest.mark.parametrize("behind", [11 * 60, 20 * 3600, -3600])
def test_a_start_that_was_not_recorded_is_found_though_apifys_clock_is_off(scene, behind):
    scene.sandbox.clock.advance(-behind)
    scene.brands.compile(ACME, scene.brand.id)
    with scene.bench.crash(scene.brands.refresh_task, after="start"):
        scene.bench.drain()
    scene.settle()

    run = run_of(scene)
    assert [paid.run for paid in scene.sandbox.books.paid_runs(POSTS)] == [run.actor_run_id]
    assert run.status == "SUCCEEDED"


@pytest.mark.proves("IN-10")
def test_a_run_that_apify_refuses_to_speak_of_has_failed_with_that_error(scene):
    compiled = start_run(scene)
    scene.sandbox.faults.add("status", path=LOOKS, method="GET", code=400, times=None)
    scene.settle()

    run = run_of(scene)
    assert (run.status, run.error_class, run.finished_at is None) == ("FAILED", "ApifyRefused", False)
    assert "400" in run.error
    entry = failed_entry(scene, compiled)
    assert (entry["apify_run_status"], entry["error"], entry["error_class"]) == ("FAILED", run.error, run.error_class)


@pytest.mark.proves("EV-03")
def test_a_source_whose_job_ended_without_a_word_names_its_run(scene):
    scene.sandbox.apify.script(ending="NEVER")
    compiled = start_run(scene)
    (source,) = scene.brands.status(ACME, compiled.id).sources
    scene.brands.app.operations().jobs.cancel(source.job_id, "enough")
    scene.settle()

    run = run_of(scene)
    entry = failed_entry(scene, compiled)
    assert (entry["actor_run_id"], entry["apify_run_status"], entry["dataset_id"]) == (
        run.actor_run_id, run.status, run.dataset_id,
    )  # fmt: skip
    assert run.actor_run_id
    assert "enough" in entry["error"]
