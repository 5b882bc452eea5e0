"""Wherever a process dies, each source is paid for once and nothing is written twice."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from haulwright.apps.brands.buying.freshness import NOTHING_YET
from tests.apps.brands.scenes import ACME, POSTS, STARTS, TENANT, connect, count, runs_of

LOST = [
    pytest.param({"kind": "lost_reply"}, id="the reply is lost"),
    pytest.param({"kind": "status", "code": 500, "carried_out": True}, id="500 after it began"),
    pytest.param({"kind": "status", "code": 500}, id="500 before it began"),
    pytest.param({"kind": "refuse"}, id="dropped before it began"),
    pytest.param({"kind": "rate_limit", "retry_after": 5}, id="429"),
]


KNOWN = ["order", "start"]
LATER = ["ended", "fetched", "normalize"]
"""Moments that are named after the run, which is there by then."""
MOMENTS = [(when, moment) for moment in KNOWN + LATER for when in ("before", "after")] + [("before", "settle")]


@pytest.fixture
def scene(brands, brand, sandbox, bench, settle):
    """One source that is to be brought in."""
    (connection,) = connect(brands, brand)
    return SimpleNamespace(
        brands=brands, brand=brand, connection=connection, sandbox=sandbox, bench=bench, settle=settle
    )


def wanted(scene):
    """A compile that has just wanted its source, and that source."""
    compiled = scene.brands.compile(ACME, scene.brand.id)
    scene.bench.drain(limit=1)
    return compiled, *scene.brands.status(ACME, compiled.id).sources


def status_of(scene, compiled):
    return scene.brands.compile_run(ACME, compiled.id).status


@pytest.mark.parametrize("fault", LOST)
def test_whatever_becomes_of_the_start_one_run_is_paid_for(scene, fault):
    scene.sandbox.faults.add(path=STARTS, method="POST", **fault)
    compiled = scene.brands.compile(ACME, scene.brand.id)
    scene.settle()

    (run,) = runs_of(scene.brands, scene.connection)
    (paid,) = scene.sandbox.books.paid_runs(POSTS)
    assert (run.actor_run_id, status_of(scene, compiled)) == (paid.run, "succeeded")


@pytest.mark.parametrize(("when", "moment"), MOMENTS)
def test_a_refresh_that_dies_at_any_moment_is_gone_on_with(scene, when, moment):
    compiled, source = wanted(scene)
    name = moment if moment == "start" else f"{moment}:{source.job_id}"
    if moment in LATER:
        scene.bench.drain()
        name = f"{moment}:{runs_of(scene.brands, scene.connection)[0].id}:{source.job_id}"
    with scene.bench.crash(scene.brands.refresh_task, **{when: name}):
        scene.settle()

    (run,) = runs_of(scene.brands, scene.connection)
    assert len(scene.sandbox.books.paid_runs()) == 1
    assert (run.raw_item_count, run.normalized_created, count(scene.brands, "brands_evidence")) == (50, 50, 50)
    assert (status_of(scene, compiled), count(scene.brands, "brands_snapshots")) == ("succeeded", 1)
    (told,) = scene.brands.status(ACME, compiled.id).sources
    assert (told.outcome.outcome, told.outcome.reason) == ("refreshed", NOTHING_YET)
    assert told.outcome.normalized_created == 50


def left_behind(scene):
    """A run whose job is gone, and which never ends by itself."""
    scene.sandbox.apify.script(ending="NEVER")
    _, source = wanted(scene)
    scene.bench.drain()
    scene.brands.app.operations().jobs.cancel(source.job_id, "enough")
    scene.settle()
    (left,) = runs_of(scene.brands, scene.connection)
    assert left.finished_at is None
    return left


def test_a_young_run_that_a_dead_job_left_behind_is_gone_on_with(scene):
    left = left_behind(scene)
    scene.brands.compile(ACME, scene.brand.id)
    scene.settle()

    (run,) = runs_of(scene.brands, scene.connection)
    assert (run.id, run.status, len(scene.sandbox.books.paid_runs())) == (left.id, "timed_out", 1)


def test_an_old_run_that_a_dead_job_left_behind_is_given_up_for_another(scene):
    left = left_behind(scene)
    scene.bench.advance("2 days")
    compiled = scene.brands.compile(ACME, scene.brand.id)
    scene.settle()

    run, old = runs_of(scene.brands, scene.connection)
    assert (old.id, old.error_class, run.error_class) == (left.id, "LeftBehind", None)
    assert (status_of(scene, compiled), len(scene.sandbox.books.paid_runs())) == ("succeeded", 2)


def test_a_start_that_another_job_may_have_made_is_looked_for_first(scene):
    _, source = wanted(scene)
    with scene.bench.crash(scene.brands.refresh_task, after="start"):
        scene.bench.drain()
    scene.bench.advance("3 min")
    scene.bench.store.recovery.reap()
    scene.brands.app.operations().jobs.cancel(source.job_id, "enough")
    compiled = scene.brands.compile(ACME, scene.brand.id)
    scene.settle()

    (run,) = runs_of(scene.brands, scene.connection)
    assert [one.run for one in scene.sandbox.books.paid_runs()] == [run.actor_run_id]
    assert status_of(scene, compiled) == "succeeded"


def test_an_older_refresh_that_takes_a_start_over_looks_for_it_first(scene):
    older = scene.brands.refresh_task.using(tenant=TENANT, delay="10 min").enqueue(scene.connection.id)
    scene.bench.advance("1 s")
    _, source = wanted(scene)
    with scene.bench.crash(scene.brands.refresh_task, after="start"):
        scene.bench.drain()
    scene.bench.advance("3 min")
    scene.bench.store.recovery.reap()
    scene.brands.app.operations().jobs.cancel(source.job_id, "enough")
    scene.settle()

    (run,) = runs_of(scene.brands, scene.connection)
    assert [one.run for one in scene.sandbox.books.paid_runs()] == [run.actor_run_id]
    assert (older.state(), run.job_id, run.normalized_created) == ("succeeded", older.id, 50)


def test_a_forced_refresh_stops_a_start_that_nobody_recorded_and_buys_its_own(scene):
    scene.sandbox.apify.script(ending="NEVER")
    _, source = wanted(scene)
    with scene.bench.crash(scene.brands.refresh_task, after="start"):
        scene.bench.drain()
    scene.bench.advance("3 min")
    scene.bench.store.recovery.reap()
    scene.brands.app.operations().jobs.cancel(source.job_id, "enough")
    scene.bench.advance("1 s")
    compiled = scene.brands.compile(ACME, scene.brand.id, force_refresh=True)
    scene.settle()

    now = scene.sandbox.clock.now()
    assert [run.status(now) for run in scene.sandbox.apify.runs()] == ["ABORTED", "SUCCEEDED"]
    assert status_of(scene, compiled) == "succeeded"
