"""A job that waited too long ends visibly, unless a person made it wait."""

from __future__ import annotations

import pytest

from haulwright import events
from haulwright.clock import SECOND
from haulwright.engine.outcome import Failure, StackFrame, read_frames
from haulwright.engine.settlement import PutBack, Settlement
from haulwright.engine.transitions import State
from tests.stores.scenes import DAY, HOUR, START, claim, claim_one, ids, new_job, race


def test_a_job_that_waits_past_its_deadline_is_dead(store, clock, make_job):
    job = make_job(deadline_us=HOUR)
    clock.advance(3599)
    assert store.recovery.expire() == []

    clock.advance(1)

    assert store.recovery.expire() == [job.id]
    found = store.listing.get(job.id)
    assert (found.state, found.reason, found.attempts) == (State.DEAD, "deadline", 0)
    assert (found.error_class, found.error_code) == ("DeadlinePassed", "deadline")
    assert found.error_message == "waited past its deadline"


def test_a_dead_letter_by_deadline_keeps_what_it_last_met(store, clock, worker, make_job):
    """Its class, its code and the lines of code stand with the deadline, in the row and in the event."""
    job = make_job(deadline_us=HOUR)
    refused = Failure("TooManyRequests", "rate_limited", "429 of shop.example", (StackFrame("shop.py", 7, "fetch"),))
    waits = PutBack("snooze", 60 * SECOND, refund=1, deferral=1, waiting_on="source:shop:parked", failure=refused)
    store.settlements.settle([Settlement(claim_one(store, worker), waits)])
    clock.advance(3600)
    store.recovery.expire()

    event, found = store.events.of_job(job.id)[-1], store.listing.get(job.id)

    message = "waited past its deadline for source:shop:parked; the last error: 429 of shop.example"
    assert (event.name, event.data["reason"], event.data["retry_count"]) == (events.JOB_DEAD_LETTERED, "deadline", 0)
    assert (event.data["error_code"], event.data["error_message"]) == ("rate_limited", message)
    assert (found.reason, found.error_class, found.error_code) == ("deadline", "TooManyRequests", "rate_limited")
    assert (found.error_message, read_frames(found.error_frames)) == (message, refused.frames)


def test_a_running_job_has_no_deadline(store, clock, worker, make_job):
    make_job(deadline_us=HOUR)
    claim_one(store, worker)
    clock.advance(7200)

    assert store.recovery.expire() == []


def test_the_sweep_for_deadlines_is_bounded_and_starts_with_the_oldest(store, clock):
    jobs = [new_job(deadline_us=HOUR * hours) for hours in (3, 1, 2)]
    store.jobs.enqueue(jobs)
    clock.advance(4 * 3600)

    assert store.recovery.expire(limit=1) == [jobs[1].id]
    assert sorted(store.recovery.expire(limit=9)) == sorted([jobs[0].id, jobs[2].id])


def test_sweepers_and_claimers_at_once_share_the_overdue_jobs_out(store, open_store, clock, worker):
    """A job is claimed or buried, never both."""
    jobs = [new_job(deadline_us=HOUR) for _ in range(20)]
    store.jobs.enqueue(jobs)
    clock.advance(3600)
    one, two, three = (open_store() for _ in range(3))

    buried, also_buried, leases = race(one.recovery.expire, two.recovery.expire, lambda: claim(three, worker, 20))

    assert sorted([*buried, *also_buried, *ids(leases)]) == sorted(ids(jobs))


def test_a_paused_queue_is_not_claimed_from(store, worker, make_job):
    make_job(queue="slow")
    other = make_job(queue="fast")
    assert store.queues.pause("slow", actor="alice", reason="the shop is down")

    assert ids(store.leases.claim(worker, ["slow", "fast"], 9)) == [other.id]
    assert store.leases.due_pairs("slow") == []

    assert store.queues.resume("slow", actor="alice")
    assert len(claim(store, worker, 9, "slow")) == 1


def test_nothing_dies_of_a_deadline_while_a_person_keeps_its_queue_paused(store, clock, make_job):
    job = make_job(deadline_us=HOUR)
    store.queues.pause("default", actor="alice", reason="maintenance")
    clock.advance(30 * 86400)

    assert store.recovery.expire() == []
    store.queues.resume("default", actor="alice")
    assert store.recovery.expire() == []
    assert store.listing.get(job.id).deadline_at == START + 30 * DAY + HOUR


def test_a_pause_moves_each_deadline_by_the_time_that_the_job_really_waited(store, clock, make_job):
    early = make_job(deadline_us=DAY)
    store.queues.pause("default", actor="alice", reason="maintenance")
    clock.advance(3600)
    late, other = make_job(deadline_us=DAY), make_job(deadline_us=DAY, queue="other")
    clock.advance(3600)

    store.queues.resume("default", actor="alice")

    moved = [store.listing.get(job.id).deadline_at - job_born for job, job_born in _born(early, late, other)]
    assert moved == [DAY + 2 * HOUR, DAY + HOUR, DAY]


def _born(early, late, other):
    return (early, START), (late, START + HOUR), (other, START + HOUR)


def test_a_clock_that_went_back_during_a_pause_brings_no_deadline_nearer(store, clock, make_job):
    job = make_job(deadline_us=DAY)
    store.queues.pause("default", actor="alice", reason="maintenance")
    clock.advance(-3600)

    store.queues.resume("default", actor="alice")

    assert store.listing.get(job.id).deadline_at == START + DAY


def test_pause_and_resume_are_said_once(store):
    assert store.queues.pause("q", actor="alice", reason="first")
    assert not store.queues.pause("q", actor="bob", reason="second")
    assert store.queues.paused("q") == (START, "alice", "first")
    assert store.queues.resume("q", actor="bob")
    assert not store.queues.resume("q", actor="bob")
    assert store.queues.paused("q") is None
    told = [(event.name, event.actor) for event in store.events.latest()]
    assert told == [(events.QUEUE_PAUSED, "alice"), (events.QUEUE_RESUMED, "bob")]


def test_queues_are_counted_by_what_waits_and_runs(store, worker):
    store.jobs.enqueue([new_job(), new_job(), new_job(delay_us=HOUR), new_job(tenant="acme", run_at=START - SECOND)])
    claim(store, worker, 1)
    store.queues.pause("empty", actor="alice", reason="no")

    default, empty = store.queues.counts()

    assert (default.name, default.due, default.parked, default.running) == ("default", 2, 1, 1)
    assert (empty.name, empty.due, empty.paused_at) == ("empty", 0, START)


@pytest.mark.proves("TN-02")
def test_a_tenants_counts_are_its_own(store):
    store.jobs.enqueue([new_job(tenant="acme"), new_job(tenant="acme"), new_job(tenant="other")])

    (mine,) = store.queues.counts(tenant="acme")

    assert mine.due == 2
