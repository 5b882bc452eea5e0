"""Tasks: plain functions that can also be enqueued. What a call may say is typed end to end."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast, overload

from haulwright.client.arguments import Signature
from haulwright.client.blocking import require_off_loop
from haulwright.client.context import Context, current
from haulwright.client.declaration import require_function
from haulwright.client.event_fields import event_fields_of_arguments
from haulwright.client.handle import Handle
from haulwright.clock import Instant
from haulwright.engine.durations import Duration, us
from haulwright.engine.headers import dump_headers, inherit_headers
from haulwright.engine.ids import new_id
from haulwright.engine.job import DEFAULT_TENANT, NewJob, Unique
from haulwright.engine.keys import digest
from haulwright.engine.names import check_key, check_name, check_tags
from haulwright.engine.payload import canonical
from haulwright.engine.task import By, TaskOptions, UniqueBy, check_priority
from haulwright.engine.unknown_options import check_options, unknown_attribute
from haulwright.errors import InvalidValue, Refused

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright

P = ParamSpec("P")
D = ParamSpec("D")
V_co = TypeVar("V_co", covariant=True)
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class HasKey(Protocol):
    """A source, as far as a task knows it."""

    key: str


SourceOf = str | HasKey | Callable[[dict[str, Any]], str | HasKey]
"""The source of a task's jobs: a source, its key, or a function of the arguments that returns one of them."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MOMENT = datetime(1, 1, 1, tzinfo=UTC)
_LAST_MOMENT = datetime(9000, 1, 1, tzinfo=UTC)
"""Far enough from where the calendar ends: what is reckoned from a moment, such as a deadline, still has a date."""

KEY_SHOWN_CHARS = 200
"""A unique key of several values longer than this is kept as its digest."""


@dataclass(frozen=True, slots=True)
class Call(Generic[R_co]):
    """A call of a task that is ready to be enqueued."""

    task: Task[..., R_co]
    job: NewJob


@dataclass(frozen=True, slots=True)
class CallOptions:
    """What one call says otherwise than its task."""

    tenant: str | None = None
    queue: str | None = None
    priority: int | None = None
    delay: Duration | None = None
    run_at: datetime | None = None
    deadline: Duration | None = None
    timeout: Duration | None = None
    unique: str | None = None
    job_key: str | None = None
    correlation_id: str | None = None
    tags: Sequence[str] = ()
    connection: Any = None
    headers: Mapping[str, str] | None = None


class Task(Generic[P, R_co]):
    """A function under a name, with the options of its jobs. Made by `app.task`."""

    def __init__(self, app: Haulwright, function: Callable[..., Any], name: str | None, options: TaskOptions) -> None:
        name = require_function(function, name)
        functools.update_wrapper(cast("Any", self), function)
        self.app = app
        self.function = function
        self.name = check_name("task", name)
        self.options = options
        self.signature = Signature(function, name)
        self.is_async = inspect.iscoroutinefunction(function)
        self._bound: BoundTask[P, R_co] = BoundTask(self, CallOptions())
        for what, chosen in (("unique", options.unique), ("concurrency", options.concurrency)):
            _require_arguments(what, None if chosen is None else chosen.by, self.signature.names)
        if options.timeout_us is not None:
            self.require_endable("timeout")

    def require_endable(self, option: str) -> None:
        """Refuse a time limit that nothing could keep: a thread cannot be ended, and without a context not be told."""
        if self.is_async or self.options.isolation == "process" or self.signature.may_take_context:
            return
        message = f"task {self.name}: {option} cannot end a plain function in a thread."
        hint = (
            "Add isolation='process', write async def, or take ctx: Context first: its next call raises when time is up"
        )
        raise Refused(message, hint=f"{hint}.")

    if not TYPE_CHECKING:  # a checker must go on to find names that are not there

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(self, name)

    def __repr__(self) -> str:
        return f"<Task {self.name}>"

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R_co]:
        """Write a job that calls the function with these arguments, and return its handle."""
        return self._bound.enqueue(*args, **kwargs)

    async def aenqueue(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R_co]:
        """The same without blocking the event loop."""
        return await self._bound.aenqueue(*args, **kwargs)

    def call(self, *args: P.args, **kwargs: P.kwargs) -> Call[R_co]:
        """A call for `app.enqueue_many`."""
        return self._bound.call(*args, **kwargs)

    @check_options("using")
    def using(  # noqa: PLR0913 - the options of a call, each with a name
        self,
        *,
        tenant: str | None = None,
        queue: str | None = None,
        priority: int | None = None,
        delay: Duration | None = None,
        run_at: datetime | None = None,
        deadline: Duration | None = None,
        timeout: Duration | None = None,
        unique: str | None = None,
        job_key: str | None = None,
        correlation_id: str | None = None,
        tags: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        connection: Any = None,
    ) -> BoundTask[P, R_co]:
        """The task with other options for one call.

        tenant: whose job it is; inside a run, that of the running job.
        queue: another queue than the task's.
        priority: from -100 to 100, higher first.
        delay: not before this time has passed, such as "10 min".
        run_at: not before this moment; it needs a time zone. Give this or `delay`.
        deadline: a job that has not begun by then ends as dead.
        timeout: how long one run may take.
        unique: another unique key than the task's.
        job_key: plans a job once: a second one under that key is not made.
        correlation_id: the ticket or trace that the job, and the jobs it enqueues, carry.
        tags: added to those of the task.
        headers: travel with the job and with the jobs that it enqueues: a place for a trace context.
        connection: a connection of the caller's: the job commits or rolls back with the caller's rows.
        """
        if timeout is not None:
            self.require_endable("timeout")
        options = CallOptions(
            tenant, queue, priority, delay, run_at, deadline, timeout, unique, job_key, correlation_id, tags,
            connection, headers,
        )  # fmt: skip
        return BoundTask(self, options)


