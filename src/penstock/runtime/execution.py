"""The run of one job, read aloud: prepare, perform, classify. It returns an outcome and never raises."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from penstock.client.context import Context, Signals, current
from penstock.engine.outcome import (
    REASON_UNSTORABLE,
    Bury,
    Cancel,
    Done,
    Outcome,
    RetryLater,
    Skip,
    Snooze,
    outcome_of,
)
from penstock.engine.payload import RESULT_LIMIT_BYTES, canonical
from penstock.errors import InvalidPayload, LeaseLost, Permanent
from penstock.runtime.failure import failure_of

if TYPE_CHECKING:
    from penstock.client.task import Task
    from penstock.engine.job import Lease
    from penstock.stores.store import Store

_SAID = (Done, RetryLater, Snooze, Skip, Cancel, Bury)


@dataclass(slots=True)
class Run:
    """A job in the hands of this process."""

    lease: Lease
    task: Task[..., Any]
    context: Context
    started: float = 0.0
    """On the monotonic clock; 0 while it waits for its turn."""
    ended: float = 0.0
    outcome: Outcome | None = None
    """None while it runs, and for a run that lost its lease or settled itself."""
    error: BaseException | None = None
    finish: Callable[[], None] | None = field(default=None, repr=False)
    """Ends an asynchronous run from another thread."""

    @classmethod
    def of(cls, lease: Lease, task: Task[..., Any], store: Store, worker: str) -> Run:
        """A run that is about to begin."""
        return cls(lease, task, Context(lease, store, Signals(), worker))

    @property
    def timeout_seconds(self) -> float | None:
        """How long it may take: what the job says, else its task."""
        limit = self.lease.timeout_us or self.task.options.timeout_us
        return None if limit is None else limit / 1_000_000

    @property
    def seconds(self) -> float:
        """How long it took, or has taken so far."""
        return (self.ended or time.monotonic()) - self.started if self.started else 0.0


def run_plain(run: Run) -> None:
    """Run a `def` task on this thread."""
    run.started = time.monotonic()
    token = current.set(run.context)
    try:
        arguments = _prepare(run)
        _classify(run, run.task.function(*arguments[0], **arguments[1]))
    except BaseException as error:  # noqa: BLE001 - whatever a task raises is an outcome, SystemExit too
        _classify_error(run, error)
    finally:
        current.reset(token)
        run.ended = time.monotonic()


async def run_async(run: Run) -> None:
    """Run an `async def` task on this event loop; a time limit or a signal really ends it."""
    run.started = time.monotonic()
    token = current.set(run.context)
    try:
        positional, named = _prepare(run)
        async with asyncio.timeout(run.timeout_seconds):
            value = await run.task.function(*positional, **named)
        _classify(run, value)
    except asyncio.CancelledError as error:
        _classify_error(run, _reason_to_end(run) or error)
    except TimeoutError as error:
        if run.timeout_seconds is not None and run.seconds >= run.timeout_seconds:
            run.context.signals.timed_out = True
        _classify_error(run, _reason_to_end(run) or error)
    except BaseException as error:  # noqa: BLE001 - as above
        _classify_error(run, error)
    finally:
        current.reset(token)
        run.ended = time.monotonic()


def _prepare(run: Run) -> tuple[tuple[Any, ...], dict[str, Any]]:
    try:
        arguments = run.task.signature.load(run.lease.args)
    except ValidationError as error:
        message = f"the stored arguments do not fit the task any more: {error.errors(include_input=False)[0]['msg']}"
        raise Permanent(message) from None
    return ((run.context,) if run.task.signature.takes_context else ()), arguments


def _classify(run: Run, value: Any) -> None:
    """What the task returned: an outcome that it says itself, or a result."""
    if run.context.settled:
        return
    if isinstance(value, _SAID):
        run.outcome = value
        return
    try:
        text = run.task.signature.result.dump(value, RESULT_LIMIT_BYTES)
    except InvalidPayload as error:
        run.error = error
        run.outcome = Bury(REASON_UNSTORABLE, failure_of(error))
        return
    run.outcome = Done(text, _facts(run, text))


def _classify_error(run: Run, error: BaseException) -> None:
    run.error = error
    if run.context.settled or isinstance(error, LeaseLost):
        return
    run.outcome = outcome_of(error, failure_of(error))


def _reason_to_end(run: Run) -> BaseException | None:
    """Why the worker ended this run, if it did."""
    try:
        run.context.check()
    except Exception as reason:  # noqa: BLE001 - it is returned, not swallowed
        return reason
    return None


def _facts(run: Run, text: str) -> str | None:
    """What the events of this job carry: fields of its arguments and of its result."""
    names = run.task.options.facts
    if not names:
        return None
    known = json.loads(run.lease.facts) if run.lease.facts else {}
    result = json.loads(text)
    if isinstance(result, dict):
        known |= {name: result[name] for name in names if name in result}
    return canonical(known) if known else None
