"""The run of one job, read aloud: begin, prepare, perform, classify, end. It leaves an outcome and never raises.

The settler settles it, in batches and on its own thread, and tells of that: see `runtime/settler.py`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Iterable
from contextvars import Token
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from haulwright.client.arguments import problem_of
from haulwright.client.context import Context, current
from haulwright.client.event_fields import event_fields_of
from haulwright.client.signals import Signals
from haulwright.clock import SECOND
from haulwright.engine.lease import gate_wait_us
from haulwright.engine.outcome import (
    REASON_UNREADABLE,
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
from haulwright.engine.payload import RESULT_LIMIT_BYTES, check, read_json
from haulwright.errors import DatabaseLost, DatabaseUnavailable, InvalidPayload, LeaseLost, Permanent, UnreadableRow
from haulwright.runtime.failure import failure_of, storable

if TYPE_CHECKING:
    from haulwright.client.calls import DeclaredTask
    from haulwright.client.commit_queue import CommitQueue
    from haulwright.client.task import Task
    from haulwright.engine.job import Lease, LeaseKey
    from haulwright.runtime.async_executor import Lane
    from haulwright.runtime.observers import Observers
    from haulwright.stores.store import Store

_RETURNED_OUTCOMES = (RetryLater, Snooze, Skip, Cancel, Bury)
"""What a task may return instead of a result."""

Arguments = tuple[tuple[Any, ...], dict[str, Any]]

DATABASE_GATE = "database"
"""What a job waits for whose run could not reach the database."""


class UnreadableJob(UnreadableRow):
    """The row of a job that is to run cannot be read. It is buried: no run could ever begin."""

    def __init__(self, job_id: str, why: str) -> None:
        super().__init__("job", job_id, why)


@dataclass(slots=True)
class Run:
    """A job that this process holds: its lease, its task, and how far it has come."""

    lease: Lease
    task: DeclaredTask
    context: Context
    key: LeaseKey = field(init=False)
    """That of its lease, made once."""
    started: float = 0.0
    """On the monotonic clock; 0 while it waits for its turn."""
    ended: float = 0.0
    outcome: Outcome | None = None
    """None while it runs, and for a run that lost its lease or settled itself."""
    error: BaseException | None = None
    lane: Lane | None = field(default=None, repr=False)
    """Where an asynchronous run is on the event loop."""
    renewed_at: float = field(init=False)
    """When its lease was last known to be renewed, on the monotonic clock: claimed, at first."""
    held_at: float = field(init=False)
    """When its lease was last known to be held: renewed, or in the hands of a transaction that kept it from that."""
    is_lag_reported: bool = False
    has_ended_job: bool = False
    """Its job is in a final state since this run was settled."""

    @classmethod
    def of(
        cls, lease: Lease, task: Task[..., Any], store: Store, worker: str, commit_queue: CommitQueue | None = None
    ) -> Run:
        """A run that is about to begin."""
        own = task.declared
        context = Context(lease, store, Signals(), worker, commit_queue, event_fields=own.options.event_fields)
        return cls(lease, own, context)

    def __post_init__(self) -> None:
        self.key = self.lease.key
        self.renewed_at = self.held_at = time.monotonic()

    def end(self) -> None:
        """End an asynchronous run, from another thread. Any other hears it from its context."""
        if self.lane is not None:
            self.lane.end(self)

    def note_renewal(self, *, skipped: bool) -> None:
        """A renewal found that the lease is held, and prolonged it unless it had to be skipped."""
        self.held_at = time.monotonic()
        if not skipped:
            self.renewed_at, self.is_lag_reported = self.held_at, False

    @property
    def needs_child(self) -> bool:
        """Whether it runs in a process of its own: it asks for one, or its last worker died under it."""
        is_suspect = self.lease.losses > 0 and self.task.app.is_importable
        return is_suspect or self.task.options.isolation == "process"

    @property
    def is_over(self) -> bool:
        """Whether it has come to an end, and only that has to be written."""
        return bool(self.ended) or self.has_outcome

    @property
    def has_outcome(self) -> bool:
        """Whether it is known what becomes of its job. A run that lost its lease ends without."""
        return self.outcome is not None or self.context.settled

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
    runs = list(runs)
    if len({run.lease.id for run in runs}) == len(runs):
        return []
    newest = {run.lease.id: run.lease.fence for run in sorted(runs, key=lambda run: run.lease.fence)}
    return [run for run in runs if run.lease.fence < newest[run.lease.id]]


def run_plain(run: Run, observers: Observers) -> None:
    """Run a `def` task on this thread."""
    token = _begin(run, observers)
    try:
        positional, named = _prepare(run)
        _classify(run, run.task.function(*positional, **named))
    except BaseException as error:  # noqa: BLE001 - whatever a task raises is an outcome, SystemExit too
        _classify_error(run, error)
    finally:
        _end(run, observers, token)


async def run_async(run: Run, observers: Observers) -> None:
    """Run an `async def` task on this event loop; a time limit or a signal really ends it."""
    token = _begin(run, observers)
    try:
        positional, named = _prepare(run)
        work = run.task.function(*positional, **named)
        limit = run.timeout_seconds
        _classify(run, await (work if limit is None else _within_limit(run, work, limit)))
    except (asyncio.CancelledError, TimeoutError) as error:
        _classify_error(run, _reason_to_end(run) or error)
    except BaseException as error:  # noqa: BLE001 - as above
        _classify_error(run, error)
    finally:
        _end(run, observers, token)


async def _within_limit(run: Run, work: Awaitable[Any], seconds: float) -> Any:
    """Await the work of a run; past its time limit it is cancelled, and the run knows why."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await work
    finally:
        run.context.signals.timed_out |= limit.expired()