class FunctionTask(Task[P, R_co], Generic[P, R_co, D, V_co]):
    """A task as its decorator returns it: it is called as the function is, with the context where it takes one."""

    def __call__(self, *args: D.args, **kwargs: D.kwargs) -> V_co:
        """Run the function here and now, without a job."""
        if self.signature.takes_context and not (args and isinstance(args[0], Context)):
            message = f"{self.name}(...) needs the context of a run, and a direct call has none."
            hint = (
                f"Enqueue it: {self.name}.enqueue(...). In a test: the fixture `drain` of haulwright.testing runs it."
            )
            raise Refused(message, hint=hint)
        value: V_co = self.function(*args, **kwargs)
        return value


class Decorator(Protocol):
    """What `app.task(...)` returns: it turns a function into a task, and knows what a call must look like."""

    @overload
    def __call__(
        self, function: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]]
    ) -> FunctionTask[P, R, Concatenate[Context, P], Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[Context, P], R]
    ) -> FunctionTask[P, R, Concatenate[Context, P], R]: ...
    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, R]]
    ) -> FunctionTask[P, R, P, Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(self, function: Callable[P, R]) -> FunctionTask[P, R, P, R]: ...


class BoundTask(Generic[P, R_co]):
    """A task with the options of one call."""

    def __init__(self, task: Task[P, R_co], options: CallOptions) -> None:
        self._task = task
        self._options = options

    if not TYPE_CHECKING:  # as for Task

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(self, name)

    def __repr__(self) -> str:
        return f"<BoundTask {self._task.name}>"

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R_co]:
        """Write the job, and return its handle."""
        require_off_loop(f"{self._task.name}.enqueue", f"{self._task.name}.aenqueue(...)")
        return self._enqueue(self.build(args, kwargs))

    async def aenqueue(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R_co]:
        """The same without blocking the event loop."""
        job = self.build(args, kwargs)
        if self._options.connection is not None:
            return self._enqueue(job)  # a connection of the caller's belongs to the caller's thread
        return await asyncio.to_thread(self._enqueue, job)

    def call(self, *args: P.args, **kwargs: P.kwargs) -> Call[R_co]:
        """A call for `app.enqueue_many`."""
        if self._options.connection is not None:
            message = "A call for enqueue_many has no connection of its own: all of them are written together."
            raise Refused(message, hint="Write: app.enqueue_many(calls, connection=...)")
        return Call(self._task, self.build(args, kwargs))

    def enqueue_plain(self, values: Mapping[str, Any]) -> Handle[R_co]:
        """Write the job from JSON values, as a command line or another language gives them."""
        return self._enqueue(self.build_plain(values))

    def build_plain(self, values: Mapping[str, Any]) -> NewJob:
        """The job of JSON values, complete and checked. Nothing is written."""
        text, plain = self._task.signature.dump_plain(values)
        return self._job(text, plain)

    def build(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> NewJob:
        """The job of this call, complete and checked. Nothing is written."""
        text, plain = self._task.signature.dump(args, kwargs)
        return self._job(text, plain)

    def _enqueue(self, job: NewJob) -> Handle[R_co]:
        app, connection = self._task.app, self._options.connection
        store = app.store_on(connection)
        (entry,) = store.jobs.enqueue([job])
        app.note_enqueued([job], [entry])
        beside = store if connection is None else app.store_beside(connection)
        return Handle(beside, entry.id, created=entry.created, values=self._task.signature.result)

    def _job(self, text: str, plain: dict[str, Any]) -> NewJob:
        """The job of one call: what its task and its options say of all of them, and what its arguments say of it."""
        options, tenant, correlation_id = self._task.options, self._options.tenant, self._options.correlation_id
        running, headers = current.get(), self._common.headers
        if running is None and self._is_uniform:
            return NewJob._make((new_id(), self._task.name, text, *self._common[3:]))
        if running is not None:
            tenant = running.job.tenant if tenant is None else tenant
            if correlation_id is None:
                correlation_id = running.job.correlation_id or running.job.id
            if tenant == running.job.tenant:  # what one tenant wrote does not travel to another
                headers = inherit_headers(running.job.headers, headers)
        source = key_of_source(options.source(plain) if callable(options.source) else options.source)
        limit = options.concurrency
        return self._common._replace(
            id=new_id(),
            args=text,
            tenant=DEFAULT_TENANT if tenant is None else check_name("tenant", tenant),
            unique=_unique(options.unique, self._options.unique, plain),
            concurrency_key=None if limit is None else self._task.name + _suffix(limit.by, plain),
            source=None if source is None else check_name("source", source),
            correlation_id=None if correlation_id is None else check_key("correlation_id", correlation_id),
            event_fields=event_fields_of_arguments(options.event_fields, plain) if options.event_fields else None,
            headers=headers,
        )

    @cached_property
    def _is_uniform(self) -> bool:
        """Whether the jobs of all calls differ in their arguments only."""
        call, options = self._options, self._task.options
        by_arguments = (options.source, options.unique, options.concurrency, options.event_fields)
        by_call = (call.tenant, call.unique, call.correlation_id)
        return not any(by_arguments) and all(value is None for value in by_call)

    @cached_property
    def _common(self) -> NewJob:
        """What the jobs of all calls have in common."""
        call, options = self._options, self._task.options
        return NewJob(
            id="",
            task=self._task.name,
            args="",
            queue=check_name("queue", options.queue if call.queue is None else call.queue),
            priority=check_priority(options.priority if call.priority is None else call.priority),
            delay_us=0 if call.delay is None else us(call.delay, what="delay"),
            run_at=_run_at(call),
            max_attempts=options.retry.attempts,
            lease_us=options.lease_us,
            timeout_us=None if call.timeout is None else us(call.timeout, what="timeout", minimum=0.001),
            deadline_us=options.deadline_us if call.deadline is None else us(call.deadline, what="deadline", minimum=1),
            job_key=None if call.job_key is None else check_key("job_key", call.job_key),
            concurrency_limit=None if options.concurrency is None else options.concurrency.limit,
            tags=canonical(check_tags([*options.tags, *check_tags(call.tags)])),
            headers=dump_headers(call.headers),
            audited=options.audit,
        )


def planned_job(task: Task[..., Any], values: Mapping[str, Any], **changes: Any) -> NewJob:
    """The job that a schedule makes each time: without an id, from JSON values."""
    text, plain = task.signature.dump_plain(values)
    job = BoundTask(task, CallOptions())._job(text, plain)  # noqa: SLF001 - of this file
    return job._replace(id="", headers=None, **changes)


@overload
def key_of_source(source: str | HasKey | None) -> str | None: ...
@overload
def key_of_source(source: SourceOf | None) -> str | Callable[[dict[str, Any]], Any] | None: ...
def key_of_source(source: SourceOf | None) -> str | Callable[[dict[str, Any]], Any] | None:
    """What a job remembers of its source; a function of the arguments is left as it is."""
    return source if source is None or isinstance(source, str) or callable(source) else source.key


def _unique(declared: UniqueBy | None, own_key: str | None, plain: dict[str, Any]) -> Unique | None:
    if own_key is None and declared is None:
        return None
    key = (
        check_key("unique", own_key)
        if own_key is not None
        else _short(_key_value(declared.by if declared else True, plain))
    )
    if declared is None or declared.scope == "while_active":
        return Unique(key)
    if declared.scope == "forever":
        return Unique(key, "forever")
    return Unique(key, "period", declared.period_us)


def _suffix(by: By | None, plain: dict[str, Any]) -> str:
    return "" if by is None else f":{_short(_key_value(by, plain))}"


def _key_value(by: By, plain: dict[str, Any]) -> str:
    """The value of a key: of the arguments that it names, or of all of them."""
    if by is True:
        return canonical(plain)
    if callable(by):
        return check_key("key", by(plain))
    names = [by] if isinstance(by, str) else list(by)
    _require_arguments("unique or concurrency", names, list(plain))
    if len(names) == 1 and isinstance(plain[names[0]], str):
        return str(plain[names[0]])
    return canonical([plain[name] for name in names])


def _short(key: str) -> str:
    return key if key and len(key) <= KEY_SHOWN_CHARS else f"sha256:{digest(key)}"


def _require_arguments(what: str, by: By | None, arguments: Sequence[str]) -> None:
    """Refuse a key that is made of an argument which the function does not have."""
    if by is None or by is True or callable(by):
        return
    for name in [by] if isinstance(by, str) else by:
        if name not in arguments:
            raise InvalidValue(what, name, "is not an argument of the task", hint=f"It has: {', '.join(arguments)}.")


def _run_at(options: CallOptions) -> Instant | None:
    """The moment at which a call may first run, where it names one."""
    moment = options.run_at
    if moment is None:
        return None
    if options.delay is not None:
        raise InvalidValue("delay", options.delay, "is given beside run_at", hint="Say one of them.")
    if moment.tzinfo is None:
        raise InvalidValue("run_at", moment, "has no time zone", hint="Give it one: datetime.now(UTC) + ...")
    if not _FIRST_MOMENT <= moment < _LAST_MOMENT:
        raise InvalidValue("run_at", moment, f"is not in the years {_FIRST_MOMENT.year} to {_LAST_MOMENT.year - 1}")
    return (moment - _EPOCH) // timedelta(microseconds=1)
