"""What may exist only once exists only once, for as long as its scope says."""

from __future__ import annotations

import pytest

from haulwright.clock import SECOND
from haulwright.engine.job import Unique
from haulwright.engine.outcome import Done, Snooze
from haulwright.engine.transitions import State
from haulwright.errors import DuplicateMismatch, NotFound
from tests.stores.scenes import bury, claim_one, count, fail, lose, new_job, race, settle

ACTIVE = Unique("k")
FOREVER = Unique("k", "forever")
FOR_A_MINUTE = Unique("k", "period", 60 * SECOND)


def enqueue(store, **words):
    return store.jobs.enqueue([new_job(**words)])[0]


@pytest.mark.proves("ENQ-06", "ENQ-07")
@pytest.mark.parametrize("unique", [ACTIVE, FOREVER, FOR_A_MINUTE], ids=lambda unique: unique.scope)
def test_a_duplicate_is_answered_with_the_job_that_is_there(store, unique):
    first = enqueue(store, unique=unique)

    second = enqueue(store, unique=unique)

    assert (second.id, second.created) == (first.id, False)
    assert count(store, "haulwright_jobs") == 1


@pytest.mark.parametrize("unique", [ACTIVE, FOREVER, FOR_A_MINUTE], ids=lambda unique: unique.scope)
def test_the_same_key_with_other_arguments_is_refused_naming_the_job(store, unique):
    first = enqueue(store, unique=unique, args='{"v":1}')

    with pytest.raises(DuplicateMismatch, match=first.id) as refusal:
        enqueue(store, unique=unique, args='{"v":2}')

    assert (refusal.value.key, refusal.value.job_id) == ("k", first.id)
    assert count(store, "haulwright_jobs") == 1


@pytest.mark.proves("TN-04")
@pytest.mark.parametrize("unique", [ACTIVE, FOREVER, FOR_A_MINUTE], ids=lambda unique: unique.scope)
def test_keys_are_scoped_by_tenant_and_task(store, unique):
    made = [
        enqueue(store, unique=unique, tenant=tenant, task=task) for tenant, task in (("a", "x"), ("a", "y"), ("b", "x"))
    ]

    assert all(one.created for one in made)


@pytest.mark.proves("ENQ-05")
def test_a_key_is_held_while_its_job_waits_for_a_retry(store, worker):
    """A second job meanwhile would meet the first one's retry."""
    first = enqueue(store, unique=ACTIVE)
    fail(store, claim_one(store, worker))

    assert enqueue(store, unique=ACTIVE).id == first.id


@pytest.mark.proves("ENQ-05")
@pytest.mark.parametrize("moment", ["running", "snoozed", "reaped"])
def test_a_key_is_held_as_long_as_its_job_is_active(store, clock, worker, moment):
    first = enqueue(store, unique=ACTIVE)
    lease = claim_one(store, worker)
    if moment == "snoozed":
        settle(store, lease, Snooze(60))
    if moment == "reaped":
        lose(store, clock)

    assert enqueue(store, unique=ACTIVE) == type(first)(first.id, created=False)


@pytest.mark.parametrize("end", ["succeeded", "dead", "cancelled"])
def test_the_key_of_a_finished_job_is_free_again(store, worker, end):
    if end == "dead":
        first = bury(store, worker, unique=ACTIVE)
    else:
        first = enqueue(store, unique=ACTIVE).id
        if end == "cancelled":
            store.jobs.cancel(first, tenant=None, reason="no", actor="me")
        else:
            settle(store, claim_one(store, worker))

    second = enqueue(store, unique=ACTIVE)

    assert second.created
    assert second.id != first


def test_a_key_for_ever_outlives_its_job_and_its_pruning(store, clock, worker):
    first = enqueue(store, unique=FOREVER)
    settle(store, claim_one(store, worker))
    clock.advance(1000 * 86400)
    assert store.jobs.prune(State.SUCCEEDED, 3600) == 1

    assert enqueue(store, unique=FOREVER) == type(first)(first.id, created=False)


def test_a_key_for_a_time_is_free_when_the_time_is_over(store, clock):
    first = enqueue(store, unique=FOR_A_MINUTE)

    clock.advance(59)
    assert enqueue(store, unique=FOR_A_MINUTE).id == first.id
    clock.advance(1)
    second = enqueue(store, unique=FOR_A_MINUTE)
    assert second.created
    assert enqueue(store, unique=FOR_A_MINUTE).id == second.id


