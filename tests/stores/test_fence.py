"""A worker that lost its lease can change nothing, whatever it tries; one that was only slow still can."""

from __future__ import annotations

import pytest

from haulwright.apps.documents.stages import DOCUMENT_STAGES
from haulwright.clock import SECOND
from haulwright.engine.outcome import Bury, Cancel, Done, RetryLater, Skip, Snooze
from haulwright.engine.settlement import RELEASE, Settlement
from haulwright.engine.transitions import State
from haulwright.errors import LeaseLost
from haulwright.stores.effects import Begun
from haulwright.stores.job_rows import Requeue
from tests.stores.scenes import (
    BOOM,
    START,
    bury,
    claim,
    claim_one,
    commit,
    count,
    give_same_number_to,
    ids,
    lose,
    names,
    new_job,
    race,
    settle,
    settlement,
)

OUTCOMES = {
    "done": Done("1"),
    "retry": RetryLater(BOOM),
    "snooze": Snooze(60, "gate"),
    "skip": Skip("nothing to do"),
    "cancel": Cancel("changed my mind"),
    "bury": Bury("permanent", BOOM),
}


@pytest.fixture(params=["run by another", "run again here", "waiting again", "run by another under the same number"])
def stale(store, clock, other_worker, lease, request):
    """The lease of a worker whose job was taken back; the fence alone does not tell while nobody else has it.

    Nor where the database was put back to before the claim, and gave the same number to somebody else.
    """
    if request.param == "run by another under the same number":
        give_same_number_to(store, other_worker)
        return lease
    lose(store, clock)
    if request.param != "waiting again":
        claim_one(store, other_worker if request.param == "run by another" else lease.worker_id)
    return lease


@pytest.mark.proves("GU-04", "CLM-12")
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_stale_worker_cannot_end_the_run(store, stale, outcome):
    before = store.listing.get(stale.id), names(store, stale.id)

    assert not settle(store, stale, OUTCOMES[outcome])

    assert (store.listing.get(stale.id), names(store, stale.id)) == before


@pytest.mark.proves("CLM-12")
def test_a_stale_worker_cannot_release_the_job(store, stale):
    before = store.listing.get(stale.id)

    assert store.settlements.settle([Settlement(stale, RELEASE)]) == frozenset()
    assert store.listing.get(stale.id) == before


@pytest.mark.proves("CLM-12")
def test_a_stale_worker_cannot_renew_and_learns_that_it_lost(store, clock, stale):
    expiry = store.listing.get(stale.id).lease_expires_at
    clock.advance(10)

    assert store.leases.renew([stale]).lost == {stale.id}
    assert store.listing.get(stale.id).lease_expires_at == expiry


def test_a_stale_worker_cannot_report_progress(store, stale):
    assert not store.leases.progress(stale, '{"at":1}')
    assert store.listing.get(stale.id).progress is None


def test_a_stale_worker_cannot_say_how_long_the_lease_is(store, stale):
    before = store.listing.get(stale.id)

    assert store.leases.set_lengths([stale._replace(lease_us=SECOND)]) == frozenset()
    assert store.listing.get(stale.id) == before


@pytest.mark.parametrize(
    "write",
    [
        lambda effects, lease: effects.begin(lease, "key", "fetch"),
        lambda effects, lease: effects.settle(lease, "key", "1"),
        lambda effects, lease: effects.mark_unknown(lease, "key", "fetch"),
        lambda effects, lease: effects.forget(lease, "key", Begun("done")),
        lambda effects, lease: effects.under(
            lease, "commit", lambda c: effects.commit_on(c, lease, "key", "save", lambda _: "1")
        ),
        lambda effects, lease: effects.move(lease, DOCUMENT_STAGES, "HEAD_DONE"),
    ],
    ids=["begin", "settle", "mark_unknown", "forget", "commit", "stage"],
)
def test_a_stale_worker_cannot_write_to_the_ledger(store, stale, write):
    with pytest.raises(LeaseLost) as refusal:
        write(store.effects, stale)

    assert (refusal.value.job_id, refusal.value.fence) == (stale.id, 1)
    assert count(store, "haulwright_effects") == count(store, "haulwright_stages") == 0


@pytest.mark.proves("CLM-13")
def test_a_lapsed_lease_is_good_until_it_is_taken_back(store, clock, worker, a_job):
    """Nobody else has had the job, so a late result is a result."""
    lease = claim_one(store, worker)
    clock.advance(10_000)

    assert store.leases.progress(lease, "1")
    assert store.effects.begin(lease, "key", "fetch").state == "new"
    assert settle(store, lease)
    assert store.listing.get(a_job.id).state is State.SUCCEEDED


@pytest.mark.usefixtures("a_job")
def test_a_lapsed_lease_can_still_be_renewed_before_it_is_taken_back(store, clock, worker):
    lease = claim_one(store, worker)
    clock.advance(10_000)

    assert store.leases.renew([lease]).lost == frozenset()
    assert store.recovery.reap() == []


