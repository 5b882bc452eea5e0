"""Finished jobs are removed by age, with what only they needed; one event a batch tells of it."""

from __future__ import annotations

import pytest

from haulwright import events
from haulwright.apps.documents.stages import DOCUMENT_STAGES
from haulwright.engine.outcome import Bury
from haulwright.engine.transitions import State
from haulwright.errors import NotFound
from haulwright.stores.job_rows import Requeue
from tests.stores.scenes import BOOM, bury, claim, claim_one, count, new_job, settle


def finish(store, worker, outcome=None, **words):
    """Run a job that leaves an effect, a large one and a stage behind."""
    store.jobs.enqueue([new_job(**words)])
    (lease,) = claim(store, worker)
    for key, result in ((f"{lease.id}-small", "1"), (f"{lease.id}-large", '"' + "x" * 70_000 + '"')):
        store.effects.begin(lease, key, "fetch")
        store.effects.settle(lease, key, result)
    store.effects.move(lease, DOCUMENT_STAGES, "HEAD_DONE")
    settle(store, lease, outcome)
    return lease


def ledger(store):
    return [count(store, f"haulwright_{table}") for table in ("effects", "blobs", "stages")]


def test_jobs_are_pruned_by_state_and_age(store, clock, worker):
    old, dead = finish(store, worker), bury(store, worker)
    clock.advance(3600)
    young = finish(store, worker)

    assert store.jobs.prune(State.SUCCEEDED, 3599) == 1

    with pytest.raises(NotFound):
        store.listing.get(old.id)
    assert store.listing.get(young.id)
    assert store.listing.get(dead)


def test_a_pruned_job_takes_its_effects_and_stages_along(store, clock, worker):
    finish(store, worker)
    assert ledger(store) == [2, 1, 1]
    clock.advance(3600)

    store.jobs.prune(State.SUCCEEDED, 60)

    assert ledger(store) == [0, 0, 0]


def test_another_tenants_effects_under_the_same_key_stay(store, clock, worker):
    finish(store, worker, tenant="a", job_key="k")
    clock.advance(3600)
    finish(store, worker, tenant="b", job_key="k")

    store.jobs.prune(State.SUCCEEDED, 60)

    assert ledger(store) == [2, 1, 1]


def test_a_requeued_dead_letter_leaves_its_effects_to_its_successor(store, clock, worker):
    lease = finish(store, worker, Bury("permanent", BOOM))
    store.jobs.requeue(lease.id, Requeue("me"), tenant=None)
    clock.advance(3600)

    assert store.jobs.prune(State.DEAD, 60) == 1

    successor = claim_one(store, worker)
    assert store.effects.begin(successor, f"{lease.id}-small", "fetch").result == "1"
    assert store.effects.stage("default", successor.job_key) == "HEAD_DONE"


def test_pruning_is_bounded_and_takes_the_oldest_first(store, clock, worker):
    first = finish(store, worker)
    for _ in range(4):
        clock.advance(1)
        finish(store, worker)
    clock.advance(3600)

    assert store.jobs.prune(State.SUCCEEDED, 60, limit=1) == 1
    with pytest.raises(NotFound):
        store.listing.get(first.id)
    assert [store.jobs.prune(State.SUCCEEDED, 60, limit=3) for _ in range(3)] == [3, 1, 0]


def test_a_batch_of_pruned_jobs_leaves_one_event_a_tenant(store, clock, worker):
    for tenant in ("a", "a", "b"):
        bury(store, worker, tenant=tenant)
    clock.advance(3600)
    store.jobs.prune(State.DEAD, 60)

    told = store.events.latest(name=events.JOBS_PRUNED)

    assert [(event.tenant, event.data["state"], event.data["count"]) for event in told] == [
        ("a", "dead", 2),
        ("b", "dead", 1),
    ]
    assert told[0].data["age_seconds"] == 60


def test_pruning_nothing_tells_nothing(store):
    assert store.jobs.prune(State.SUCCEEDED, 60) == 0
    assert count(store, "haulwright_events") == 0


def test_waiting_and_running_jobs_are_never_pruned(store, clock, worker, make_job):
    make_job(), make_job()
    claim_one(store, worker)
    clock.advance(10**7)

    assert [store.jobs.prune(state, 0) for state in State] == [0] * len(State)