def test_a_period_counts_from_its_own_enqueue(store, clock):
    enqueue(store, unique=FOR_A_MINUTE)
    clock.advance(60)
    second = enqueue(store, unique=FOR_A_MINUTE)

    clock.advance(59)

    assert enqueue(store, unique=FOR_A_MINUTE).id == second.id


def test_keys_whose_time_is_over_do_not_stay_for_ever(store, clock):
    enqueue(store, unique=FOR_A_MINUTE)
    enqueue(store, unique=Unique("other", "forever"))
    clock.advance(61)

    assert store.jobs.prune_keys() == 1

    assert count(store, "haulwright_keys") == 1


@pytest.mark.proves("IK-05", "ENQ-07")
def test_planning_the_same_job_key_again_gives_the_planned_job(store, worker):
    first = enqueue(store, job_key="work-1")

    again = enqueue(store, job_key="work-1")
    settle(store, claim_one(store, worker), Done())
    after_the_end = enqueue(store, job_key="work-1")

    assert {again.id, after_the_end.id} == {first.id}
    assert not again.created
    assert not after_the_end.created


@pytest.mark.proves("ENQ-07")
@pytest.mark.parametrize("ended", [False, True], ids=["while it waits", "when it has ended"])
@pytest.mark.parametrize(
    "words", [{"job_key": "k"}, {"unique": FOREVER}, {"unique": FOR_A_MINUTE}], ids=["job_key", "forever", "period"]
)
def test_a_client_that_was_not_told_may_ask_again_for_the_very_same_job(store, worker, words, ended):
    """After a lost reply it has the id that it sent: that job is there, neither refused nor made once more."""
    job = new_job(**words)
    store.jobs.enqueue([job])
    if ended:
        settle(store, claim_one(store, worker), Done())

    (again,) = store.jobs.enqueue([job])

    assert (again.id, again.created) == (job.id, False)
    assert len(store.leases.claim(worker, ["default"], 5)) == (0 if ended else 1)


def test_a_planned_key_with_other_arguments_is_refused(store):
    first = enqueue(store, job_key="work-1", args="1")

    with pytest.raises(DuplicateMismatch, match=first.id):
        enqueue(store, job_key="work-1", args="2")


@pytest.mark.proves("TN-04")
def test_two_tenants_may_plan_the_same_key(store):
    assert enqueue(store, job_key="work-1", tenant="a").created
    assert enqueue(store, job_key="work-1", tenant="b").created


@pytest.mark.parametrize("unique", [ACTIVE, FOREVER], ids=lambda unique: unique.scope)
def test_a_plan_that_was_answered_by_a_duplicate_did_not_take_its_key(store, unique):
    """Otherwise the key would stand for a job that never existed, and the work would never be done."""
    twin = enqueue(store, unique=unique)
    assert enqueue(store, unique=unique, job_key="plan").id == twin.id

    planned = enqueue(store, job_key="plan", unique=Unique("another"))

    assert planned.created
    assert store.listing.get(planned.id).job_key == "plan"


def test_two_of_a_key_in_one_batch_make_one_job(store):
    made = store.jobs.enqueue([new_job(unique=ACTIVE), new_job(), new_job(unique=ACTIVE)])

    assert [one.created for one in made] == [True, True, False]
    assert made[2].id == made[0].id


@pytest.mark.proves("ENQ-05", "CLM-01")
@pytest.mark.parametrize(
    "words", [{"unique": ACTIVE}, {"unique": FOREVER}, {"job_key": "k"}], ids=["while_active", "forever", "job_key"]
)
def test_of_many_enqueues_at_once_one_makes_the_job(store, open_store, words):
    stores = [open_store() for _ in range(4)]
    for each in stores:
        each.now()

    made = race(*(lambda s=s: enqueue(s, **words) for s in stores))

    assert sorted(one.created for one in made) == [False, False, False, True]
    assert len({one.id for one in made}) == 1
    assert count(store, "haulwright_jobs") == 1


def test_a_duplicate_of_a_job_that_just_ends_is_answered_or_made_but_never_lost(store, open_store, worker):
    """Whoever is told of an existing job can find it."""
    other = open_store()
    for _ in range(20):
        enqueue(store, unique=ACTIVE)
        lease = claim_one(store, worker)

        _, made = race(lambda: settle(store, lease), lambda: enqueue(other, unique=ACTIVE))  # noqa: B023

        try:
            store.listing.get(made.id)
        except NotFound:
            pytest.fail("the answer names a job that does not exist")
        if made.created:
            settle(store, claim_one(store, worker))
