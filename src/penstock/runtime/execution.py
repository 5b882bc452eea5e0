"""The run of one job, read aloud: prepare, perform, classify. It returns an outcome and never raises."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Iterable
from contextvars import Token
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from penstock.client.arguments import problem_of
from penstock.client.context import Context, Signals, current
from penstock.client.facts import facts_of
from penstock.clock import SECOND
from penstock.engine.lease import gate_wait_us
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
from penstock.engine.payload import RESULT_LIMIT_BYTES, check
from penstock.errors import DatabaseUnavailable, InvalidPayload, LeaseLost, Permanent
from penstock.runtime.failure import failure_of, plain_words

if TYPE_CHECKING:
    from penstock.client.task import Task
    from penstock.engine.job import Lease
    from penstock.runtime.lanes import Lane
    from penstock.stores.store import Store

_SAID = (RetryLater, Snooze, Skip, Cancel, Bury)

DATABASE_GATE = "database"
"""What a job waits for whose run could not reach the database."""


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
    lane: Lane | None = field(default=None, repr=False)
    """Where an asynchronous run is on the event loop."""

    @classmethod
    def of(cls, lease: Lease, task: Task[..., Any], store: Store, worker: str) -> Run:
        """A run that is about to begin."""
        return cls(lease, task, Context(lease, store, Signals(), worker, facts=task.options.facts))

    def end(self) -> None:
        """End an asynchronous run, from another thread. Any other hears it from its context."""
        if self.lane is not None:
            self.lane.end(self)

    @property
    def needs_child(self) -> bool:
        """Whether it runs in a process of its own: it asks for one, or its last worker died under it."""
        return self.lease.losses > 0 or self.task.options.isolation == "process"

    @property
    def timeout_seconds(self) -> float | None:
        """How long it may take: what the job says, else its task."""
        limit = self.lease.timeout_us or self.task.options.timeout_us
        return None if limit is None else limit / 1_000_000

    @property
    def seconds(self) -> float:
        """How long it took, or has taken so far."""
        return (self.ended or time.monotonic()) - self.started if self.started else 0.0


def superseded(runs: Iterable[Run]) -> list[Run]:
    """The runs among these whose job is run again by another of them: they lost their lease."""
    known = list(runs)
    newest = {run.lease.id: run.lease.fence for run in sorted(known, key=lambda run: run.lease.fence)}
    return [run for run in known if run.lease.fence < newest[run.lease.id]]


def run_plain(run: Run) -> None:
    """Run a `def` task on this thread."""
    token = _begin(run)
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
    token = _begin(run)
    try:
        positional, named = _prepare(run)
        _classify(run, await _within_limit(run, run.task.function(*positional, **named)))
    except (asyncio.CancelledError, TimeoutError) as error:
        _classify_error(run, _reason_to_end(run) or error)
    except BaseException as error:  # noqa: BLE001 - as above
        _classify_error(run, error)
    finally:
        current.reset(token)
        run.ended = time.monotonic()


async def _within_limit(run: Run, work: Awaitable[Any]) -> Any:
    """Await the work of a run; past its time limit it is cancelled, and the run knows why."""
    if run.timeout_seconds is None:
        return await work
    limit = asyncio.timeout(run.timeout_seconds)
    try:
        async with limit:
            return await work
    finally:
        run.context.signals.timed_out |= limit.expired()


def _begin(run: Run) -> Token[Context | None]:
    run.started = run.context.started = time.monotonic()
    return current.set(run.context)


def _prepare(run: Run) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of the function; a run that was cancelled or lost while it waited for its turn does not begin."""
    run.context.check()
    try:
        arguments = run.task.signature.load(run.lease.args)
    except ValidationError as error:
        path, why = problem_of(error)
        message = f"the stored arguments do not fit the task any more: {path}: {why}"
        raise Permanent(message) from None
    return ((run.context,) if run.task.signature.takes_context else ()), arguments


def _classify(run: Run, value: Any) -> None:
    """What the task returned: an outcome that it says itself, or a result."""
    if run.context.settled:
        return
    if isinstance(value, _SAID):
        run.outcome = plain_words(value)
        return
    try:
        if isinstance(value, Done):
            text = _said_result(value)
        else:
            text = run.task.signature.result.dump(value, RESULT_LIMIT_BYTES)
    except InvalidPayload as error:
        run.error = error
        run.outcome = Bury(REASON_UNSTORABLE, failure_of(error))
        return
    run.outcome = Done(text, facts_of(run.task.options.facts, run.lease.facts, text))


def _classify_error(run: Run, error: BaseException) -> None:
    run.error = error
    if run.context.settled or isinstance(error, LeaseLost):
        return
    if isinstance(error, DatabaseUnavailable):
        # Our own trouble is not the task's: it waits, and no attempt is burnt.
        run.outcome = Snooze(gate_wait_us(run.lease.deferrals) / SECOND, DATABASE_GATE)
        return
    outcome = outcome_of(error, failure_of(error))
    probed = run.context.signals.probed
    if probed is not None and isinstance(outcome, RetryLater):
        outcome = Snooze(*probed)  # whoever is sent to see whether a server is well again does not pay for the answer
    run.outcome = plain_words(outcome)


def _said_result(said: Done) -> str:
    """The result of a task that says `Done` itself, which must be the JSON text it claims to be."""
    try:
        value = None if said.result is None else json.loads(said.result)
    except (TypeError, ValueError):
        raise InvalidPayload("result", "is not JSON text", hint="Return the value itself.") from None
    return check(value, root="result", limit_bytes=RESULT_LIMIT_BYTES)


def _reason_to_end(run: Run) -> BaseException | None:
    """Why the worker ended this run, if it did."""
    try:
        run.context.check()
    except Exception as reason:  # noqa: BLE001 - it is returned, not swallowed
        return reason
    return None
