"""Dispatch: one sync of a connection at a time, by schedule or by hand, never sooner than the plan allows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise

import pytest

from haulwright.apps.syncs.compat import JobDispatcher
from haulwright.apps.syncs.errors import ActiveJobExists, TooSoon
from haulwright.clock import SECOND
from haulwright.engine.transitions import State
from haulwright.errors import HaulwrightError, InvalidValue, NotFound
from haulwright.operations.principal import Principal, TenantRequired
from tests.apps.syncs.scenes import opened, support


@pytest.mark.proves("SL-14")
def test_due_connections_are_dispatched_every_five_minutes(world):
    for tenant in ("acme", "globex"):
        world.connect(tenant)
    world.bench.drain()
    assert world.bench.all_enqueued(world.syncs.sync_task) == []

    world.bench.advance("5 min")
    world.bench.drain()

    made = world.bench.all_enqueued(world.syncs.sync_task)
    assert sorted(job.tenant for job in made) == ["acme", "globex"]
    assert world.syncs.connections.get("acme", "shop").due_at == world.bench.clock.now() + 24 * 3_600_000_000


def test_a_connection_is_synced_again_after_its_interval_and_not_before(world):
    world.syncs.connections.set_plan("acme", "enterprise", actor="test")
    world.connect()

    world.go("5 min", times=13)
    assert len(world.remote()) == 2
    world.go("5 min", times=11)
    assert len(world.remote()) == 2

    starts = [run.started for run in world.remote()]
    assert starts[1] - starts[0] == 3600


def test_the_cadence_does_not_drift_although_the_dispatch_comes_a_little_late(world):
    world.syncs.connections.set_plan("acme", "enterprise", actor="test")
    world.connect()
    world.bench.advance("305 s")
    for _ in range(4):
        world.go("20 min", times=2)
        world.go("1199 s")

    starts = [run.started for run in world.remote()]
    assert [later - earlier for earlier, later in pairwise(starts)] == [3599] * 4


def test_after_a_long_pause_one_sync_is_made_up_for_and_not_one_for_each_interval(world):
    world.syncs.connections.set_plan("acme", "enterprise", actor="test")
    world.connect()
    world.go("5 min", times=2)
    world.bench.advance("10 h")
    world.go("5 min", times=11)

    assert len(world.remote()) == 2


def test_a_dispatch_on_the_callers_connection_counts_for_the_cadence(world, app, database_url):
    world.connect()
    with closing(opened(database_url)) as connection:
        JobDispatcher(connection, "acme", app=app).dispatch("shop")
        connection.commit()

    world.go("1 min", times=20)

    assert len(world.remote()) == 1


def test_more_due_connections_than_a_page_are_dispatched_by_one_slot(world, monkeypatch):
    monkeypatch.setattr("haulwright.apps.syncs.dispatch.PAGE", 2)
    for name in "abcde":
        world.connect(name=name)

    world.bench.advance("5 min")
    world.bench.drain()

    assert len(world.bench.all_enqueued(world.syncs.sync_task)) == 5


@pytest.mark.proves("ENQ-05", "ENQ-06")
def test_a_second_dispatch_is_refused_with_the_job_that_is_active(world):
    world.connect()
    first = world.dispatch()

    with pytest.raises(ActiveJobExists) as refused:
        world.dispatch()

    assert (refused.value.job_id, refused.value.connector_id) == (first, "shop")
    assert len(world.bench.all_enqueued(world.syncs.sync_task)) == 1


def test_of_dispatches_that_race_exactly_one_makes_a_job(world):
    world.connect()

    def race(_):
        try:
            return world.dispatch()
        except HaulwrightError as error:
            return error

    with ThreadPoolExecutor(4) as crowd:
        ended = list(crowd.map(race, range(8)))

    made = [one for one in ended if isinstance(one, str)]
    assert len(made) == 1
    assert {one.job_id for one in ended if isinstance(one, ActiveJobExists)} == set(made)


def test_a_sync_that_waits_for_a_retry_is_still_the_only_one(world):
    world.connect()
    job_id = world.dispatch()
    world.sandbox.faults.add("status", path="/airbyte/v1/jobs", method="POST", code=500)
    world.bench.drain()
    assert (world.job(job_id).state, world.job(job_id).attempts) == (State.QUEUED, 1)

    with pytest.raises(ActiveJobExists):
        world.dispatch()
    world.bench.advance("30 s")

    assert world.finish(job_id).state is State.SUCCEEDED


def test_a_tenant_cannot_sync_more_often_than_its_plan_and_support_can(world):
    world.connect()
    world.finish(world.dispatch())

    with pytest.raises(TooSoon, match="The plan free allows the next sync of shop in 1 day"):
        world.dispatch()
    by_support = world.syncs.dispatch(support(), "shop", correlation_id="ticket-4711")

    assert world.job(by_support).correlation_id == "ticket-4711"
    assert world.finish(by_support).state is State.SUCCEEDED


@pytest.mark.proves("ENQ-03", "TN-02")
def test_the_connection_of_another_tenant_looks_like_one_that_does_not_exist(world):
    world.connect("globex", "secret")

    told = []
    for name in ("secret", "nowhere"):
        with pytest.raises(NotFound) as refused:
            world.dispatch(name)
        told.append(str(refused.value).replace(name, "X"))

    assert told[0] == told[1]
    assert world.bench.all_enqueued(world.syncs.sync_task) == []


def test_what_does_not_fit_the_connection_is_refused(world):
    world.connect(enabled=False)

    with pytest.raises(InvalidValue, match="is not the account of the connection"):
        world.dispatch(external_account_id="somebody-else")
    with pytest.raises(InvalidValue, match="is disabled"):
        world.dispatch()
    with pytest.raises(TenantRequired):
        world.syncs.dispatch(Principal.admin("root"), "shop")


def test_a_sync_that_takes_longer_than_its_interval_is_followed_by_the_next_as_soon_as_it_ends(world):
    world.syncs.connections.set_plan("acme", "enterprise", actor="test")
    world.connect()
    world.sandbox.airbyte.script(duration_seconds=9000)

    world.go("5 min", times=34)

    first, second = world.remote()
    assert 0 <= second.started - first.finishes <= 600


def test_runs_that_were_settled_long_ago_are_forgotten(world, monkeypatch):
    monkeypatch.setattr("haulwright.apps.syncs.dispatch.KEEP_RUNS_US", 3600 * SECOND)
    world.connect()
    world.finish(world.dispatch())
    assert world.rows("select count(*) from syncs_runs") == [(1,)]
    world.syncs.connections.enable("acme", "shop", enabled=False, actor="test")

    world.go("30 min", times=3)

    assert world.rows("select count(*) from syncs_runs") == [(0,)]
