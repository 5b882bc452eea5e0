"""How a run ends is recorded once, and the job goes where its outcome says."""

from __future__ import annotations

import pytest

from haulwright import events
from haulwright.clock import SECOND
from haulwright.engine.outcome import Bury, Cancel, Done, Failure, RetryLater, Skip, Snooze
from haulwright.engine.settlement import RELEASE, PutBack, Settlement, resolve
from haulwright.engine.transitions import State
from tests.stores.scenes import (
    BOOM,
    DAY,
    POLICY,
    START,
    claim,
    claim_one,
    count,
    fail,
    ids,
    names,
    new_job,
    rows,
    settle,
    settlement,
)


@pytest.mark.proves("JOB-13")
def test_a_successful_run_ends_the_job_with_its_result(store, clock, worker, a_job):
    lease = claim_one(store, worker)
    clock.advance(5)

    assert settle(store, lease, Done('{"price":12}', event_fields='{"sku":"A1"}'))

    found = store.listing.get(a_job.id)
    assert (found.state, found.result, found.event_fields) == (State.SUCCEEDED, '{"price":12}', '{"sku":"A1"}')
    assert (found.attempts, found.fence, found.worker_id) == (1, 1, worker)
    assert (found.created_at, found.started_at, found.finished_at) == (START, START, START + 5 * SECOND)
    assert found.updated_at == START + 5 * SECOND


@pytest.mark.usefixtures("a_job")
def test_a_finished_job_leaves_the_hot_table(store, worker):
    settle(store, claim_one(store, worker))

    assert (count(store, "haulwright_jobs"), count(store, "haulwright_history")) == (0, 1)


@pytest.mark.parametrize(
    ("outcome", "state"),
    [(Skip("a reason"), State.SKIPPED), (Cancel("a reason"), State.CANCELLED), (Bury("a reason", BOOM), State.DEAD)],
    ids=["skip", "cancel", "bury"],
)
def test_every_other_end_has_its_state_and_reason(store, lease, outcome, state):
    settle(store, lease, outcome)

    found = store.listing.get(lease.id)
    assert (found.state, found.reason, found.result) == (state, "a reason", None)


@pytest.mark.proves("RT-02", "JOB-09", "JOB-20", "JOB-16")
def test_a_failed_run_waits_and_keeps_its_error(store, clock, worker, a_job):
    lease = claim_one(store, worker)
    clock.advance(1)

    assert fail(store, lease)

    found = store.listing.get(a_job.id)
    assert (found.state, found.attempts, found.run_at) == (State.QUEUED, 1, START + 31 * SECOND)
    assert (found.error_class, found.error_code, found.error_message) == ("ValueError", "boom", "it went wrong")


@pytest.mark.proves("RT-02", "JOB-17", "DL-01", "DL-05")
def test_the_last_failure_of_the_budget_makes_a_dead_letter(store, clock, worker, make_job):
    job = make_job(max_attempts=3)
    for _ in range(3):
        fail(store, claim_one(store, worker))
        clock.advance(3600)

    found = store.listing.get(job.id)
    assert (found.state, found.reason, found.attempts) == (State.DEAD, "attempts_exhausted", 3)
    assert (found.error_class, found.error_code, found.error_message) == ("ValueError", "boom", "it went wrong")


@pytest.mark.proves("DL-01", "RT-06", "RT-10", "JOB-16")
def test_a_permanent_error_ends_a_job_at_once(store, worker, a_job):
    settle(store, claim_one(store, worker), Bury("auth", Failure("AuthFailed", "auth", "the token was refused")))

    found = store.listing.get(a_job.id)
    assert (found.state, found.reason, found.attempts, found.error_code) == (State.DEAD, "auth", 1, "auth")


def test_an_error_of_an_earlier_run_stays_until_there_is_a_later_one(store, clock, worker, a_job):
    fail(store, claim_one(store, worker))
    clock.advance(3600)
    settle(store, claim_one(store, worker), Snooze(0))
    assert store.listing.get(a_job.id).error_code == "boom"

    settle(store, claim_one(store, worker), RetryLater(Failure("OSError", "disk", "no room")))

    assert store.listing.get(a_job.id).error_code == "disk"


@pytest.mark.proves("RT-07")
def test_a_snoozed_job_waits_for_its_gate_and_burns_no_attempt(store, worker, a_job):
    settle(store, claim_one(store, worker), Snooze(90, "source:shop"))

    found = store.listing.get(a_job.id)
    assert (found.state, found.attempts, found.deferrals) == (State.QUEUED, 0, 1)
    assert (found.run_at, found.waiting_on) == (START + 90 * SECOND, "source:shop")


@pytest.mark.usefixtures("a_job")
def test_a_released_job_is_due_at_once_and_burns_no_attempt(store, worker, other_worker):
    lease = claim_one(store, worker)
    store.settlements.settle([Settlement(lease, RELEASE)])

    again = claim_one(store, other_worker)

    assert (again.attempts, again.fence, again.deferrals, again.losses) == (1, 2, 0, 0)


