"""From the outcome of a run to the step that its job takes, and the events that tell of it. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, assert_never

from haulwright import events
from haulwright.clock import SECOND
from haulwright.engine.durations import TEN_YEARS_SECONDS
from haulwright.engine.job import HeldLease
from haulwright.engine.lease import RunAgain, after_loss
from haulwright.engine.outcome import (
    REASON_ATTEMPTS,
    START_GATE,
    Bury,
    Cancel,
    Died,
    Done,
    Failure,
    NotStarted,
    Outcome,
    RetryLater,
    Skip,
    Snooze,
)
from haulwright.engine.payload import read_json
from haulwright.engine.retry import Retry
from haulwright.engine.transitions import State
from haulwright.events import Event


class Finish(NamedTuple):
    """The job is finished. A tuple, for every job gets one."""

    state: State
    reason: str | None = None
    result: str | None = None
    event_fields: str | None = None
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


class Settlement(NamedTuple):
    """A step of one job, under its lease."""

    lease: HeldLease
    step: Step
    seconds: float | None = None
    """How long the run took, where somebody measured it."""


def resolve(  # noqa: PLR0911 - one for each way a run ends
    outcome: Outcome, lease: HeldLease, retry: Retry, rng: Callable[[], float]
) -> Step:
    """What the outcome of a run means for its job."""
    match outcome:
        case Done():
            return Finish(State.SUCCEEDED, result=outcome.result, event_fields=outcome.event_fields)
        case RetryLater():
            return _after_failure(outcome, lease, retry, rng)
        case Snooze():
            wait_us, gate = _wait_us(outcome.seconds), outcome.gate
            return PutBack("snooze", wait_us, refund=1, deferral=1, waiting_on=gate, failure=outcome.failure)
        case Skip():
            return Finish(State.SKIPPED, outcome.reason)
        case Cancel():
            return Finish(State.CANCELLED, outcome.reason)
        case Bury():
            return Finish(State.DEAD, outcome.reason, failure=outcome.failure)
        case Died():
            return resolve_loss(lease, death=outcome.failure)
        case NotStarted():
            wait_us = _wait_us(outcome.seconds)
            return PutBack("snooze", wait_us, refund=1, deferral=1, waiting_on=START_GATE, failure=outcome.failure)
    assert_never(outcome)


def _after_failure(outcome: RetryLater, lease: HeldLease, retry: Retry, rng: Callable[[], float]) -> Step:
    if lease.attempts >= lease.max_attempts:
        return Finish(State.DEAD, REASON_ATTEMPTS, failure=outcome.failure)
    delay_us = retry.delay_us(lease.attempts, rng) if outcome.after is None else _wait_us(outcome.after)
    return PutBack("retry", delay_us, failure=outcome.failure)


def _wait_us(seconds: float) -> int:
    """A wait that somebody asked for: what is negative or no number is none, and what is absurd is ten years."""
    return round(min(seconds, TEN_YEARS_SECONDS) * SECOND) if seconds > 0 else 0


def resolve_loss(
    lease: HeldLease, cancel_reason: str | None = None, *, death: Failure | None = None, shared: bool = False
) -> Step:
    """What the loss of a lease means for its job; `death` is how its process died.

    A `shared` loss, together with other leases of the same worker, is counted as a loss, but the attempt is given back:
    the job is probably a neighbour of the guilty one. It runs alone next, and what it does there is its own. But one
    that may run once is not run again: nobody knows how far it had come.
    """
    shared = shared and lease.max_attempts > 1
    refund = 1 if shared else 0
    fate = after_loss(lease.attempts - refund, lease.max_attempts, lease.losses + 1, cancel_reason)
    match fate:
        case RunAgain():
            failure = death or Failure("LeaseLost", LEASE_EXPIRED, _loss_message(lease, shared=shared))
            return PutBack("reap", fate.delay_us, refund=refund, losses=1, failure=failure)
        case Cancel():
            return Finish(State.CANCELLED, fate.reason, losses=1)
        case Bury():
            return Finish(State.DEAD, fate.reason, failure=death or fate.failure, losses=1)
    assert_never(fate)


def _loss_message(lease: HeldLease, *, shared: bool) -> str:
    message = f"the lease was lost in attempt {lease.attempts} of {lease.max_attempts}"
    return f"{message}, with others of its worker: the attempt is not counted" if shared else message


def events_of(settlement: Settlement, worker: str) -> list[Event]:
    """The events of a step: the start of the run, then its end. A first run that succeeded needs none.

    Of a job that is audited the start was written when it was claimed, and every end is.
    """
    lease, step = settlement.lease, settlement.step
    if isinstance(step, Finish) and step.state is State.SUCCEEDED and lease.fence == 1 and not lease.audited:
        return []
    record = [] if lease.audited else [started_event(lease, worker)]
    took = {} if settlement.seconds is None else {"duration_seconds": round(settlement.seconds, 6)}
    for name, data in _ends(lease, step):
        record.append(_event(lease, worker, name, {"job_id": lease.id, **took, **data}))
    return record


def started_event(lease: HeldLease, worker: str) -> Event:
    """The start of a run."""
    event_fields = read_json(lease.event_fields, dict) or {}
    data = {"job_id": lease.id, "attempt": lease.attempts, "worker": worker, **event_fields}
    return _event(lease, worker, events.JOB_STARTED, data, at=lease.leased_at)


def _ends(lease: HeldLease, step: Step) -> list[tuple[str, dict[str, Any]]]:
    retries = lease.attempts - 1
    if isinstance(step, PutBack):
        return _put_back_events(step, lease)
    match step.state:
        case State.SUCCEEDED:
            return [(events.JOB_COMPLETED, json.loads(step.event_fields) if step.event_fields else {})]
        case State.SKIPPED:
            return [(events.JOB_SKIPPED, {"reason": step.reason})]
        case State.CANCELLED:
            return [(events.JOB_CANCELLED, {"reason": step.reason})]
        case _:
            failure = step.failure or Failure("", step.reason or "", step.reason or "")
            data = {"reason": step.reason, "retry_count": retries, "error_code": failure.code}
            return [(events.JOB_DEAD_LETTERED, {**data, "error_message": failure.message, **frames_data(failure)})]


def _put_back_events(step: PutBack, lease: HeldLease) -> list[tuple[str, dict[str, Any]]]:
    delay = step.delay_us / SECOND
    again = (events.JOB_RETRY, {"retry_count": lease.attempts, "delay_seconds": delay})
    match step.verb:
        case "release":
            return [(events.JOB_RELEASED, {})]
        case "reap" if step.refund:
            return [(events.JOB_RELEASED, {})]  # no retry: the attempt was given back
        case "snooze":
            cause = failure_data(step.failure) if step.failure is not None else {}
            return [(events.JOB_SNOOZED, {"delay_seconds": delay, "gate": step.waiting_on, **cause})]
        case "retry" | "reap" if step.failure is not None and step.failure.code != LEASE_EXPIRED:
            return [(events.JOB_FAILED, failure_data(step.failure)), again]
        case _:
            return [again]


def failure_data(failure: Failure) -> dict[str, Any]:
    """The fields of a failure as events carry them."""
    words = {"error_class": failure.error_class, "error_code": failure.code, "error_message": failure.message}
    return {**words, **frames_data(failure)}


def frames_data(failure: Failure) -> dict[str, Any]:
    """Where a failure came from, where that is known."""
    return {"error_frames": [frame._asdict() for frame in failure.frames]} if failure.frames else {}


def _event(lease: HeldLease, worker: str, name: str, data: dict[str, Any], *, at: int | None = None) -> Event:
    return Event(name, lease.tenant, lease.id, lease.attempts, lease.fence, worker, at=at, data=data)
