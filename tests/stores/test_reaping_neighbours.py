"""A worker that dies with several jobs costs none of them an attempt: only a job that was alone pays for its death."""

from __future__ import annotations

from functools import partial

import pytest

from haulwright import events
from haulwright.clock import SECOND
from haulwright.engine.ids import new_id
from haulwright.engine.outcome import Died, Failure
from haulwright.engine.transitions import State
from haulwright.stores.workers import Identity
from tests.stores.scenes import claim, claim_one, lose, names, new_job, race, settle

SEGFAULT = Died(Failure("ProcessDied", "process_died", "its process was killed by signal 11 (SIGSEGV)"))


@pytest.fixture
def worker(store):
    """A worker that the database knows, as every real one."""
    worker_id = new_id()
    store.workers.register(Identity(worker_id, "w", "alpha", "b1", 7, "100", "0.1"), ["default"], ["work"])
    return worker_id


@pytest.fixture
def counted(store):
    """The attempts and the losses of jobs, in their order."""
    return lambda *jobs: [(found.attempts, found.losses) for found in map(store.listing.get, (job.id for job in jobs))]


def enqueue(store, count=1, **words):
    jobs = [new_job(**words) for _ in range(count)]
    store.jobs.enqueue(jobs)
    return jobs


def test_neighbours_get_their_attempt_back_and_count_the_loss(store, clock, worker, counted):
    jobs = enqueue(store, 3)
    claim(store, worker, 3)

    lose(store, clock)

    assert counted(*jobs) == [(0, 1)] * 3
    found = store.listing.get(jobs[0].id)
    assert "not counted" in found.error_message
    assert names(store, found.id) == [events.JOB_STARTED, events.JOB_LEASE_EXPIRED, events.JOB_RELEASED]


def test_a_job_that_was_alone_pays_for_the_death_of_its_worker(store, clock, worker, counted):
    (alone,) = enqueue(store)
    claim_one(store, worker)

    lose(store, clock)

    assert counted(alone) == [(1, 1)]
    assert "not counted" not in store.listing.get(alone.id).error_message


def test_a_job_whose_neighbours_were_settled_before_was_alone(store, clock, worker, counted):
    neighbour, last = enqueue(store, 2)
    settle(store, claim(store, worker, 2)[0])

    lose(store, clock)

    assert counted(neighbour, last) == [(1, 0), (1, 1)]


def test_jobs_of_other_workers_are_no_neighbours(store, clock, worker, other_worker, counted):
    jobs = enqueue(store, 2)
    claim_one(store, worker), claim_one(store, other_worker)

    lose(store, clock)

    assert counted(*jobs) == [(1, 1)] * 2


@pytest.mark.parametrize("take_back", ["reap", "recover"])
def test_the_last_of_a_bounded_sweep_does_not_look_alone(store, clock, worker, counted, take_back):
    jobs = enqueue(store, 5)
    claim(store, worker, 5)
    clock.advance(121)
    step = store.recovery.reap if take_back == "reap" else lambda limit: store.recovery.recover([worker], limit)

    assert [len(step(limit=2)) for _ in range(4)] == [2, 2, 1, 0]

    assert counted(*jobs) == [(0, 1)] * 5


def test_sweeps_at_once_find_the_neighbours_that_the_others_take(store, open_store, clock, worker, counted):
    jobs = enqueue(store, 8)
    claim(store, worker, 8)
    clock.advance(121)
    sweeps = [partial(open_store().recovery.reap, limit=1) for _ in range(4)]

    swept = [reaped for _ in range(3) for part in race(*sweeps) for reaped in part]

    assert len(swept) == 8
    assert counted(*jobs) == [(0, 1)] * 8


@pytest.mark.parametrize("take_back", ["reap", "recover"])
def test_a_long_lease_remembers_the_short_one_that_was_lost_with_it(store, clock, worker, counted, take_back):
    (short,), (long,) = enqueue(store), enqueue(store, lease_us=3600 * SECOND)
    claim(store, worker, 2)
    lose(store, clock)
    assert counted(short, long) == [(0, 1), (1, 0)]

    lose(store, clock, 3600) if take_back == "reap" else store.recovery.recover([worker])

    assert counted(short, long) == [(0, 1), (0, 1)]


def test_a_worker_that_lived_on_after_a_loss_dies_alone_later(store, clock, worker, counted):
    short, long = enqueue(store)[0], enqueue(store, lease_us=3600 * SECOND)[0]
    _, held = claim(store, worker, 2)
    lose(store, clock)
    clock.advance(1)
    store.leases.renew([held])

    lose(store, clock, 3601)

    assert counted(short, long) == [(0, 1), (1, 1)]


def test_a_job_that_was_claimed_after_a_loss_was_not_lost_with_it(store, clock, worker, counted):
    enqueue(store, max_attempts=1)
    claim_one(store, worker)
    lose(store, clock)
    clock.advance(1)
    (later,) = enqueue(store)
    claim_one(store, worker)

    lose(store, clock)

    assert counted(later) == [(1, 1)]


def test_a_job_that_may_run_once_is_not_run_again_after_a_shared_loss(store, clock, worker):
    enqueue(store, 2, max_attempts=1)
    claim(store, worker, 2)

    assert {reaped.state for reaped in lose(store, clock)} == {State.DEAD}


def test_a_job_that_is_lost_more_often_than_it_may_try_is_buried_whoever_else_was_there(store, clock, worker):
    jobs = enqueue(store, 2, max_attempts=2)
    ends = []
    for _ in range(3):
        clock.advance(3600)
        claim(store, worker, 2)
        ends.append({reaped.state for reaped in lose(store, clock)})

    assert ends == [{State.QUEUED}, {State.QUEUED}, {State.DEAD}]
    found = store.listing.get(jobs[0].id)
    assert (found.reason, found.losses) == ("lease_exhausted", 3)


def test_one_poison_job_costs_a_hundred_good_ones_no_attempt_and_dies_at_its_budget(store, clock, worker, counted):
    poison, *good = enqueue(store, 101, max_attempts=3)
    claim(store, worker, 101)
    clock.advance(121)
    while store.recovery.reap(limit=10):
        pass

    while leases := claim(store, worker, 200):  # each in a process of its own now
        for lease in leases:
            assert settle(store, lease, SEGFAULT if lease.id == poison.id else None)
        clock.advance(3600)

    assert counted(*good) == [(1, 1)] * 100
    found = store.listing.get(poison.id)
    assert (found.state, found.reason, found.attempts) == (State.DEAD, "lease_exhausted", 3)
    assert "SIGSEGV" in found.error_message