def test_a_job_may_be_snoozed_more_often_than_it_may_be_tried(store, worker, make_job):
    make_job(max_attempts=1)
    for _ in range(5):
        assert settle(store, claim_one(store, worker), Snooze(0))

    lease = claim_one(store, worker)
    assert (lease.attempts, lease.deferrals, lease.fence) == (1, 5, 6)


@pytest.mark.parametrize(
    ("asked", "waits"), [(-5, 0), (float("nan"), 0), (float("inf"), 3652.5 * DAY), (1e30, 3652.5 * DAY)]
)
@pytest.mark.parametrize("outcome", [Snooze, lambda after: RetryLater(BOOM, after=after)], ids=["snooze", "retry"])
def test_a_wait_that_no_clock_can_hold_is_bounded(store, lease, outcome, asked, waits):
    """A server may ask for anything, and an absurd time must not overflow the column."""
    settle(store, lease, outcome(asked))

    assert store.listing.get(lease.id).run_at == START + waits


def test_a_task_may_name_its_own_delay(store, worker, a_job):
    settle(store, claim_one(store, worker), RetryLater(BOOM, after=7))

    assert store.listing.get(a_job.id).run_at == START + 7 * SECOND


def test_a_batch_of_every_outcome_is_written_in_one_go(store, worker):
    store.jobs.enqueue([new_job() for _ in range(6)])
    outcomes = [Done("1"), RetryLater(BOOM), Snooze(60, "gate"), Skip("no"), Cancel("no"), Bury("permanent", BOOM)]
    leases = claim(store, worker, 6)

    accepted = store.settlements.settle([settlement(*pair) for pair in zip(leases, outcomes, strict=True)])

    assert accepted == set(ids(leases))
    states = [store.listing.get(lease.id).state for lease in leases]
    assert states == ["succeeded", "queued", "queued", "skipped", "cancelled", "dead"]


def test_a_batch_that_the_database_refuses_leaves_no_trace(store, worker):
    """Then the caller settles row by row, and only the bad one is lost."""
    store.jobs.enqueue([new_job(), new_job()])
    good, bad = claim(store, worker, 2)
    impossible = Settlement(bad, PutBack("retry", refund=7))

    with pytest.raises(Exception, match=r"(?i)check constraint"):
        store.settlements.settle([settlement(good, Done()), impossible])

    assert count(store, "haulwright_jobs") == 2
    assert rows(store, "select name from haulwright_events") == []


@pytest.mark.parametrize("text", ["it's 100% :now %s", "строка\n🔥", '{"a": "\\u0000"}'])
def test_texts_come_back_as_they_went_in(store, worker, a_job, text):
    lease = claim_one(store, worker)
    store.leases.progress(lease, text)
    settle(store, lease, Bury(text, Failure(text, text, text)))

    found = store.listing.get(a_job.id)
    assert {found.reason, found.error_class, found.error_code, found.error_message, found.progress} == {text}


def test_progress_is_kept_with_the_finished_job(store, worker, a_job):
    lease = claim_one(store, worker)
    assert store.leases.progress(lease, '{"done":3}')
    settle(store, lease)

    assert store.listing.get(a_job.id).progress == '{"done":3}'


def test_a_first_success_needs_no_event_for_its_row_tells_it_all(store, worker, a_job):
    settle(store, claim_one(store, worker))

    assert names(store, a_job.id) == []


@pytest.mark.proves("AU-03", "AU-04", "AU-05")
def test_every_attempt_that_did_not_succeed_tells_its_start_and_its_end(store, clock, worker, make_job):
    job = make_job(max_attempts=2)
    fail(store, claim_one(store, worker))
    clock.advance(30)
    fail(store, claim_one(store, worker))

    told = store.events.of_job(job.id)

    assert [(event.name, event.attempt, event.fence) for event in told] == [
        (events.JOB_STARTED, 1, 1),
        (events.JOB_FAILED, 1, 1),
        (events.JOB_RETRY, 1, 1),
        (events.JOB_STARTED, 2, 2),
        (events.JOB_DEAD_LETTERED, 2, 2),
    ]
    assert [event.at for event in told] == [START, START, START, START + 30 * SECOND, START + 30 * SECOND]
    assert {event.worker for event in told} == {worker}


def test_the_policy_decides_how_long_a_retry_waits(store, clock, worker, a_job):
    waits = []
    for _ in range(4):
        lease = claim_one(store, worker)
        step = resolve(RetryLater(BOOM), lease, POLICY, lambda: 0.5)
        store.settlements.settle([Settlement(lease, step)])
        waits.append((store.listing.get(a_job.id).run_at - clock.now()) // SECOND)
        clock.advance(3600)

    assert waits == [30, 60, 120, 240]
