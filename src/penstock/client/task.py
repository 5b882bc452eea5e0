"""Tasks: plain functions that can also be enqueued. What a call may say is typed end to end."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from penstock.client.arguments import Signature
from penstock.client.context import current
from penstock.client.handle import Handle
from penstock.engine.ids import new_id
from penstock.engine.job import DEFAULT_TENANT, NewJob, Unique
from penstock.engine.keys import digest
from penstock.engine.payload import canonical
from penstock.engine.task import By, TaskOptions, UniqueBy, check_key, check_name, check_priority, check_tags
from penstock.engine.words import Duration, us
from penstock.errors import InvalidValue, WrongDoor

if TYPE_CHECKING:
    from penstock.client.app import Penstock

P = ParamSpec("P")
R = TypeVar("R")

KEY_SHOWN_CHARS = 200
"""A unique key of several values longer than this is kept as its digest."""


@dataclass(frozen=True, slots=True)
class Call(Generic[R]):
    """A call of a task that is ready to be enqueued."""

    task: Task[..., R]
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


class Task(Generic[P, R]):
    """A function under a name, with the options of its jobs. Calling it just calls the function."""

    def __init__(self, app: Penstock, function: Callable[..., Any], name: str, options: TaskOptions) -> None:
        functools.update_wrapper(self, function)
        self.app = app
        self.function = function
        self.name = check_name("task", name)
        self.options = options
        self.signature = Signature(function, name)
        self.is_async = inspect.iscoroutinefunction(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function here and now, without a job."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Task {self.name}>"

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        """Write a job that calls the function with these arguments, and return its handle."""
        return BoundTask(self, CallOptions()).enqueue(*args, **kwargs)

    async def aenqueue(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        """The same without blocking the event loop."""
        return await BoundTask(self, CallOptions()).aenqueue(*args, **kwargs)

    def call(self, *args: P.args, **kwargs: P.kwargs) -> Call[R]:
        """A call for `app.enqueue_many`."""
        return BoundTask(self, CallOptions()).call(*args, **kwargs)

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
    ) -> BoundTask[P, R]:
        """The task with other options for one call.

        `connection` is a connection of the caller's: the job commits or rolls back with the caller's rows.
        `job_key` plans a job once: a second one under that key is not made. `unique` overrides the unique key.
        """
        said = CallOptions(
            tenant, queue, priority, delay, run_at, deadline, timeout, unique, job_key, correlation_id, tags, connection
        )
        return BoundTask(self, said)


class BoundTask(Generic[P, R]):
    """A task with the options of one call."""

    def __init__(self, task: Task[P, R], said: CallOptions) -> None:
        self._task = task
        self._said = said

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        """Write the job, and return its handle."""
        _require_off_loop(self._task.name)
        return self._enqueue(self.build(args, kwargs))

    async def aenqueue(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        """The same without blocking the event loop."""
        return await asyncio.to_thread(self._enqueue, self.build(args, kwargs))

    def call(self, *args: P.args, **kwargs: P.kwargs) -> Call[R]:
        """A call for `app.enqueue_many`."""
        return Call(self._task, self.build(args, kwargs))

    def enqueue_plain(self, values: Mapping[str, Any]) -> Handle[R]:
        """Write the job from JSON values, as a command line or another language gives them."""
        text, plain = self._task.signature.dump_plain(values)
        return self._enqueue(self._job(text, plain))

    def build(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> NewJob:
        """The job of this call, complete and checked. Nothing is written."""
        text, plain = self._task.signature.dump(args, kwargs)
        return self._job(text, plain)

    def _enqueue(self, job: NewJob) -> Handle[R]:
        store = self._task.app.store_on(self._said.connection)
        (made,) = store.jobs.enqueue([job])
        return Handle(self._task.app.store, made.id, created=made.created, values=self._task.signature.result)

    def _job(self, text: str, plain: dict[str, Any]) -> NewJob:
        said, options = self._said, self._task.options
        running = current.get()
        parent = running.job if running is not None else None
        tenant = said.tenant or (parent.tenant if parent else DEFAULT_TENANT)
        inherited = (parent.correlation_id or parent.id) if parent else None
        limit = options.concurrency
        return NewJob(
            id=new_id(),
            task=self._task.name,
            args=text,
            tenant=check_name("tenant", tenant),
            queue=check_name("queue", said.queue or options.queue),
            priority=check_priority(options.priority if said.priority is None else said.priority),
            delay_us=0 if said.delay is None else us(said.delay, what="delay"),
            run_at=None if said.run_at is None else _instant(said.run_at),
            max_attempts=options.retry.attempts,
            lease_us=options.lease_us,
            timeout_us=None if said.timeout is None else us(said.timeout, what="timeout"),
            deadline_us=options.deadline_us if said.deadline is None else us(said.deadline, what="deadline"),
            job_key=None if said.job_key is None else check_key("job_key", said.job_key),
            unique=_unique(options.unique, said.unique, plain),
            concurrency_key=None if limit is None else self._task.name + _suffix(limit.by, plain),
            concurrency_limit=None if limit is None else limit.limit,
            source=options.source(plain) if callable(options.source) else options.source,
            correlation_id=said.correlation_id or inherited,
            tags=json.dumps(check_tags([*options.tags, *said.tags])),
            facts=_facts(options.facts, plain),
        )


def planned(task: Task[..., Any], values: Mapping[str, Any], **changes: Any) -> NewJob:
    """The job that a schedule makes each time: without an id, from JSON values."""
    text, plain = task.signature.dump_plain(values)
    job = BoundTask(task, CallOptions())._job(text, plain)  # noqa: SLF001 - of this file
    return replace(job, id="", **changes)


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
    missing = [name for name in names if name not in plain]
    if missing:
        raise InvalidValue("unique or concurrency", missing[0], f"is not an argument; there are {sorted(plain)}")
    if len(names) == 1 and isinstance(plain[names[0]], str):
        return str(plain[names[0]])
    return canonical([plain[name] for name in names])


def _short(key: str) -> str:
    return key if key and len(key) <= KEY_SHOWN_CHARS else f"sha256:{digest(key)}"


def _facts(names: Sequence[str], plain: Mapping[str, Any]) -> str | None:
    found = {name: plain[name] for name in names if name in plain}
    return canonical(found) if found else None


def _instant(moment: datetime) -> int:
    if moment.tzinfo is None:
        raise InvalidValue("run_at", moment, "has no time zone", hint="Give it one: datetime.now(UTC) + ...")
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    delta = moment - epoch
    return (delta.days * 86400 + delta.seconds) * 1_000_000 + delta.microseconds


def _require_off_loop(name: str) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    message = f"{name}.enqueue would block the event loop."
    raise WrongDoor(message, hint=f"Write: await {name}.aenqueue(...)")
