"""Tasks: plain functions that can also be enqueued. What a call may say is typed end to end."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast, overload

from haulwright.client.arguments import Signature
from haulwright.client.blocking import require_off_loop
from haulwright.client.calls import CallOptions, Calls, DeclaredTask, require_arguments
from haulwright.client.context import Context
from haulwright.client.declaration import require_function
from haulwright.client.handle import Handle
from haulwright.engine.durations import Duration
from haulwright.engine.job import NewJob
from haulwright.engine.names import check_name
from haulwright.engine.task import TaskOptions
from haulwright.engine.unknown_options import check_options, unknown_attribute
from haulwright.errors import Refused

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright

P = ParamSpec("P")
D = ParamSpec("D")
V_co = TypeVar("V_co", covariant=True)
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Call(Generic[R_co]):
    """A call of a task that is ready to be enqueued."""

    task: Task[..., R_co]
    job: NewJob


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
        self.declared = DeclaredTask(app, self.name, function, options, self.signature, self.is_async)
        """The same for runs."""
        self._bound: BoundTask[P, R_co] = BoundTask(self, CallOptions())
        for what, chosen in (("unique", options.unique), ("concurrency", options.concurrency)):
            require_arguments(what, None if chosen is None else chosen.by, self.signature.names)
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
        self._calls = Calls(task.declared, options)

    if not TYPE_CHECKING:  # as for Task

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(self, name)

    def __repr__(self) -> str:
        return f"<BoundTask {self._task.name}>"

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R_co]:
        """Write the job, and return its handle."""
        calls = self._calls
        name = calls.task.name
        require_off_loop(f"{name}.enqueue", f"{name}.aenqueue(...)")
        return calls.enqueue(calls.build(args, kwargs))

    async def aenqueue(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R_co]:
        """The same without blocking the event loop."""
        calls = self._calls
        job = calls.build(args, kwargs)
        if calls.options.connection is not None:
            return calls.enqueue(job)  # a connection of the caller's belongs to the caller's thread
        return await asyncio.to_thread(calls.enqueue, job)

    def call(self, *args: P.args, **kwargs: P.kwargs) -> Call[R_co]:
        """A call for `app.enqueue_many`."""
        if self._calls.options.connection is not None:
            message = "A call for enqueue_many has no connection of its own: all of them are written together."
            raise Refused(message, hint="Write: app.enqueue_many(calls, connection=...)")
        return Call(self._task, self._calls.build(args, kwargs))

    def enqueue_plain(self, values: Mapping[str, Any]) -> Handle[R_co]:
        """Write the job from JSON values, as a command line or another language gives them."""
        return self._calls.enqueue(self._calls.build_plain(values))

    def build_plain(self, values: Mapping[str, Any]) -> NewJob:
        """The job of JSON values, complete and checked. Nothing is written."""
        return self._calls.build_plain(values)

    def build(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> NewJob:
        """The job of this call, complete and checked. Nothing is written."""
        return self._calls.build(args, kwargs)


def planned_job(task: Task[..., Any], values: Mapping[str, Any], **changes: Any) -> NewJob:
    """The job that a schedule makes each time: without an id, from JSON values."""
    job = Calls(task.declared, CallOptions()).build_plain(values)
    return job._replace(id="", headers=None, **changes)
