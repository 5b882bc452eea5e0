"""From the outcome of a run to the step that its job takes, and the events that tell of it. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, assert_never

from penstock import events
from penstock.clock import SECOND
from penstock.engine.job import Lease
from penstock.engine.lease import RunAgain, after_loss
from penstock.engine.outcome import (
    REASON_ATTEMPTS,
    Bury,
    Cancel,
    Died,
    Done,
    Failure,
    Outcome,
    RetryLater,
    Skip,
    Snooze,
)
from penstock.engine.retry import Retry
from penstock.engine.transitions import State
from penstock.engine.words import TEN_YEARS_SECONDS
from penstock.events import Event


@dataclass(frozen=True, slots=True)
class Finish:
    """The job is finished."""

    state: State
    reason: str | None = None
    result: str | None = None
    facts: str | None = None
    failure: Failure | None = None
    losses: int = 0


@dataclass(frozen=True, slots=True)
class PutBack:
    """The job is queued again: by retry, snooze, release or reap."""

    verb: str
    delay_us: int = 0
    refund: int = 0
    deferral: int = 0
    losses: int = 0
    waiting_on: str | None = None
    failure: Failure | None = None


Step = Finish | PutBack

RELEASE = PutBack("release", refund=1)
LEASE_EXPIRED = "lease_expired"
"""The error code of a job that waits after a loss."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """A step of one job, under its lease."""

    lease: Lease
    step: Step
    seconds: float | None = None
    """How long the run took, where somebody measured it."""


def resolve(  # noqa: PLR0911 - one for each way a run ends
    outcome: Outcome, lease: Lease, retry: Retry, rng: Callable[[], float]
) -> Step:
    """What the outcome of a run means for its job."""
    match outcome:
        case Done():
            return Finish(State.SUCCEEDED, result=outcome.result, facts=outcome.facts)
        case RetryLater():
            return _after_failure(outcome, lease, retry, rng)
        case Snooze():
            return PutBack("snooze", _wait_us(outcome.seconds), refund=1, deferral=1, waiting_on=outcome.gate)
        case Skip():
            return Finish(State.SKIPPED, outcome.reason)
        case Cancel():
            return Finish(State.CANCELLED, outcome.reason)
        case Bury():
            return Finish(State.DEAD, outcome.reason, failure=outcome.failure)
        case Died():
            return resolve_loss(lease.attempts, lease.max_attempts, lease.losses, None, outcome.failure)
    assert_never(outcome)


def _after_failure(outcome: RetryLater, lease: Lease, retry: Retry, rng: Callable[[], float]) -> Step:
    if lease.attempts >= lease.max_attempts:
        return Finish(State.DEAD, REASON_ATTEMPTS, failure=outcome.failure)
    delay_us = retry.delay_us(lease.attempts, rng) if outcome.after is None else _wait_us(outcome.after)
    return PutBack("retry", delay_us, failure=outcome.failure)


def _wait_us(seconds: float) -> int:
    """A wait that somebody asked for: what is negative or no number is none, and what is absurd is ten years."""
    return round(min(seconds, TEN_YEARS_SECONDS) * SECOND) if seconds > 0 else 0


def resolve_loss(
    attempts: int, max_attempts: int, losses: int, cancel_reason: str | None, death: Failure | None = None
) -> Step:
    """What a lost lease means for its job; `losses` are those before this one, and `death` is how its process died."""
    fate = after_loss(attempts, max_attempts, losses + 1, cancel_reason)
    match fate:
        case RunAgain():
            message = f"the lease was lost in attempt {attempts} of {max_attempts}"
            failure = death or Failure("LeaseLost", LEASE_EXPIRED, message)
            return PutBack("reap", fate.delay_us, losses=1, failure=failure)
        case Cancel():
            return Finish(State.CANCELLED, fate.reason, losses=1)
        case Bury():
            return Finish(State.DEAD, fate.reason, failure=death or fate.failure, losses=1)
    assert_never(fate)


def events_of(settlement: Settlement, worker: str) -> list[Event]:
    """The events of a step: the start of the run, then its end. A first run that succeeded needs none."""
    lease, step = settlement.lease, settlement.step
    if isinstance(step, Finish) and step.state is State.SUCCEEDED and lease.fence == 1:
        return []
    facts = json.loads(lease.facts) if lease.facts else {}
    started = {"job_id": lease.id, "attempt": lease.attempts, "worker": worker, **facts}
    told = [_event(lease, worker, events.JOB_STARTED, started, at=lease.leased_at)]
    took = {} if settlement.seconds is None else {"duration_seconds": round(settlement.seconds, 6)}
    for name, data in _ends(lease, step):
        told.append(_event(lease, worker, name, {"job_id": lease.id, **took, **data}))
    return told


def _ends(lease: Lease, step: Step) -> list[tuple[str, dict[str, Any]]]:
    retries = lease.attempts - 1
    if isinstance(step, PutBack):
        return _put_back_events(step, lease)
    match step.state:
        case State.SUCCEEDED:
            return [(events.JOB_COMPLETED, json.loads(step.facts) if step.facts else {})]
        case State.SKIPPED:
            return [(events.JOB_SKIPPED, {"reason": step.reason})]
        case State.CANCELLED:
            return [(events.JOB_CANCELLED, {"reason": step.reason})]
        case _:
            failure = step.failure or Failure("", step.reason or "", step.reason or "")
            told = {"reason": step.reason, "retry_count": retries, "error_code": failure.code}
            return [(events.JOB_DEAD_LETTERED, {**told, "error_message": failure.message})]


def _put_back_events(step: PutBack, lease: Lease) -> list[tuple[str, dict[str, Any]]]:
    delay = step.delay_us / SECOND
    again = (events.JOB_RETRY, {"retry_count": lease.attempts, "delay_seconds": delay})
    match step.verb:
        case "release":
            return [(events.JOB_RELEASED, {})]
        case "snooze":
            return [(events.JOB_SNOOZED, {"delay_seconds": delay, "gate": step.waiting_on})]
        case "retry" | "reap" if step.failure is not None and step.failure.code != LEASE_EXPIRED:
            return [(events.JOB_FAILED, failure_data(step.failure)), again]
        case _:
            return [again]


def failure_data(failure: Failure) -> dict[str, Any]:
    """The fields of a failure as events carry them."""
    return {"error_class": failure.error_class, "error_code": failure.code, "error_message": failure.message}


def _event(lease: Lease, worker: str, name: str, data: dict[str, Any], *, at: int | None = None) -> Event:
    return Event(name, lease.tenant, lease.id, lease.attempts, lease.fence, worker, at=at, data=data)