def _begin(run: Run, observers: Observers) -> Token[Context | None]:
    run.started = run.context.started = time.monotonic()
    observers.started(run)
    return current.set(run.context)


def _end(run: Run, observers: Observers, token: Token[Context | None]) -> None:
    current.reset(token)
    run.ended = time.monotonic()
    observers.ended(run)


def _prepare(run: Run) -> Arguments:
    """The arguments of the function; a run that was cancelled or lost while it waited for its turn does not begin."""
    run.context.check()
    lease = run.lease
    if lease.tags != "[]" or lease.headers is not None or lease.event_fields is not None:  # unlike most jobs
        _require_readable(lease)
    try:
        arguments = run.task.signature.load(lease.args)
    except ValidationError as error:
        if error.errors(include_url=False, include_input=False)[0]["type"] == "json_invalid":
            raise UnreadableJob(lease.id, "its args are no JSON") from None
        path, why = problem_of(error)
        message = f"the stored arguments do not fit the task any more: {path}: {why}"
        raise Permanent(message) from None
    return ((run.context,) if run.task.signature.takes_context else ()), arguments


def _require_readable(lease: Lease) -> None:
    """What stands in the row beside the arguments is read by many, from headers to events: a run needs all of it."""
    for name, text, kind in (
        ("tags", lease.tags, list),
        ("headers", lease.headers, dict),
        ("event_fields", lease.event_fields, dict),
    ):
        if text is not None and text != "[]" and read_json(text, kind) is None:
            raise UnreadableJob(lease.id, f"its {name} are no JSON {'list' if kind is list else 'object'}")


def _classify(run: Run, value: Any) -> None:
    """What the task returned: an outcome of its own choice, or a result."""
    context = run.context
    if context.settled or (context.signals.suspended is not None and _is_suspended(run)):
        return
    if isinstance(value, _RETURNED_OUTCOMES):
        run.outcome = storable(value)
        return
    try:
        if isinstance(value, Done):
            text = _checked_result(value)
        else:
            text = run.task.signature.result.dump(value, RESULT_LIMIT_BYTES)
    except InvalidPayload as error:
        run.error = error
        run.outcome = Bury(REASON_UNSTORABLE, failure_of(error))
        return
    run.outcome = Done(text, event_fields_of(run.task.options.event_fields, run.lease.event_fields, text))


def _classify_error(run: Run, error: BaseException) -> None:
    may_settle = not run.context.settled and not isinstance(error, LeaseLost)
    if may_settle and _is_suspended(run):
        return  # no error: its code was left by an exception that nobody should see
    run.error = error
    if not may_settle:
        return
    if isinstance(error, DatabaseUnavailable | DatabaseLost):
        # Our own trouble is not the task's: it waits, and no attempt is burnt.
        run.outcome = Snooze(gate_wait_us(run.lease.deferrals) / SECOND, DATABASE_GATE)
        return
    outcome = outcome_of(error, failure_of(error))
    if isinstance(error, UnreadableJob):
        outcome = Bury(REASON_UNREADABLE, replace(failure_of(error), code=REASON_UNREADABLE))
    if isinstance(outcome, Snooze) and outcome.gate is None:
        outcome = replace(outcome, gate=run.context.signals.parked)  # the wait that a server asked this very run for
    probed = run.context.signals.probed
    if probed is not None and isinstance(outcome, RetryLater):
        # Whoever is sent to see whether a server is well again does not pay for the answer.
        outcome = Snooze(*probed, failure=outcome.failure)
    run.outcome = storable(outcome)


def _is_suspended(run: Run) -> bool:
    """Whether the run went to wait for something: then it is over, whatever its code did with that."""
    suspended = run.context.signals.suspended
    if suspended is None:
        return False
    run.outcome = Snooze(*suspended)
    return True


def _checked_result(done: Done) -> str:
    """The result of a task that returns `Done` itself, which must be the JSON text it claims to be."""
    try:
        value = None if done.result is None else json.loads(done.result)
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