@pytest.mark.proves("HB-01")
def test_a_renewal_prolongs_every_lease_by_its_own_length(store, clock, worker):
    short, long = new_job(lease_us=60 * SECOND), new_job(lease_us=600 * SECOND)
    store.jobs.enqueue([short, long])
    leases = claim(store, worker, 2)
    clock.advance(20)

    renewal = store.leases.renew(leases)

    assert (renewal.lost, renewal.cancelled) == (frozenset(), {})
    found = [store.listing.get(job.id) for job in (short, long)]
    assert [job.lease_expires_at - START for job in found] == [80 * SECOND, 620 * SECOND]
    assert {job.heartbeat_at for job in found} == {START + 20 * SECOND}


def test_a_renewal_of_nothing_asks_nothing(store):
    assert store.leases.renew([]).lost == frozenset()


def test_a_renewal_of_many_tells_the_lost_from_the_held(store, clock, worker, stale, make_job):
    make_job(queue="other")
    held = claim_one(store, worker, "other")
    clock.advance(10)

    assert store.leases.renew([stale, held]).lost == {stale.id}
    assert store.listing.get(held.id).heartbeat_at == clock.now()


@pytest.mark.proves("GU-04")
def test_one_stale_outcome_in_a_batch_does_not_hold_up_the_others(store, worker, stale):
    jobs = [new_job(queue="other") for _ in range(3)]
    store.jobs.enqueue(jobs)
    leases = claim(store, worker, 3, "other")
    before = store.listing.get(stale.id)

    batch = [settlement(leases[0], Done()), settlement(stale, Done()), settlement(leases[1], RetryLater(BOOM))]
    accepted = store.settlements.settle([*batch, settlement(leases[2], Snooze(60))])

    assert accepted == set(ids(jobs))
    assert store.listing.get(stale.id) == before


def test_old_and_new_lease_of_one_job_in_one_batch_count_once(store, clock, worker, a_job):
    """A worker that lost a job may claim it again itself, and settle both runs in one breath."""
    old = claim_one(store, worker)
    lose(store, clock)
    new = claim_one(store, worker)
    told = names(store, a_job.id)

    store.settlements.settle([settlement(old, Bury("permanent", BOOM)), settlement(new, Done())])

    assert store.listing.get(a_job.id).state is State.SUCCEEDED
    assert names(store, a_job.id) == [*told, "job.started", "job.completed"]


def test_a_settled_run_cannot_be_settled_again(store, worker, a_job):
    lease = claim_one(store, worker)
    assert settle(store, lease, Done('"first"'))

    assert not settle(store, lease, Done('"second"'))
    assert store.listing.get(a_job.id).result == '"first"'


@pytest.mark.proves("RT-03")
@pytest.mark.usefixtures("a_job")
def test_settling_a_job_that_does_not_exist_changes_nothing_and_says_so(store, clock, worker):
    lease = claim_one(store, worker)
    settle(store, lease)
    clock.advance(7200)
    store.jobs.prune(State.SUCCEEDED, 3600)

    assert not settle(store, lease)
    assert count(store, "haulwright_history") == 0


def test_the_worker_of_a_dead_letter_has_no_say_over_its_successor(store, worker):
    """The successor starts with fence 1 again: the id tells them apart."""
    dead = bury(store, worker)
    successor = store.jobs.requeue(dead, Requeue("me"), tenant=None)
    new = claim_one(store, worker)
    old = new._replace(id=dead)

    assert (new.id, new.fence) == (successor.id, 1)
    assert not settle(store, old)
    with pytest.raises(LeaseLost):
        store.effects.begin(old, "key", "fetch")


def test_a_fence_may_grow_beyond_32_bits(store, worker, make_job):
    make_job()
    store.database.transact(lambda c: c.execute("update haulwright_jobs set fence = 1099511627776"))  # 2**40
    lease = claim_one(store, worker)

    assert lease.fence == 2**40 + 1
    assert store.leases.renew([lease]).lost == frozenset()
    assert commit(store, lease, "key", "save", lambda _: "1") == (True, "1")
    assert store.effects.move(lease, DOCUMENT_STAGES, "HEAD_DONE") == "HEAD_DONE"
    assert settle(store, lease)
    assert store.events.of_job(lease.id)[-1].fence == 2**40 + 1


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.usefixtures("a_job")
def test_after_a_lost_reply_a_worker_can_see_that_its_own_settlement_stands(store, worker, outcome):
    lease = claim_one(store, worker)
    assert not store.settlements.ended_by(lease)

    settle(store, lease, OUTCOMES[outcome])

    assert store.settlements.ended_by(lease)


@pytest.mark.parametrize("budget", [1, 5])
def test_a_loss_is_not_taken_for_ones_own_settlement(store, clock, worker, make_job, budget):
    make_job(max_attempts=budget)
    lease = claim_one(store, worker)

    lose(store, clock)

    assert not store.settlements.ended_by(lease)


@pytest.mark.proves("GU-04")
def test_of_a_reaper_and_a_worker_at_once_exactly_one_decides(store, open_store, clock, worker, make_job):
    other = open_store()
    for _ in range(12):
        job = make_job()
        lease = claim_one(store, worker)
        clock.advance(121)

        settled, reaped = race(lambda: settle(store, lease), other.recovery.reap)  # noqa: B023

        assert settled != (job.id in ids(reaped))
        assert store.listing.get(job.id).state is (State.SUCCEEDED if settled else State.QUEUED)
        if not settled:
            assert settle(store, claim_one(store, worker))
