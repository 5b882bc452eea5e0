"""Of the jobs under one concurrency key only so many run at a time, and those that wait burn nothing."""

from __future__ import annotations

import pytest

from haulwright import events
from haulwright.engine.outcome import Bury, Snooze
from haulwright.engine.settlement import RELEASE, Settlement
from haulwright.engine.transitions import State
from haulwright.stores.claim_cursor import ClaimCursor
from tests.stores.scenes import START, claim, claim_one, count, fail, ids, lose, names, new_job, race, settle

HALF_A_SECOND = 500_000


def keyed(store, number, limit=1, key="shop"):
    jobs = [new_job(concurrency_key=key, concurrency_limit=limit) for _ in range(number)]
    store.jobs.enqueue(jobs)
    return jobs


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_no_more_jobs_run_under_a_key_than_its_limit(store, worker, limit):
    keyed(store, 8, limit)

    assert len(claim(store, worker, 20)) == limit
    assert count(store, "haulwright_permits") == limit


def test_the_first_jobs_in_order_get_the_permits(store, worker):
    jobs = keyed(store, 4, limit=2)

    assert ids(claim(store, worker, 4)) == ids(jobs[:2])


def test_a_job_without_a_permit_waits_for_its_key_and_burns_no_attempt(store, worker):
    _, turned_away = keyed(store, 2)
    claim(store, worker, 2)

    found = store.listing.get(turned_away.id)

    assert (found.state, found.attempts, found.deferrals, found.fence) == (State.QUEUED, 0, 1, 1)
    assert (found.waiting_on, found.run_at) == ("concurrency:shop", START + HALF_A_SECOND)
    assert names(store, turned_away.id) == [events.JOB_SNOOZED]


def test_the_wait_for_a_permit_grows_with_each_try_up_to_half_a_minute(store, clock, worker):
    _, waiter = keyed(store, 2)
    waits = []
    for _ in range(9):
        claim(store, worker, 2)
        waits.append((store.listing.get(waiter.id).run_at - clock.now()) / 1_000_000)
        clock.set(store.listing.get(waiter.id).run_at)

    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


def test_a_full_key_does_not_hide_other_due_jobs(store, worker):
    """Three jobs of a full key stand before a job that may run: the claim goes on to it."""
    running, *_ = keyed(store, 4)
    free = new_job(priority=-1)
    store.jobs.enqueue([free])

    assert ids(claim(store, worker, 1)) == [running.id]
    assert ids(claim(store, worker, 1)) == [free.id]


def test_a_claim_that_met_only_full_keys_says_that_there_may_be_more(store, worker, monkeypatch):
    monkeypatch.setattr("haulwright.stores.leases.ROUNDS", 2)
    keyed(store, 6)
    claim(store, worker, 1)
    turn = ClaimCursor()

    assert store.leases.claim(worker, ["default"], 1, turn) == []
    assert turn.next_due == START


@pytest.mark.parametrize("end", ["success", "failure", "snooze", "release", "bury"])
def test_a_permit_is_given_back_however_a_run_ends(store, worker, end):
    keyed(store, 2)
    (lease,) = claim(store, worker, 2)
    match end:
        case "success":
            settle(store, lease)
        case "failure":
            fail(store, lease)
        case "snooze":
            settle(store, lease, Snooze(60))
        case "release":
            store.settlements.settle([Settlement(lease, RELEASE)])
        case "bury":
            settle(store, lease, Bury("permanent"))

    assert count(store, "haulwright_permits") == 0
    assert len(claim(store, worker, 2)) == 1


def test_a_lost_lease_gives_its_permit_back(store, clock, worker):
    first, second = keyed(store, 2)
    claim(store, worker, 2)

    lose(store, clock)

    assert count(store, "haulwright_permits") == 0
    assert ids(claim(store, worker, 2)) in ([first.id], [second.id])


def test_a_stale_worker_cannot_give_back_the_permit_of_the_new_one(store, clock, worker, other_worker):
    keyed(store, 1)
    stale = claim_one(store, worker)
    lose(store, clock)
    claim_one(store, other_worker)

    assert not settle(store, stale)
    assert count(store, "haulwright_permits") == 1


def test_a_freed_permit_wakes_the_oldest_waiter_at_once(store, worker):
    _running, oldest, younger = keyed(store, 3)
    (lease,) = claim(store, worker, 3)

    settle(store, lease)

    assert store.listing.get(oldest.id).run_at == START
    assert store.listing.get(younger.id).run_at == START + HALF_A_SECOND
    assert ids(claim(store, worker, 3)) == [oldest.id]


def test_as_many_waiters_wake_as_permits_were_freed(store, worker):
    jobs = keyed(store, 6, limit=2)
    leases = claim(store, worker, 6)

    store.settlements.settle([Settlement(lease, RELEASE) for lease in leases])

    due = [job.id for job in jobs[2:] if store.listing.get(job.id).run_at == START]
    assert due == ids(jobs[2:4])


def test_a_gate_wakes_only_its_own_waiters(store, worker):
    waiting = []
    for gate in ("source:a", "source:a", "source:b"):
        store.jobs.enqueue([new_job()])
        lease = claim_one(store, worker)
        settle(store, lease, Snooze(3600, gate))
        waiting.append(lease.id)

    assert store.waiters.wake("source:a", 10) == 2
    assert store.waiters.wake("source:a", 10) == 0
    assert sorted(ids(claim(store, worker, 5))) == sorted(waiting[:2])


def test_a_claimed_waiter_waits_for_nothing_any_more(store, worker):
    keyed(store, 2)
    (lease,) = claim(store, worker, 2)
    settle(store, lease)

    waiter = claim_one(store, worker)

    assert store.listing.get(waiter.id).waiting_on is None


def test_keys_do_not_share_their_permits(store, worker):
    keyed(store, 2, key="a")
    keyed(store, 2, key="b")

    assert len(claim(store, worker, 10)) == 2


@pytest.mark.proves("CLM-01")
@pytest.mark.parametrize("limit", [1, 3])
def test_claimers_at_once_never_exceed_a_limit(store, open_store, worker, limit):
    keyed(store, 12, limit)
    stores = [open_store() for _ in range(4)]

    taken = race(*(lambda s=s: claim(s, worker, 4) for s in stores))

    leases = [lease for part in taken for lease in part]
    assert 1 <= len(leases) <= limit
    assert count(store, "haulwright_permits") == len(leases)


def test_claims_over_many_keys_at_once_do_not_wait_in_a_circle(store, open_store, worker):
    for key in "abcdef":
        keyed(store, 4, limit=2, key=key)
    stores = [open_store() for _ in range(4)]

    taken = race(*(lambda s=s: claim(s, worker, 12) for s in stores))

    assert sum(len(part) for part in taken) <= 12
    assert count(store, "haulwright_permits") == sum(len(part) for part in taken)
