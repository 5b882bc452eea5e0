"""Full claims go on where the last one ended, and yet leave nothing behind."""

from __future__ import annotations

import pytest

from haulwright.stores.claim_cursor import TRAIL_PAIRS, TRAIL_SECONDS, ClaimCursor, ScanCursor
from tests.stores.scenes import HOUR, START, claim, new_job


def test_a_job_that_was_due_earlier_is_claimed_before_the_claims_run_dry(store, worker):
    turn, late = ClaimCursor(), new_job(run_at=START - HOUR)
    store.jobs.enqueue([new_job() for _ in range(6)])
    first = store.leases.claim(worker, ["default"], 3, turn)
    store.jobs.enqueue([late])

    rest = []
    while leases := store.leases.claim(worker, ["default"], 3, turn):
        rest += leases

    assert len(first) == 3
    assert len(rest) == 4
    assert late.id in {lease.id for lease in rest}


def test_a_job_that_was_due_earlier_and_is_the_last_one_is_claimed_too(store, worker):
    turn, late = ClaimCursor(), new_job(run_at=START - HOUR)
    store.jobs.enqueue([new_job() for _ in range(3)])
    store.leases.claim(worker, ["default"], 3, turn)
    store.jobs.enqueue([late])

    (lease,) = store.leases.claim(worker, ["default"], 3, turn)

    assert lease.id == late.id


@pytest.mark.parametrize("newcomer", [{"tenant": "a"}, {"tenant": "z"}, {"priority": 9}])
def test_others_are_seen_beside_a_backlog_that_is_followed(store, worker, newcomer):
    turn = ClaimCursor()
    store.jobs.enqueue([new_job(tenant="large" if "tenant" in newcomer else "default") for _ in range(20)])
    store.leases.claim(worker, ["default"], 4, turn)
    other = new_job(**newcomer)
    store.jobs.enqueue([other])

    assert other.id in {lease.id for lease in store.leases.claim(worker, ["default"], 4, turn)}


def test_nothing_is_claimed_from_a_paused_queue_however_far_the_claims_have_come(store, worker):
    turn = ClaimCursor()
    store.jobs.enqueue([new_job() for _ in range(8)])
    store.leases.claim(worker, ["default"], 4, turn)
    store.queues.pause("default", actor="test", reason="")

    assert store.leases.claim(worker, ["default"], 4, turn) == []


def test_the_front_is_looked_at_again_after_a_second():
    time = [0.0]
    trail = ScanCursor(lambda: time[0])

    assert trail.is_fresh
    time[0] = TRAIL_SECONDS
    assert not trail.is_fresh


@pytest.mark.postgres
def test_the_trail_of_many_pairs_is_not_followed(store, worker):
    store.jobs.enqueue([new_job(tenant=f"t{n:03}") for n in range(TRAIL_PAIRS + 1)])

    assert not ScanCursor().follow(claim(store, worker, 100))
