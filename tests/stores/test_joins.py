"""Who waits for whom is written under a fence, and every way to end wakes who waited for the last one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from haulwright.clock import SECOND
from haulwright.engine.join import JOIN_BACKSTOP_CAP_SECONDS, JOIN_GATE, backstop_seconds
from haulwright.engine.outcome import Bury, Cancel, Done, RetryLater, Skip, Snooze
from haulwright.engine.transitions import State
from haulwright.engine.why import Surroundings, why
from haulwright.errors import DatabaseUnavailable, LeaseLost, Refused
from haulwright.stores.job_rows import Requeue
from haulwright.stores.listing import JobFilter
from tests.stores.scenes import BOOM, DAY, bury, claim_one, count, lose, new_job, rows, settle, settlement

BLOCKED = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
WAIT = Snooze(600.0, JOIN_GATE)
only_postgres = pytest.mark.parametrize(
    "database_url", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
)


@pytest.fixture
def parent(store, make_job, worker):
    """A job that runs and is about to wait for others."""
    make_job(queue="parents", max_attempts=3)
    return claim_one(store, worker, "parents")


@pytest.fixture
def children(make_job) -> list[str]:
    return [make_job(queue="children", max_attempts=1, deadline_us=DAY).id for _ in range(2)]


@pytest.fixture
def last(store, parent, children):
    """The last of the jobs that the parent waits for."""
    wait_for(store, parent, children)
    cancel(store, None, None, children[1])
    assert not is_due(store, parent.id)
    return children[0]


def wait_for(store, parent, children):
    """Let a running job wait for others, and end its run."""
    assert store.joins.wait(parent, children)
    assert settle(store, parent, WAIT)


def run_child(store, worker):
    return claim_one(store, worker, "children")


def is_due(store, job_id) -> bool:
    job = store.listing.get(job_id)
    return job.state is State.QUEUED and job.run_at <= store.database.clock.now()


def cancel(store, _worker, _clock, job_id):
    store.jobs.cancel(job_id, tenant=None, reason="enough", actor="alice")


def cancel_while_it_runs(store, worker, clock, job_id):
    lease = run_child(store, worker)
    cancel(store, worker, clock, job_id)
    settle(store, lease, RetryLater(BOOM))


def pass_its_deadline(store, _worker, clock, _job_id):
    clock.advance(2 * DAY / SECOND)
    assert store.recovery.expire()


def lose_its_lease(store, worker, clock, _job_id):
    run_child(store, worker)
    (reaped,) = lose(store, clock)
    assert reaped.state is State.DEAD


def commit_and_settle(store, worker, _clock, _job_id):
    lease = run_child(store, worker)
    done = [settlement(lease, Done("1"))]
    store.database.transact(lambda connection: store.settlements.settle_on(connection, done))


def succeed_in_the_second_run(store, worker, _clock, _job_id):
    settle(store, run_child(store, worker), Snooze(0))
    settle(store, run_child(store, worker))


WAYS_TO_END: dict[str, Callable[..., Any]] = {
    "a first run succeeds": lambda store, worker, *_: settle(store, run_child(store, worker)),
    "a later run succeeds": succeed_in_the_second_run,
    "it is settled by its own commit": commit_and_settle,
    "it is skipped": lambda store, worker, *_: settle(store, run_child(store, worker), Skip("no")),
    "it cancels itself": lambda store, worker, *_: settle(store, run_child(store, worker), Cancel("no")),
    "it is buried": lambda store, worker, *_: settle(store, run_child(store, worker), Bury("permanent", BOOM)),
    "it fails for the last time": lambda store, worker, *_: settle(store, run_child(store, worker), RetryLater(BOOM)),
    "a person cancels it": cancel,
    "a person cancels it while it runs": cancel_while_it_runs,
    "its deadline passes": pass_its_deadline,
    "its lease is lost for the last time": lose_its_lease,
}


@pytest.mark.parametrize("way", WAYS_TO_END)
def test_every_way_to_end_wakes_who_waited(store, last, worker, clock, way):
    WAYS_TO_END[way](store, worker, clock, last)

    (waiting,) = store.listing.page(JobFilter(waiting_on=JOIN_GATE)).jobs
    assert is_due(store, waiting.id)
    assert count(store, "haulwright_joins") == 0


def test_nobody_is_woken_while_one_is_left(store, parent, children, worker):
    wait_for(store, parent, children)

    settle(store, run_child(store, worker))

    assert not is_due(store, parent.id)
    assert store.joins.waited_for(parent.id).first == (children[1],)


def test_who_goes_on_after_a_retry_is_not_over(store, parent, children, worker):
    wait_for(store, parent, children[:1])

    settle(store, run_child(store, worker), Snooze(60, "gate"))

    assert not is_due(store, parent.id)
    assert store.joins.waited_for(parent.id).count == 1


def test_two_jobs_may_wait_for_the_same_one(store, make_job, parent, children, worker):
    make_job(queue="parents")
    second = claim_one(store, worker, "parents")
    wait_for(store, parent, children[:1])
    wait_for(store, second, children[:1])

    settle(store, run_child(store, worker))

    assert is_due(store, parent.id)
    assert is_due(store, second.id)


def test_a_run_that_lost_its_lease_cannot_wait(store, parent, children, clock):
    lose(store, clock)

    with pytest.raises(LeaseLost):
        store.joins.wait(parent, children)

    assert count(store, "haulwright_joins") == 0
    assert rows(store, "select count(*) from haulwright_jobs where joined") == [(0,)]


def test_what_ended_between_the_look_and_the_mark_is_not_waited_for(store, parent, children, worker, clock):
    assert store.joins.standing(parent.tenant, children).unfinished == children
    for child in children:
        cancel(store, worker, clock, child)

    assert not store.joins.wait(parent, children)
    assert count(store, "haulwright_joins") == 0


def test_what_ended_between_the_mark_and_the_end_of_the_run_makes_it_due_at_once(
    store, parent, children, worker, clock
):
    assert store.joins.wait(parent, children)
    for child in children:
        cancel(store, worker, clock, child)

    assert settle(store, parent, WAIT)

    assert is_due(store, parent.id)


def test_a_job_of_another_tenant_is_not_waited_for(store, make_job, parent, worker):
    foreign = make_job(tenant="globex").id

    assert store.joins.standing(parent.tenant, [foreign]).unfinished == []
    assert not store.joins.wait(parent, [foreign])
    assert rows(store, "select count(*) from haulwright_jobs where joined and tenant = 'globex'") == [(0,)]

    settle(store, claim_one(store, worker))
    assert store.joins.outcomes(parent.tenant, [foreign], 1_000) == {}
    assert list(store.joins.outcomes("globex", [foreign], 1_000)) == [foreign]


def test_a_job_that_waits_again_waits_only_for_what_it_says_now(store, make_job, parent, children, worker):
    wait_for(store, parent, children)
    store.jobs.retry(parent.id, tenant=None, reason="", actor="alice")
    again = claim_one(store, worker, "parents")
    other = make_job(queue="children").id

    wait_for(store, again, [children[0], other])

    assert store.joins.waited_for(parent.id).first == (children[0], other)


def test_who_runs_again_before_the_others_ended_is_not_disturbed(store, parent, children, worker):
    wait_for(store, parent, children[:1])
    store.jobs.retry(parent.id, tenant=None, reason="", actor="alice")
    again = claim_one(store, worker, "parents")

    settle(store, run_child(store, worker))

    assert store.listing.get(parent.id).state is State.RUNNING
    assert not store.joins.wait(again, children[:1])


@pytest.mark.parametrize("end", [Done(), Bury("permanent", BOOM)])
def test_a_job_that_ends_waits_for_nobody_any_more(store, parent, children, worker, end):
    wait_for(store, parent, children)
    store.jobs.retry(parent.id, tenant=None, reason="", actor="alice")

    settle(store, claim_one(store, worker, "parents"), end)

    assert count(store, "haulwright_joins") == 0


def test_a_job_ends_together_with_its_wake_up_or_not_yet(store, parent, children, worker):
    wait_for(store, parent, children[:1])
    lease = run_child(store, worker)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.joins, "wake", unreachable)
        with pytest.raises(DatabaseUnavailable):
            settle(store, lease)
    assert not is_due(store, parent.id)

    assert settle(store, lease)
    assert is_due(store, parent.id)


def test_a_wake_up_that_was_lost_costs_only_time(store, parent, children, worker, clock):
    wait_for(store, parent, children[:1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.joins, "wake", lambda *_args: None)
        assert settle(store, run_child(store, worker))
    assert not is_due(store, parent.id)

    clock.advance(600)
    again = claim_one(store, worker, "parents")
    assert store.joins.standing(parent.tenant, children[:1]).unfinished == []
    assert store.joins.wait(again, children)  # the row that was left behind does not count
    settle(store, again, WAIT)
    settle(store, run_child(store, worker))
    assert is_due(store, parent.id)


def unreachable(*_args):
    message = "gone"
    raise DatabaseUnavailable(message)


def test_why_names_the_jobs_that_are_waited_for(store, make_job, parent, children):
    wait_for(store, parent, [*children, make_job().id, make_job().id])
    jobs = store.joins.waited_for(parent.id)

    reason = why(store.listing.get(parent.id), Surroundings(store.now(), None, 1, 1, waited_for=jobs))

    assert (reason.code, reason.next_step) == ("joined", f"haulwright job why {children[0]}")
    assert f"it waits for 4 jobs to end: {children[0]}, {children[1]}, " in reason.sentence
    assert "and 1 more; it looks again by itself in 10 min" in reason.sentence


def test_the_backstop_grows_up_to_a_limit():
    assert [backstop_seconds(n) for n in (0, 1, 2, 5, 10_000)] == [30, 60, 120, *[JOIN_BACKSTOP_CAP_SECONDS] * 2]


def test_a_dead_letter_stands_for_what_it_was_requeued_as(store, worker):
    first = bury(store, worker)
    second = store.jobs.requeue(first, Requeue("alice"), tenant=None).id

    standing = store.joins.standing("default", [first])
    assert (standing.lives, standing.unfinished) == ({first: second}, [second])

    settle(store, claim_one(store, worker), Bury("permanent", BOOM))
    third = store.jobs.requeue(second, Requeue("alice"), tenant=None).id
    assert store.joins.standing("default", [first]).lives == {first: third}


def test_results_that_are_too_large_together_are_refused(store, worker):
    jobs = [new_job() for _ in range(3)]
    store.jobs.enqueue(jobs)
    for _ in jobs:
        settle(store, claim_one(store, worker), Done('"' + "x" * 100 + '"'))

    assert len(store.joins.outcomes("default", [job.id for job in jobs], 306)) == 3
    with pytest.raises(Refused, match="over 305 bytes together"):
        store.joins.outcomes("default", [job.id for job in jobs], 305)


def test_ten_thousand_are_waited_for_at_once(store, parent):
    jobs = [new_job(queue="children") for _ in range(10_000)]
    store.jobs.enqueue(jobs)

    wait_for(store, parent, [job.id for job in jobs])

    assert store.joins.waited_for(parent.id).count == 10_000


def until_blocked(store, thread):
    """Wait until another transaction waits for a lock, or has ended without."""
    while thread.is_alive() and rows(store, BLOCKED) == [(0,)]:
        time.sleep(0.005)


@only_postgres
def test_of_two_that_end_the_last_two_at_once_one_wakes_who_waited(store, open_store, parent, children, worker):
    """Each sees the job of the other as unfinished: without a lock on the one who waits, nobody would wake it."""
    wait_for(store, parent, children)
    ends = [settlement(run_child(store, worker), Skip("no")) for _ in children]
    other = open_store()
    second = threading.Thread(target=lambda: other.settlements.settle(ends[1:]))

    def first(connection):
        store.settlements.settle_on(connection, ends[:1])
        second.start()
        until_blocked(store, second)

    store.database.transact(first)
    second.join(30)

    assert is_due(store, parent.id)


@only_postgres
def test_the_last_one_ends_while_the_run_is_being_put_back(store, open_store, parent, children, worker):
    """Whoever ended it saw the job run, and did not wake it: its put-back waits for that one, and looks."""
    assert store.joins.wait(parent, children[:1])
    end = settlement(run_child(store, worker), Skip("no"))
    other = open_store()
    back = threading.Thread(target=lambda: other.settlements.settle([settlement(parent, WAIT)]))

    def finish(connection):
        store.settlements.settle_on(connection, [end])
        back.start()
        until_blocked(store, back)

    store.database.transact(finish)
    back.join(30)

    assert is_due(store, parent.id)


@only_postgres
def test_what_is_being_settled_is_waited_for_and_then_not_joined(store, open_store, parent, children, worker):
    """The mark waits for the settlement: it would be lost with the row, and nobody would tell of the end."""
    end = settlement(run_child(store, worker), Skip("no"))
    other = open_store()
    answers: list[bool] = []
    joining = threading.Thread(target=lambda: answers.append(other.joins.wait(parent, children[:1])))

    def finish(connection):
        store.settlements.settle_on(connection, [end])
        joining.start()
        until_blocked(store, joining)

    store.database.transact(finish)
    joining.join(30)

    assert answers == [False]
    assert count(store, "haulwright_joins") == 0
