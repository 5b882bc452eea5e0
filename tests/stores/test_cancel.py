"""A cancelled job ends: at once where it waits, through its run where it runs."""

from __future__ import annotations

import pytest

from haulwright import events
from haulwright.engine.outcome import Done, RetryLater, Snooze
from haulwright.engine.settlement import RELEASE, Settlement
from haulwright.engine.transitions import State
from haulwright.errors import IllegalTransition, NotFound
from tests.stores.scenes import BOOM, claim, claim_one, lose, names, race, settle


def cancel(store, job_id, tenant=None, reason="not needed"):
    return store.jobs.cancel(job_id, tenant=tenant, reason=reason, actor="alice")


def test_a_waiting_job_is_cancelled_at_once(store, worker, a_job):
    assert cancel(store, a_job.id) is State.CANCELLED

    found = store.listing.get(a_job.id)
    assert (found.state, found.reason) == (State.CANCELLED, "not needed")
    assert claim(store, worker) == []
    assert [(e.name, e.actor) for e in store.events.of_job(a_job.id)] == [(events.JOB_CANCELLED, "alice")]


def test_a_running_job_learns_of_it_at_its_next_renewal(store, worker, a_job):
    lease = claim_one(store, worker)

    assert cancel(store, a_job.id) is State.RUNNING

    renewal = store.leases.renew([lease])
    assert (renewal.lost, renewal.cancelled) == (frozenset(), {a_job.id: "not needed"})
    assert store.listing.get(a_job.id).cancel_reason == "not needed"


@pytest.mark.parametrize("outcome", [RetryLater(BOOM), Snooze(60)], ids=["retry", "snooze"])
def test_a_job_asked_to_cancel_does_not_go_back_to_the_queue(store, worker, a_job, outcome):
    lease = claim_one(store, worker)
    cancel(store, a_job.id)

    assert settle(store, lease, outcome)

    found = store.listing.get(a_job.id)
    assert (found.state, found.reason) == (State.CANCELLED, "not needed")
    assert names(store, a_job.id) == [events.JOB_CANCEL_REQUESTED, events.JOB_STARTED, events.JOB_CANCELLED]


def test_a_released_job_that_was_asked_to_cancel_is_cancelled(store, worker, a_job):
    lease = claim_one(store, worker)
    cancel(store, a_job.id)

    store.settlements.settle([Settlement(lease, RELEASE)])

    assert store.listing.get(a_job.id).state is State.CANCELLED


def test_a_lost_job_that_was_asked_to_cancel_is_cancelled(store, clock, worker, a_job):
    claim_one(store, worker)
    cancel(store, a_job.id)

    (reaped,) = lose(store, clock)

    assert reaped.state is State.CANCELLED
    assert store.listing.get(a_job.id).reason == "not needed"


def test_a_run_that_succeeded_before_it_heard_of_it_has_succeeded(store, worker, a_job):
    lease = claim_one(store, worker)
    cancel(store, a_job.id)

    assert settle(store, lease, Done("1"))
    assert store.listing.get(a_job.id).state is State.SUCCEEDED


def test_the_first_reason_stands(store, worker, a_job):
    lease = claim_one(store, worker)
    cancel(store, a_job.id, reason="first")
    cancel(store, a_job.id, reason="second")

    assert store.leases.renew([lease]).cancelled == {a_job.id: "first"}


@pytest.mark.proves("JOB-17")
def test_a_finished_job_cannot_be_cancelled(store, worker, a_job):
    settle(store, claim_one(store, worker))

    with pytest.raises(IllegalTransition, match="succeeded"):
        cancel(store, a_job.id)


@pytest.mark.parametrize("job_id", ["018f2f6e-7c1a-7abc-8def-0123456789ab", "no-id-at-all", "", "' or 1=1 --"])
def test_what_names_no_job_is_not_found(store, job_id):
    with pytest.raises(NotFound):
        cancel(store, job_id)


def test_a_cancel_that_meets_a_claim_is_never_lost(store, open_store, worker, make_job):
    """Whoever comes first, the job ends cancelled or its run has been told."""
    other = open_store()
    for _ in range(12):
        job = make_job()

        _, leases = race(lambda: cancel(other, job.id), lambda: claim(store, worker))  # noqa: B023

        if leases:
            assert store.leases.renew(leases).cancelled == {job.id: "not needed"}
            settle(store, leases[0])
        else:
            assert store.listing.get(job.id).state is State.CANCELLED


def test_a_cancel_that_meets_the_end_of_a_run_is_refused_or_too_late_but_harmless(store, open_store, worker, make_job):
    other = open_store()
    for _ in range(12):
        job = make_job()
        lease = claim_one(store, worker)

        settled, answer = race(lambda: settle(store, lease), lambda: cancel(other, job.id))  # noqa: B023

        assert settled
        assert answer is State.RUNNING or isinstance(answer, IllegalTransition)
        assert store.listing.get(job.id).state is State.SUCCEEDED
