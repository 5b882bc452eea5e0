"""Tasks: plain functions that can also be enqueued. What a call may say is typed end to end."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeVar, overload

from penstock.client.arguments import Signature
from penstock.client.context import current
from penstock.client.doors import require_off_loop
from penstock.client.facts import facts_of_arguments
from penstock.client.handle import Handle
from penstock.clock import Instant
from penstock.engine.ids import new_id
from penstock.engine.job import DEFAULT_TENANT, Enqueued, NewJob, Unique
from penstock.engine.keys import digest
from penstock.engine.payload import canonical
from penstock.engine.task import By, TaskOptions, UniqueBy, check_key, check_name, check_priority, check_tags
from penstock.engine.words import Duration, us
from penstock.errors import InvalidValue, Refused

if TYPE_CHECKING:
    from penstock.client.app import Penstock

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class HasKey(Protocol):
    """A source, as far as a task knows it."""

    key: str


SourceOf = str | HasKey | Callable[[dict[str, Any]], str | HasKey]
"""The source of a task's jobs: a source, its key, or a function of the arguments that returns one of them."""

log = logging.getLogger("penstock.client")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

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


class Task(Generic[P, R_co]):
    """A function under a name, with the options of its jobs. Calling it just calls the function."""

    def __init__(self, app: Penstock, function: Callable[..., Any], name: str, options: TaskOptions) -> None:
        functools.update_wrapper(self, function)
        self.app = app
        self.function = function
        self.name = check_name("task", name)
        self.options = options
        self.signature = Signature(function, name)
        self.is_async = inspect.iscoroutinefunction(function)
        self._bound: BoundTask[P, R_co] = BoundTask(self, CallOptions())
        for what, chosen in (("unique", options.unique), ("concurrency", options.concurrency)):
            _require_arguments(what, None if chosen is None else chosen.by, self.signature.names)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function here and now, without a job."""
        return self.function(*args, **kwargs)

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
        connection: Any = None,
    ) -> BoundTask[P, R_co]:
        """The task with other options for one call.

        `connection` is a connection of the caller's: the job commits or rolls back with the caller's rows.
        `job_key` plans a job once: a second one under that key is not made. `unique` overrides the unique key.
        """
        said = CallOptions(
            tenant, queue, priority, delay, run_at, deadline, timeout, unique, job_key, correlation_id, tags, connection
        )
        return BoundTask(self, said)


class BoundTask(Generic[P, R_co]):
    """A task with the options of one call."""

    def __init__(self, task: Task[P, R_co], said: CallOptions) -> None:
        self._task = task
        self._said = said

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R_co]:
        """Write the job, and return its handle."""
        require_off_loop(f"{self._task.name}.enqueue", f"{self._task.name}.aenqueue(...)")
        return self._enqueue(self.build(args, kwargs))

    async def aenqueue(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R_co]:
        """The same without blocking the event loop."""
        job = self.build(args, kwargs)
        if self._said.connection is not None:
            return self._enqueue(job)  # a connection of the caller's belongs to the caller's thread
        return await asyncio.to_thread(self._enqueue, job)

    def call(self, *args: P.args, **kwargs: P.kwargs) -> Call[R_co]:
        """A call for `app.enqueue_many`."""
        if self._said.connection is not None:
            message = "A call for enqueue_many has no connection of its own: all of them are written together."
            raise Refused(message, hint="Write: app.enqueue_many(calls, connection=...)")
        return Call(self._task, self.build(args, kwargs))

    def enqueue_plain(self, values: Mapping[str, Any]) -> Handle[R_co]:
        """Write the job from JSON values, as a command line or another language gives them."""
        text, plain = self._task.signature.dump_plain(values)
        return self._enqueue(self._job(text, plain))

    def build(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> NewJob:
        """The job of this call, complete and checked. Nothing is written."""
        text, plain = self._task.signature.dump(args, kwargs)
        return self._job(text, plain)

    def _enqueue(self, job: NewJob) -> Handle[R_co]:
        store = self._task.app.store_on(self._said.connection)
        (made,) = store.jobs.enqueue([job])
        tell_enqueued([job], [made])
        return Handle(self._task.app.store, made.id, created=made.created, values=self._task.signature.result)

    def _job(self, text: str, plain: dict[str, Any]) -> NewJob:
        """The job of one call: what its task and its options say of all of them, and what its arguments say of it."""
        options, tenant, correlation_id = self._task.options, self._said.tenant, self._said.correlation_id
        running = current.get()
        if running is None and self._is_uniform:
            return NewJob._make((new_id(), self._task.name, text, *self._frame[3:]))
        if running is not None:
            tenant = tenant or running.job.tenant
            correlation_id = correlation_id or running.job.correlation_id or running.job.id
        source = key_of_source(options.source(plain) if callable(options.source) else options.source)
        limit = options.concurrency
        return self._frame._replace(
            id=new_id(),
            args=text,
            tenant=DEFAULT_TENANT if tenant is None else check_name("tenant", tenant),
            unique=_unique(options.unique, self._said.unique, plain),
            concurrency_key=None if limit is None else self._task.name + _suffix(limit.by, plain),
            source=None if source is None else check_name("source", source),
            correlation_id=None if correlation_id is None else check_key("correlation_id", correlation_id),
            facts=facts_of_arguments(options.facts, plain) if options.facts else None,
        )

    @cached_property
    def _is_uniform(self) -> bool:
        """Whether the jobs of all calls differ in their arguments only."""
        said, options = self._said, self._task.options
        by_arguments = (options.source, options.unique, options.concurrency, options.facts)
        by_call = (said.tenant, said.unique, said.correlation_id)
        return not any(by_arguments) and all(one is None for one in by_call)

    @cached_property
    def _frame(self) -> NewJob:
        """What the jobs of all calls have in common."""
        said, options = self._said, self._task.options
        return NewJob(
            id="",
            task=self._task.name,
            args="",
            queue=check_name("queue", said.queue or options.queue),
            priority=check_priority(options.priority if said.priority is None else said.priority),
            delay_us=0 if said.delay is None else us(said.delay, what="delay"),
            run_at=_run_at(said),
            max_attempts=options.retry.attempts,
            lease_us=options.lease_us,
            timeout_us=None if said.timeout is None else us(said.timeout, what="timeout", minimum=0.001),
            deadline_us=options.deadline_us if said.deadline is None else us(said.deadline, what="deadline", minimum=1),
            job_key=None if said.job_key is None else check_key("job_key", said.job_key),
            concurrency_limit=None if options.concurrency is None else options.concurrency.limit,
            tags=canonical(check_tags([*options.tags, *check_tags(said.tags)])),
        )


def tell_enqueued(jobs: Sequence[NewJob], enqueued: Sequence[Enqueued]) -> None:
    """One line about each job that was enqueued, or about the one that stood for it already."""
    if not log.isEnabledFor(logging.DEBUG):
        return
    for job, made in zip(jobs, enqueued, strict=True):
        facts = {"job": made.id, "task": job.task, "tenant": job.tenant, "attempt": f"0/{job.max_attempts}"}
        message = "job enqueued" if made.created else "job not enqueued: it exists"
        log.debug("%s", message, extra={"facts": facts | {"correlation": job.correlation_id}})


def planned(task: Task[..., Any], values: Mapping[str, Any], **changes: Any) -> NewJob:
    """The job that a schedule makes each time: without an id, from JSON values."""
    text, plain = task.signature.dump_plain(values)
    job = BoundTask(task, CallOptions())._job(text, plain)  # noqa: SLF001 - of this file
    return job._replace(id="", **changes)


@overload
def key_of_source(source: str | HasKey | None) -> str | None: ...
@overload
def key_of_source(source: SourceOf | None) -> str | Callable[[dict[str, Any]], Any] | None: ...
def key_of_source(source: SourceOf | None) -> str | Callable[[dict[str, Any]], Any] | None:
    """What a job remembers of its source; a function that tells it is left as it is."""
    return source if source is None or isinstance(source, str) or callable(source) else source.key


def _unique(declared: UniqueBy | None, said: str | None, plain: dict[str, Any]) -> Unique | None:
    if said is None and declared is None:
        return None
    key = check_key("unique", said) if said is not None else _short(_value(declared.by if declared else True, plain))
    if declared is None or declared.scope == "while_active":
        return Unique(key)
    if declared.scope == "forever":
        return Unique(key, "forever")
    return Unique(key, "period", declared.period_us)


def _suffix(by: By | None, plain: dict[str, Any]) -> str:
    return "" if by is None else f":{_short(_value(by, plain))}"


def _value(by: By, plain: dict[str, Any]) -> str:
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


def _require_arguments(what: str, by: By | None, known: Sequence[str]) -> None:
    """Refuse a key that is made of an argument which the function does not have."""
    if by is None or by is True or callable(by):
        return
    for name in [by] if isinstance(by, str) else by:
        if name not in known:
            raise InvalidValue(what, name, "is not an argument of the task", hint=f"It has: {', '.join(known)}.")


def _run_at(said: CallOptions) -> Instant | None:
    """The moment at which a call may first run, where it names one."""
    moment = said.run_at
    if moment is None:
        return None
    if said.delay is not None:
        raise InvalidValue("delay", said.delay, "is given beside run_at", hint="Say one of them.")
    if moment.tzinfo is None:
        raise InvalidValue("run_at", moment, "has no time zone", hint="Give it one: datetime.now(UTC) + ...")
    return (moment - _EPOCH) // timedelta(microseconds=1)
