"""A lost lease is taken back: guarded, bounded, counted, and safe on every worker at once."""

from __future__ import annotations

from functools import partial

import pytest

from haulwright import events
from haulwright.clock import SECOND
from haulwright.engine.ids import new_id
from haulwright.engine.transitions import State
from tests.stores.scenes import START, claim, claim_one, fail, ids, lose, names, new_job, race, settle


@pytest.mark.proves("HB-03", "HB-04", "CLM-13", "RC-02")
def test_a_lease_that_ran_out_is_taken_back_and_tells_who_held_it(store, clock, worker, a_job):
    lease = claim_one(store, worker)
    clock.advance(120)
    assert store.recovery.reap() == []

    clock.advance(0.000001)
    (reaped,) = store.recovery.reap()

    assert (reaped.id, reaped.fence, reaped.worker_id, reaped.state) == (a_job.id, 1, worker, State.QUEUED)
    found = store.listing.get(a_job.id)
    assert (found.state, found.losses, found.attempts, found.fence) == (State.QUEUED, 1, 1, lease.fence)


@pytest.mark.proves("HB-05")
def test_the_first_loss_is_due_at_once_and_later_ones_wait(store, clock, worker, make_job):
    job = make_job(max_attempts=9)
    waits = []
    for _ in range(5):
        claim_one(store, worker)
        lose(store, clock)
        waits.append((store.listing.get(job.id).run_at - clock.now()) // SECOND)
        clock.set(store.listing.get(job.id).run_at)

    assert waits == [0, 30, 60, 120, 240]


@pytest.mark.proves("HB-05")
def test_a_lost_job_says_why_in_its_last_error(store, clock, worker, a_job):
    claim_one(store, worker)
    lose(store, clock)

    found = store.listing.get(a_job.id)
    assert (found.error_class, found.error_code) == ("LeaseLost", "lease_expired")
    assert "lease" in found.error_message


@pytest.mark.proves("HB-06", "HB-12", "RT-12")
def test_a_job_that_keeps_killing_its_worker_ends_dead(store, clock, worker, make_job):
    job = make_job(max_attempts=3)
    states = []
    for _ in range(3):
        claim_one(store, worker)
        (reaped,) = lose(store, clock)
        states.append(reaped.state)
        clock.advance(3600)

    found = store.listing.get(job.id)
    assert states == [State.QUEUED, State.QUEUED, State.DEAD]
    assert (found.state, found.reason, found.losses) == (State.DEAD, "lease_exhausted", 3)
    assert found.error_code == "lease_exhausted"


@pytest.mark.proves("RT-12")
def test_failures_and_losses_are_paid_from_one_budget(store, clock, worker, make_job):
    job = make_job(max_attempts=2)
    fail(store, claim_one(store, worker))
    clock.advance(3600)
    claim_one(store, worker)

    (reaped,) = lose(store, clock)

    assert reaped.state is State.DEAD
    assert store.listing.get(job.id).attempts == 2


def test_the_timeline_of_a_lost_attempt_is_complete(store, clock, worker, make_job):
    a_job = make_job(event_fields='{"connector_id":"c1"}')
    claim_one(store, worker)
    lose(store, clock)

    started, expired, retry = store.events.of_job(a_job.id)

    assert (started.name, started.at, started.worker) == (events.JOB_STARTED, START, worker)
    assert started.data["connector_id"] == "c1"
    assert expired.name == events.JOB_LEASE_EXPIRED
    who = {"held_by": worker, "held_by_name": worker}  # nobody gave it a name
    assert expired.data == {"job_id": a_job.id, **who, "losses": 1, "detected_by": "sweep"}
    assert (retry.name, retry.data["delay_seconds"]) == (events.JOB_RETRY, 0)


def test_a_renewed_lease_is_left_alone(store, clock, worker):
    store.jobs.enqueue([new_job(), new_job()])
    alive, silent = claim(store, worker, 2)
    clock.advance(100)
    store.leases.renew([alive])
    clock.advance(100)

    assert ids(store.recovery.reap()) == [silent.id]


def test_waiting_and_finished_jobs_are_left_alone(store, clock, worker, make_job):
    make_job()
    settle(store, claim_one(store, worker))
    make_job(), make_job()
    fail(store, claim_one(store, worker))

    assert lose(store, clock, 10_000) == []


@pytest.mark.proves("HB-07")
def test_a_sweep_is_bounded_and_takes_the_longest_lost_first(store, clock, worker):
    for _ in range(3):
        store.jobs.enqueue([new_job(), new_job()])
        claim(store, worker, 2)
        clock.advance(1)
    clock.advance(200)

    swept = [len(store.recovery.reap(limit=4)), len(store.recovery.reap(limit=4)), len(store.recovery.reap(limit=4))]

    assert swept == [4, 2, 0]


@pytest.mark.proves("HB-07")
def test_the_longest_lost_lease_is_taken_back_first(store, clock, worker):
    first, second = new_job(), new_job()
    store.jobs.enqueue([second])
    claim(store, worker)
    clock.advance(-5)
    store.jobs.enqueue([first])
    claim(store, worker)
    clock.advance(500)

    assert ids(store.recovery.reap(limit=1)) == [first.id]


@pytest.mark.proves("HB-02", "CLM-14")
def test_sweepers_at_once_handle_each_job_once(store, open_store, clock, worker):
    jobs = [new_job() for _ in range(30)]
    store.jobs.enqueue(jobs)
    claim(store, worker, 30)
    clock.advance(121)
    stores = [open_store() for _ in range(4)]

    swept = race(*(s.recovery.reap for s in stores))

    assert sorted(reaped.id for part in swept for reaped in part) == sorted(ids(jobs))
    assert {store.listing.get(job.id).losses for job in jobs} == {1}


@pytest.mark.proves("SR-01", "SR-03")
def test_the_leases_of_a_worker_that_is_gone_are_taken_back_before_they_run_out(store, worker, other_worker):
    store.jobs.enqueue([new_job(), new_job()])
    gone, alive = claim_one(store, worker), claim_one(store, other_worker)

    (reaped,) = store.recovery.recover([worker])

    assert (reaped.id, reaped.worker_id) == (gone.id, worker)
    assert store.listing.get(alive.id).state is State.RUNNING
    assert store.events.of_job(gone.id)[1].data["detected_by"] == "worker_startup_recovery"


@pytest.mark.proves("SR-02")
@pytest.mark.usefixtures("a_job")
def test_nobody_elses_lease_is_recovered(store, worker):
    claim_one(store, worker)

    assert store.recovery.recover([]) == []
    assert store.recovery.recover([new_id()]) == []


def test_recovery_of_a_worker_is_bounded(store, worker):
    store.jobs.enqueue([new_job() for _ in range(5)])
    claim(store, worker, 5)

    assert [len(store.recovery.recover([worker, new_id()], limit=3)) for _ in range(3)] == [3, 2, 0]


@pytest.mark.proves("GU-04")
def test_a_recovered_worker_that_lives_after_all_can_change_nothing(store, worker, other_worker, a_job):
    lease = claim_one(store, worker)
    store.recovery.recover([worker])
    claim_one(store, other_worker)

    assert not settle(store, lease)
    assert names(store, a_job.id).count(events.JOB_LEASE_EXPIRED) == 1


@pytest.mark.proves("HB-13")
def test_the_job_of_a_lost_worker_is_finished_by_another(store, clock, worker, other_worker, a_job):
    claim_one(store, worker)
    lose(store, clock)

    assert settle(store, claim_one(store, other_worker))
    assert store.listing.get(a_job.id).state is State.SUCCEEDED
    assert names(store, a_job.id)[-1] == events.JOB_COMPLETED


@pytest.mark.usefixtures("a_job")
def test_a_lease_is_not_lost_because_a_clock_went_back(store, clock, worker):
    claim_one(store, worker)

    assert lose(store, clock, -3600) == []


def ending(store, within_us=0):
    """What a look finds that leaves out nothing."""
    return store.recovery.ending(0, within_us, 100)[1]


@pytest.mark.usefixtures("a_job")
def test_a_look_finds_the_leases_that_end_soon_and_the_time_by_which_they_do(store, clock, worker):
    lease = claim_one(store, worker)
    clock.advance(100)

    assert store.recovery.ending(0, 19 * SECOND, 100) == (clock.now(), [])
    now, (found,) = store.recovery.ending(0, 21 * SECOND, 100)

    assert (now, found.key, found.lease_us) == (clock.now(), lease.key, 120 * SECOND)
    assert (found.heartbeat_at, found.expires_at) == (START, START + 120 * SECOND)
    assert store.recovery.ending(found.expires_at + 1, 21 * SECOND, 100)[1] == []


def test_a_short_lease_that_a_living_worker_just_renewed_does_not_end_soon(store, clock, worker, make_job):
    make_job(lease_us=3 * SECOND)
    claim_one(store, worker)

    assert ending(store, 30 * SECOND) == []
    clock.advance(1.6)
    assert len(ending(store, 30 * SECOND)) == 1


@pytest.mark.usefixtures("a_job")
def test_a_lease_that_ran_out_and_stood_still_is_taken_back(store, clock, worker):
    lease = claim_one(store, worker)
    clock.advance(121)

    (reaped,) = store.recovery.reap_silent(ending(store))

    assert (reaped.key, reaped.state) == (lease.key, State.QUEUED)
    assert store.events.of_job(lease.id)[1].data["detected_by"] == "sweep"
    assert store.recovery.reap_silent([]) == []


@pytest.mark.usefixtures("a_job")
def test_a_lease_whose_heartbeat_moved_since_it_was_seen_is_left_alone(store, clock, worker):
    """Even where it has run out again: nobody has watched that."""
    lease = claim_one(store, worker)
    clock.advance(121)
    watched = ending(store)
    store.leases.renew([lease])
    clock.advance(121)

    assert store.recovery.reap_silent(watched) == []
    assert store.listing.get(lease.id).state is State.RUNNING


@pytest.mark.usefixtures("a_job")
def test_a_lease_that_had_run_out_when_it_was_seen_and_has_not_now_is_left_alone(store, clock, worker):
    lease = claim_one(store, worker)
    clock.advance(121)
    watched = ending(store)
    clock.advance(-3600)

    assert store.recovery.reap_silent(watched) == []
    assert store.listing.get(lease.id).state is State.RUNNING


@pytest.mark.parametrize("other", ["fence", "worker_id"])
@pytest.mark.usefixtures("a_job")
def test_a_lease_that_is_not_the_one_that_was_seen_is_left_alone(store, clock, worker, other):
    claim_one(store, worker)
    clock.advance(121)
    (seen,) = ending(store)

    assert store.recovery.reap_silent([seen._replace(**{other: 2 if other == "fence" else new_id()})]) == []


def test_those_who_watched_the_same_leases_take_back_each_once(store, open_store, clock, worker):
    jobs = [new_job() for _ in range(30)]
    store.jobs.enqueue(jobs)
    claim(store, worker, 30)
    clock.advance(121)
    watched, stores = ending(store), [open_store() for _ in range(4)]

    swept = race(*(partial(s.recovery.reap_silent, watched) for s in stores))

    assert sorted(reaped.id for part in swept for reaped in part) == sorted(ids(jobs))
    assert {store.listing.get(job.id).losses for job in jobs} == {1}
