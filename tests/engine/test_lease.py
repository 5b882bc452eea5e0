"""What the loss of a lease means: pure rules, without a database."""

from __future__ import annotations

import pytest

from haulwright.engine.job import Lease
from haulwright.engine.lease import had_neighbours
from haulwright.engine.outcome import Died, Failure
from haulwright.engine.retry import Retry
from haulwright.engine.settlement import Finish, PutBack, resolve, resolve_loss
from haulwright.engine.transitions import State


def a_lease(**words):
    plain = dict.fromkeys(Lease._fields)
    return Lease(**{**plain, "attempts": 1, "max_attempts": 3, "losses": 0, **words})


@pytest.mark.parametrize(
    ("held", "renewed", "lost", "shared"),
    [
        (1, 100, None, False),
        (2, 100, None, True),
        (1, 100, 99, False),
        (1, 100, 100, True),
        (1, 100, 250, True),
    ],
    ids=["alone", "beside another", "lived on after a loss", "at the moment of a loss", "silent since before a loss"],
)
def test_a_lease_was_shared_if_another_was_held_when_its_worker_fell_silent(held, renewed, lost, shared):
    assert had_neighbours(held, renewed, lost) is shared


def test_a_shared_loss_gives_the_attempt_back_and_counts_the_loss():
    step = resolve_loss(a_lease(), shared=True)

    assert isinstance(step, PutBack)
    assert (step.refund, step.losses, step.delay_us) == (1, 1, 0)


def test_a_loss_alone_keeps_the_attempt_counted():
    step = resolve_loss(a_lease())

    assert isinstance(step, PutBack)
    assert (step.refund, step.losses) == (0, 1)


def test_a_shared_loss_in_the_last_attempt_is_not_the_end_but_one_too_many_is():
    assert isinstance(resolve_loss(a_lease(attempts=3), shared=True), PutBack)
    assert isinstance(resolve_loss(a_lease(attempts=3)), Finish)
    assert isinstance(resolve_loss(a_lease(attempts=1, losses=3), shared=True), Finish)


def test_a_budget_of_one_attempt_means_at_most_once_whoever_was_beside_it():
    assert isinstance(resolve_loss(a_lease(max_attempts=1), shared=True), Finish)


def test_a_job_that_was_asked_to_cancel_is_cancelled_whoever_was_beside_it():
    step = resolve_loss(a_lease(), "not needed", shared=True)

    assert isinstance(step, Finish)
    assert (step.state, step.reason) == (State.CANCELLED, "not needed")


def test_the_death_of_a_process_of_its_own_is_counted_and_says_how():
    death = Failure("ProcessDied", "process_died", "its process was killed by signal 11 (SIGSEGV)")

    step = resolve(Died(death), a_lease(losses=1), Retry(3), lambda: 0.5)

    assert isinstance(step, PutBack)
    assert (step.refund, step.losses, step.failure) == (0, 1, death)
