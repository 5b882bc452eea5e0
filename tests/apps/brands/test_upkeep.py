"""Upkeep: runs that nobody looks after come to an end, and raw items go when they are old."""

from __future__ import annotations

from dataclasses import replace

import pytest

from haulwright.apps.brands.platforms.capabilities import BUILT_IN
from haulwright.apps.brands.platforms.registry import Registry
from tests.apps.brands.scenes import ACME, ADMIN, SIX, TENANT, connect, count, rows, runs_of

FEW = {"cap": 4}


@pytest.fixture
def tidy(brands, settle):
    """One pass of upkeep, and what it led to."""

    def run():
        handle = brands.tidy_task.enqueue()
        settle()
        return handle.result(0)

    return run


def abandon(brands, compiled):
    """A person gives a compile and its sources up."""
    for job_id in [*(one.job_id for one in brands.status(ACME, compiled.id).sources), compiled.job_id]:
        brands.app.operations().jobs.cancel(job_id, "enough")


def switch_off(brands):
    """An operator switches everything off."""
    off = Registry(replace(capability, enabled=False) for capability in BUILT_IN)
    vars(brands.registry).update(vars(off))


@pytest.mark.proves("RC-07")
def test_a_run_that_was_left_behind_is_brought_in_and_not_bought_again(brands, brand, bench, sandbox, tidy):
    (connection,) = connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    bench.drain()
    abandon(brands, compiled)
    assert tidy()["left_behind"] == 0, "Apify may still be at it"

    bench.advance("10 min")
    told = tidy()

    (run,) = runs_of(brands, connection)
    assert (told["left_behind"], run.status, run.normalized_created) == (1, "SUCCEEDED", 50)
    assert len(sandbox.books.paid_runs()) == 1
    assert tidy()["left_behind"] == 0


@pytest.mark.proves("RC-07")
def test_items_that_were_stored_and_not_normalized_are_normalized(brands, brand, bench, tidy):
    (connection,) = connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    bench.drain()
    (source,), (run,) = brands.status(ACME, compiled.id).sources, runs_of(brands, connection)
    bench.advance("30 s")
    with bench.crash(brands.refresh_task, before=f"normalize:{run.id}:{source.job_id}"):
        bench.drain()
    bench.advance("15 min")
    bench.store.recovery.reap()
    abandon(brands, compiled)
    assert (count(brands, "brands_raw_items"), count(brands, "brands_evidence")) == (50, 0)

    tidy()

    (run,) = runs_of(brands, connection)
    assert (run.normalized_created, run.error, count(brands, "brands_evidence")) == (50, None, 50)


@pytest.mark.proves("RC-07")
def test_a_run_of_which_nobody_knows_whether_it_began_is_given_up_and_costs_nothing(
    brands, brand, bench, sandbox, tidy
):
    (connection,) = connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    with bench.crash(brands.refresh_task, before="start"):
        bench.drain()
    bench.advance("15 min")
    bench.store.recovery.reap()
    abandon(brands, compiled)

    tidy()

    (run,) = runs_of(brands, connection)
    assert (run.error_class, run.finished_at is None) == ("LeftBehind", False)
    assert sandbox.books.paid_runs() == []


@pytest.mark.proves("RC-07")
def test_a_start_that_nobody_recorded_is_found_and_not_written_off(brands, brand, bench, sandbox, tidy):
    (connection,) = connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    with bench.crash(brands.refresh_task, after="start"):
        bench.drain()
    bench.advance("15 min")
    bench.store.recovery.reap()
    abandon(brands, compiled)

    tidy()

    ((run,), (paid,)) = runs_of(brands, connection), sandbox.books.paid_runs()
    assert (run.actor_run_id, run.status, run.error) == (paid.run, "SUCCEEDED", None)
    assert run.normalized_created == 50
    assert tidy()["left_behind"] == 0


def test_a_run_of_a_capability_that_was_switched_off_is_given_up_once(brands, brand, bench, tidy):
    (connection,) = connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    bench.drain()
    abandon(brands, compiled)
    bench.advance("10 min")
    switch_off(brands)

    assert [tidy()["left_behind"], tidy()["left_behind"]] == [1, 0]

    (run,) = runs_of(brands, connection)
    assert (run.error_class, run.error) == ("LeftBehind", "Capability disabled (feature flag)")


def test_a_run_whose_capability_is_switched_off_meanwhile_is_stopped(brands, brand, bench, sandbox, settle):
    sandbox.apify.script(ending="NEVER")
    connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    bench.drain()
    switch_off(brands)
    settle()

    assert [one.status(sandbox.clock.now()) for one in sandbox.apify.runs()] == ["ABORTED"]
    (told,) = brands.compile_run(ACME, compiled.id).evidence_status["skipped"]
    assert told["reason"] == "Capability disabled (feature flag)"


def test_raw_items_go_when_they_are_old_and_what_was_made_of_them_stays(install, settle, bench):
    brands = install(keep_raw_seconds=7 * 86_400.0)
    brand = brands.add(ACME, "Acme")
    connect(brands, brand, SIX[0], settings=FEW)
    brands.compile(ACME, brand.id)
    settle()
    bench.advance("6 days")
    connect(brands, brand, SIX[0], settings=FEW, enabled=False)
    connect(brands, brand, SIX[1], settings=FEW)
    brands.compile(ACME, brand.id)
    settle()
    bench.advance("2 days")

    would, still = brands.prune(ADMIN, dry_run=True), count(brands, "brands_raw_items")
    gone = brands.prune(ADMIN)

    assert (would, still) == (gone, 8)
    assert (gone.runs, gone.items, count(brands, "brands_raw_items")) == (1, 4, 4)
    assert count(brands, "brands_evidence") == 8
    assert rows(brands, "select raw_item_count from brands_runs where pruned_at is not null") == [(4,)]
    (told,) = brands.app.store.events.latest(name="brand.raw_pruned")
    assert (told.tenant, told.data["items"]) == (TENANT, 4)
    assert brands.prune(ADMIN).runs == 0


def test_one_pass_of_upkeep_removes_a_bounded_number(install, settle, bench, monkeypatch):
    brands = install(keep_raw_seconds=60.0)
    brand = brands.add(ACME, "Acme")
    connect(brands, brand, *SIX[:3], settings={"cap": 2})
    brands.compile(ACME, brand.id)
    settle()
    bench.advance("2 min")
    monkeypatch.setattr("haulwright.apps.brands.tasks.tidy.MOST_PRUNED", 2)

    first, second = brands.tidy_task.enqueue(), brands.tidy_task.enqueue()
    bench.drain()

    assert [one.result(0)["runs_pruned"] for one in (first, second)] == [2, 1]
    assert count(brands, "brands_raw_items") == 0
