"""The app: one database, the tasks that run on it, and the schedules that call them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar, Unpack, overload

from haulwright.client.address import address_of, import_object
from haulwright.client.blocking import require_off_loop
from haulwright.client.context import Context, current
from haulwright.client.handle import Handle
from haulwright.client.join import remember_enqueued
from haulwright.client.store_view import viewed_store
from haulwright.client.task import Call, Decorator, FunctionTask, Task, planned_job
from haulwright.client.task_options import TaskKeywords, task_options
from haulwright.clock import Clock
from haulwright.engine.durations import Duration
from haulwright.engine.schedule import ScheduleOptions, ScheduleSpec
from haulwright.engine.source import source_key, source_limits
from haulwright.engine.unknown_options import check_init_options, check_options, refuse_options, unknown_attribute
from haulwright.errors import InvalidValue, Refused, UnknownTask
from haulwright.settings import Settings
from haulwright.stores import migrations
from haulwright.stores.caller_connection import adopt_connection
from haulwright.stores.connect import open_database, open_existing, prepare
from haulwright.stores.store import Store

if TYPE_CHECKING:
    from haulwright.engine.job import Enqueued, Job, NewJob
    from haulwright.operations import Operations
    from haulwright.operations.principal import Principal
    from haulwright.runtime.observer import Observer
    from haulwright.runtime.observers import Observers
    from haulwright.sources.source import Source, WebOptions

P = ParamSpec("P")
R = TypeVar("R")


@check_init_options
class Haulwright:
    """One database with its tasks. Nothing is opened before it is needed."""

    def __init__(self, database_url: str | None = None, *, clock: Clock | None = None) -> None:
        self._url = database_url
        self._clock = clock
        self._store: Store | None = None
        self._unopened: Store | None = None
        """What stands beside connections of the caller's until this app opens one of its own."""
        self._opening = threading.Lock()
        self.tasks: dict[str, Task[..., Any]] = {}
        self.schedules: dict[str, tuple[ScheduleSpec, NewJob]] = {}
        self.sources: dict[str, Source] = {}
        self.applications: dict[str, Any] = {}
        """What stands on this app, by name: each is the application's own object."""
        self._tables: list[str] = []
        self._at_start: list[Task[[], Any]] = []
        self.observers: list[Observer] = []
        self._enqueue_observers: Observers | None = None
        self.is_importable = True
        """Whether another process finds this app by name; looked up when a worker starts."""

    @property
    def database_url(self) -> str:
        """Where the jobs are: what this app was given, else what the settings say."""
        return self._url or str(Settings.load()["database_url"])

    @property
    def store(self) -> Store:
        """The memory of this app, opened at the first use; inside `seen_through`, that view of it."""
        return viewed_store(self) or self.own_store

    @property
    def own_store(self) -> Store:
        """The memory of this app, through whatever view it is seen just now."""
        if self._store is None:
            with self._opening:
                if self._store is None:
                    self._store = Store.open(self.database_url, clock=self._clock, tables=self._tables)
        return self._store

    def open_for_held_jobs(self) -> Store:
        """Open the memory in a child of a worker: a schema that became newer is no reason not to finish a job."""
        self._store = Store.open(self.database_url, clock=self._clock, tables=self._tables, newer_schema=True)
        return self._store

    @contextmanager
    def existing_store(self) -> Iterator[Store | None]:
        """The memory as it stands: nothing is made and nothing migrated. None where there is no database yet."""
        if (view := viewed_store(self)) is not None:  # a request sees no more here than elsewhere
            yield view
            return
        database = open_existing(self.database_url, clock=self._clock)
        if database is None:
            yield None
            return
        with closing(database):
            yield Store(database)

    def store_on(self, connection: Any) -> Store:
        """The memory seen through a connection of the caller, or this app's own where none is given."""
        if connection is None:
            return self.store
        if self._store is not None:
            return Store(adopt_connection(connection, self._store.database))
        # Nothing is opened here: on SQLite it could wait for the lock that the caller itself holds.
        seen = self._unopened is not None
        store = self._unopened or Store(open_database(self.database_url, clock=self._clock))
        needed = () if seen else (migrations.ENGINE, *self._tables)
        adopted = Store(adopt_connection(connection, store.database, needed))
        self._unopened = store
        return adopted

    def store_beside(self, connection: Any) -> Store:
        """The memory that a handle asks later. Beside a connection of the caller's nothing is opened for it now."""
        return self.store if connection is None or self._unopened is None else self._unopened

    @property
    def tables(self) -> tuple[str, ...]:
        """The packages of applications whose tables this app needs."""
        return tuple(self._tables)

    @property
    def lease_lengths(self) -> dict[str, int]:
        """How long a lease of each task is as this process has it, in microseconds."""
        return {name: task.options.lease_us for name, task in self.tasks.items()}

    def add_tables(self, package: str) -> None:
        """Need the tables of an application: they are there when the database is opened, or said to be missing."""
        if package not in self._tables:
            self._tables.append(package)
            self._unopened = None  # these were not looked for yet
            if self._store is not None:
                prepare(self._store.database, (package,))

    @overload
    def task(
        self, function: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]], /
    ) -> FunctionTask[P, R, Concatenate[Context, P], Coroutine[Any, Any, R]]: ...
    @overload
    def task(
        self, function: Callable[Concatenate[Context, P], R], /
    ) -> FunctionTask[P, R, Concatenate[Context, P], R]: ...
    @overload
    def task(
        self, function: Callable[P, Coroutine[Any, Any, R]], /
    ) -> FunctionTask[P, R, P, Coroutine[Any, Any, R]]: ...
    @overload
    def task(self, function: Callable[P, R], /) -> FunctionTask[P, R, P, R]: ...
    @overload
    def task(self, /, **options: Unpack[TaskKeywords]) -> Decorator: ...
    def task(self, function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """Make a function a task. Its options are checked now, before any job depends on them.

        Written bare above a function, `@app.task`, or with options, `@app.task(queue="prices")`.
        """
        refuse_options("task", options, TaskKeywords.__annotations__)
        name = options.pop("name", None)
        checked = task_options(**options)

        def decorate(function: Callable[..., Any]) -> Any:
            return self._register(FunctionTask(self, function, name, checked))

        return decorate if function is None else decorate(function)

    @check_options("source", "credential", "headers", "limits", "policy", "private", "robots")
    def source(  # noqa: PLR0913 - the figures of a source, each with a name
        self,
        name: str,
        *,
        account: str | None = None,
        rate: str | None = None,
        burst: int | None = None,
        min_interval: Duration | None = None,
        concurrency: int | None = None,
        budget: int | str | None = None,
        breaker: str | None = "5 failures / 5 min",
        cache: Duration | bool | None = None,
        enabled: bool = True,
        **web: Unpack[WebOptions],
    ) -> Source:
        """Somebody else's server, or one account on it, with what it allows: a gate that all workers share.

        Checked now; made known to the database when a worker starts, or by the first request.
        """
        ttl = float(Settings.load()["cache_ttl_seconds"]) if cache is True else cache or None
        limits = source_limits(
            rate=rate, burst=burst, min_interval=min_interval, concurrency=concurrency, budget=budget, breaker=breaker,
            cache=ttl, enabled=enabled,
        )  # fmt: skip
        source: Source = _above("sources.source", "Source")(self, source_key(name, account), limits, **web)
        earlier = self.sources.get(source.key)
        if earlier is not None and earlier.figures != source.figures:
            hint = "Give one of them another name or account=."
            raise InvalidValue("source", source.key, "is declared twice", hint=hint)
        self.sources[source.key] = source
        return source

    def declare_sources(self) -> int:
        """Make the sources of this app known to the database, and return how many changed."""
        return sum(source.declare() for source in self.sources.values())

    def _register(self, task: Task[..., Any]) -> Task[..., Any]:
        earlier = self.tasks.get(task.name)
        if earlier is not None and _qualified_name(earlier.function) != _qualified_name(task.function):
            where = f"is declared twice, in {_qualified_name(earlier.function)} and in {_qualified_name(task.function)}"
            raise InvalidValue("task", task.name, where, hint="Give one of them another name=.")
        self.tasks[task.name] = task
        return task

    def find(self, name: str) -> Task[..., Any]:
        """The task of this name; an unknown one is refused with the nearest that there is."""
        if name in self.tasks:
            return self.tasks[name]
        near = get_close_matches(name, self.tasks, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Known are: {', '.join(sorted(self.tasks)) or 'none'}."
        raise UnknownTask(name, hint=hint)

    def enqueue_many(self, calls: Iterable[Call[R]], *, connection: Any = None) -> list[Handle[R]]:
        """Write many jobs at once and return their handles in order; uniqueness holds inside the batch too."""
        require_off_loop("enqueue_many", "app.aenqueue_many(...)")
        return self._enqueue_many(list(calls), connection)

    async def aenqueue_many(self, calls: Iterable[Call[R]]) -> list[Handle[R]]:
        """The same without blocking the event loop."""
        return await asyncio.to_thread(self._enqueue_many, list(calls), None)

    def _enqueue_many(self, calls: list[Call[R]], connection: Any) -> list[Handle[R]]:
        for call in calls:
            if call.task.app is not self:
                raise InvalidValue("task", call.task.name, "belongs to another app")
        jobs = [call.job for call in calls]
        enqueued = self.store_on(connection).jobs.enqueue(jobs)
        self.note_enqueued(jobs, enqueued)
        beside, pairs = self.store_beside(connection), zip(enqueued, calls, strict=True)
        return [Handle(beside, own.id, created=own.created, values=call.task.signature.result) for own, call in pairs]

    @overload
    def schedule(
        self, name: str, cron: str, task: Task[[], Any], **options: Unpack[ScheduleOptions]
    ) -> ScheduleSpec: ...
    @overload
    def schedule(
        self,
        name: str,
        cron: str,
        task: Task[..., Any],
        *,
        args: Mapping[str, Any],
        **options: Unpack[ScheduleOptions],
    ) -> ScheduleSpec: ...
    def schedule(
        self,
        name: str,
        cron: str,
        task: Task[..., Any],
        *,
        args: Mapping[str, Any] | None = None,
        **options: Unpack[ScheduleOptions],
    ) -> ScheduleSpec:
        """Call a task by the clock. Checked now; made known to the database when a worker starts."""
        refuse_options("schedule", options, ScheduleOptions.__annotations__)
        if not isinstance(task, Task):
            hint = "Give the function that @app.task stands above; options of its jobs go to the task or the schedule."
            raise InvalidValue("task", task, "is not a task", hint=hint)
        spec = ScheduleSpec.declare(name, cron, task.name, args=args, **options)
        runtime = spec.max_runtime_seconds
        if runtime is not None:
            task.require_endable("max_runtime")
        template = planned_job(
            task,
            args or {},
            tenant=spec.tenant,
            max_attempts=spec.attempts or task.options.retry.attempts,
            timeout_us=None if runtime is None else round(runtime * 1_000_000),
        )
        earlier = self.schedules.get(name)
        if earlier is not None and earlier[0] != spec:
            raise InvalidValue("schedule", name, "is declared twice", hint="Give one of them another name.")
        self.schedules[name] = (spec, template)
        return spec

    def declare_schedules(self) -> int:
        """Make the schedules of this app known to the database, and return how many changed."""
        return sum(self.store.schedules.declare(spec, template) for spec, template in self.schedules.values())

    def at_start(self, task: Task[[], Any]) -> None:
        """Have a job of this task enqueued when a worker of its queue starts; of a unique task one waits for all."""
        task.call()  # refused now where it needs arguments
        self._at_start.append(task)

    if not TYPE_CHECKING:  # a checker must go on to find names that are not there

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(self, name)

    def __repr__(self) -> str:
        return f"<Haulwright app of {len(self.tasks)} tasks>"

    def enqueue_at_start(self, queues: Iterable[str]) -> int:
        """Enqueue what a worker of these queues starts with, and return how many jobs that made."""
        calls = [task.call() for task in self._at_start if task.options.queue in set(queues)]
        return sum(handle.created for handle in self._enqueue_many(calls, None)) if calls else 0

    def job(self, job_id: str) -> Job:
        """A job by its id, as it stands now. `app.operations(principal)` shows one tenant's alone."""
        require_off_loop("app.job", "app.ajob(...)")
        return self.operations().jobs.get(job_id)

    async def ajob(self, job_id: str) -> Job:
        """The same without blocking the event loop."""
        return await asyncio.to_thread(self.operations().jobs.get, job_id)

    def operations(self, principal: Principal | None = None) -> Operations:
        """What one principal may see and do; without one, everything."""
        operations: Operations = _above("operations", "Operations")(self, principal or _admin())
        return operations

    def observe(self, observer: Observer) -> None:
        """Have an observer called for what this process enqueues, and for what happens in workers that it starts later.

        Several are called in the order in which they came.
        """
        if not isinstance(observer, _above("runtime.observer", "Observer")):
            hint = "Subclass haulwright.Observer, and give an instance."
            raise InvalidValue("observer", observer, "is not an Observer", hint=hint)
        self.observers.append(observer)
        self._enqueue_observers = None

    def note_enqueued(self, jobs: Sequence[NewJob], enqueued: Sequence[Enqueued]) -> None:
        """Tell the observers of jobs that were enqueued, and the run that enqueued them, if one did."""
        remember_enqueued(current.get(), jobs, enqueued)
        told = self._enqueue_observers or _above("runtime.observers", "Observers").logged("", self.observers)
        self._enqueue_observers = told  # read once: another thread may add an observer meanwhile
        told.enqueued(jobs, enqueued)

    def run_worker(self, **options: Any) -> int:
        """Run a worker in this process until it is stopped, or until what its options say; returns the jobs it ran.

        The options are those of `haulwright worker`: `queues`, `concurrency`, `poll_interval`, `grace`, `once`,
        `max_jobs`, `until_empty`, `exclusive`, `name`, and `signals=True` to drain on SIGTERM and SIGINT.
        """
        _above("operations.bulk_run", "bulk_task")(self)  # every worker has it, whatever its app declares
        return int(_above("runtime.launch", "run_worker")(self, **options))

    @contextmanager
    def moved_to(self, database_url: str, *, clock: Clock | None = None) -> Iterator[Self]:
        """Work on another database for a while, as a test does; afterwards all is as it was before."""
        before = (self._url, self._clock, self._store, self._unopened)
        self._url, self._clock, self._store, self._unopened = database_url, clock, None, None
        try:
            yield self
        finally:
            self.close()
            self._url, self._clock, self._store, self._unopened = before

    def __reduce__(self) -> tuple[Callable[[str, str], Any], tuple[str, str]]:
        """An app travels to another process by its name: there it is imported, not copied."""
        return import_object, self.address()

    def address(self) -> tuple[str, str]:
        """The module and the name under which another process finds this app."""
        return address_of(self)

    def find_address(self) -> bool:
        """Look whether another process finds this app by name: not one that a factory made and no module keeps."""
        try:
            self.address()
        except Refused:
            self.is_importable = False
        else:
            self.is_importable = True
        return self.is_importable

    def close(self) -> None:
        """Close what is open. The app can be used again."""
        if self._store is not None:
            self._store.close()
            self._store = None
        if self._unopened is not None:
            self._unopened.close()
            self._unopened = None


def _above(module: str, name: str) -> Any:
    """What stands above the client, fetched by its name when it is used: the client imports nothing of it."""
    return import_object(f"haulwright.{module}", name)


def _admin() -> Principal:
    principal: Principal = _above("operations.principal", "Principal").admin("app")
    return principal


def _qualified_name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
