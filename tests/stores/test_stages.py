"""A job's stage only moves forward, under its fence, and a resumed job goes on from where it stands."""

from __future__ import annotations

import pytest

from haulwright.apps.documents.stages import DOCUMENT_STAGES
from haulwright.engine.outcome import Bury
from haulwright.errors import IllegalStage
from haulwright.stores.job_rows import Requeue
from tests.stores.scenes import BOOM, claim_one, lose, new_job, rows, settle


def move(store, lease, *stages):
    return [store.effects.move(lease, DOCUMENT_STAGES, stage) for stage in stages]


@pytest.mark.proves("SM-04")
def test_the_stage_of_a_job_can_be_read(store, lease):
    assert store.effects.stage("default", lease.job_key) is None

    move(store, lease, "HEAD_DONE")

    assert store.effects.stage("default", lease.job_key) == "HEAD_DONE"
    assert store.listing.get(lease.id).stage == "HEAD_DONE"


@pytest.mark.proves("SM-02", "SM-03")
def test_a_move_that_the_machine_does_not_have_raises_and_changes_nothing(store, lease):
    move(store, lease, "HEAD_DONE")

    with pytest.raises(IllegalStage, match="HEAD_DONE to INDEXED"):
        move(store, lease, "INDEXED")

    assert store.effects.stage("default", lease.job_key) == "HEAD_DONE"


@pytest.mark.proves("SM-02")
def test_a_stage_that_was_reached_is_reached_again_without_going_back(store, lease):
    move(store, lease, "HEAD_DONE", "STREAMING")

    assert move(store, lease, "HEAD_DONE", "STREAMING", "PLANNED") == ["STREAMING"] * 3


@pytest.mark.proves("SM-02")
def test_a_resumed_job_goes_on_from_its_stage(store, clock, worker, lease):
    move(store, lease, "HEAD_DONE", "STREAMING")
    lose(store, clock)

    again = claim_one(store, worker)

    assert move(store, again, "HEAD_DONE", "FINALIZED") == ["STREAMING", "FINALIZED"]
    assert rows(store, "select generation, stage from haulwright_stages") == [(1, "FINALIZED")]


@pytest.mark.parametrize(("ended", "goes_on"), [("STREAMING", "FINALIZED"), ("FAILED", "HEAD_DONE")])
def test_a_requeue_starts_a_generation(store, worker, lease, ended, goes_on):
    """At the stage the dead letter stood in, or anew where that was final."""
    move(store, lease, "HEAD_DONE", "STREAMING", *([ended] if ended == "FAILED" else []))
    settle(store, lease, Bury("permanent", BOOM))
    store.jobs.requeue(lease.id, Requeue("me"), tenant=None)

    successor = claim_one(store, worker)

    assert store.effects.stage("default", successor.job_key) == ended
    assert move(store, successor, goes_on) == [goes_on]
    asked = "select generation, stage from haulwright_stages order by generation"
    assert rows(store, asked) == [(1, ended), (2, goes_on)]


@pytest.mark.proves("TN-04")
def test_two_tenants_with_one_job_key_have_their_own_stages(store, worker):
    store.jobs.enqueue([new_job(tenant=tenant, job_key="work-1") for tenant in "ab"])
    one, two = claim_one(store, worker), claim_one(store, worker)

    move(store, one, "HEAD_DONE")

    assert store.effects.stage(two.tenant, "work-1") is None
