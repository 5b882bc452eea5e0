"""Isolation of tenants and of connections: what one does is never another's."""

from __future__ import annotations

import pytest

from penstock.apps.syncs.vocabulary import JobDispatcher
from penstock.engine.transitions import State
from penstock.errors import NotFound


@pytest.mark.proves("TS-03", "ENQ-05")
def test_two_tenants_may_call_their_connections_alike_and_both_sync(world):
    jobs = []
    for tenant in ("acme", "globex"):
        world.connect(tenant, "shop")
        jobs.append(world.dispatch("shop", tenant))

    assert [world.finish(job_id).state for job_id in jobs] == [State.SUCCEEDED, State.SUCCEEDED]
    assert [len(world.remote(tenant)) for tenant in ("acme", "globex")] == [1, 1]


@pytest.mark.proves("TS-03", "TN-02")
def test_a_dispatcher_sees_the_jobs_of_its_tenant_and_no_other(world, app):
    for tenant in ("acme", "globex"):
        world.connect(tenant)
        world.dispatch(tenant=tenant)

    queued = JobDispatcher(app, "acme").get_queued_jobs()

    assert [(job.tenant_id, job.connector_id, job.status) for job in queued] == [("acme", "shop", "queued")]


@pytest.mark.proves("TS-03")
def test_the_sync_of_another_tenant_looks_like_one_that_does_not_exist(world, syncs):
    world.connect("globex")
    theirs = world.dispatch(tenant="globex")

    for job_id in (theirs, "not-even-an-id"):
        with pytest.raises(NotFound):
            syncs.stats.job("acme", job_id)
    assert syncs.stats.jobs("acme") == []
    assert syncs.stats.all("acme")["states"] == []


@pytest.mark.proves("TS-03")
def test_the_failures_of_one_tenant_do_not_hold_up_the_others(world):
    for tenant in ("acme", "globex"):
        world.connect(tenant)
    world.sandbox.airbyte.script(connection="acme shop", ending="failed", times=None)
    failing, other = world.dispatch(tenant="acme"), world.dispatch(tenant="globex")

    world.go("1 min", times=4)

    assert world.job(other).state is State.SUCCEEDED
    assert world.job(failing).state is State.QUEUED
