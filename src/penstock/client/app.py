"""The app: one database, the tasks that run on it, and the schedules that call them."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, Self, TypedDict, TypeVar, Unpack, overload

from penstock.client.context import Context
from penstock.client.desk import Desk
from penstock.client.doors import require_off_loop
from penstock.client.handle import Handle
from penstock.client.principal import Principal
from penstock.client.task import Call, SourceOf, Task, key_of_source, planned, tell_enqueued
from penstock.clock import Clock
from penstock.engine.retry import Retry
from penstock.engine.schedule import Overlap, ScheduleSpec
from penstock.engine.source import figures, source_key
from penstock.engine.task import (
    LONGEST_LEASE_SECONDS,
    SHORTEST_LEASE_SECONDS,
    By,
    Concurrency,
    Isolation,
    TaskOptions,
    UniqueBy,
    check_tags,
)
from penstock.engine.words import Duration, us
from penstock.errors import InvalidValue, Refused, UnknownTask
from penstock.settings import Settings
from penstock.stores.borrowed import borrow
from penstock.stores.opening import prepare
from penstock.stores.store import Store

if TYPE_CHECKING:
    from penstock.engine.job import NewJob
    from penstock.sources.source import Source, WebOptions

P = ParamSpec("P")
R = TypeVar("R")

_NOT_SAID: Any = object()
"""Tells an option that was not given from one that was given as None."""


class Decorator(Protocol):
    """What `app.task(...)` returns: it turns a function into a task, and knows what a call must look like."""

    @overload
    def __call__(self, function: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]]) -> Task[P, R]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[Context, P], R]) -> Task[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, Coroutine[Any, Any, R]]) -> Task[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R]) -> Task[P, R]: ...


class ScheduleOptions(TypedDict, total=False):
    """How a schedule behaves, for those who check types: the words of `Penstock.schedule`."""

    tz: str
    coalesce: bool
    misfire_grace: Duration | None
    overlap: Overlap
    max_runtime: Duration | None
    attempts: int | None
    tenant: str


class Penstock:
    """One database with its tasks. Nothing is opened before it is needed."""

    def __init__(self, database_url: str | None = None, *, clock: Clock | None = None) -> None:
        self._url = database_url
        self._clock = clock
        self._store: Store | None = None
        self._opening = threading.Lock()
        self.tasks: dict[str, Task[..., Any]] = {}
        self.schedules: dict[str, tuple[ScheduleSpec, NewJob]] = {}
        self.sources: dict[str, Source] = {}
        self.applications: dict[str, Any] = {}
        """What stands on this app, by name: each is the application's own object."""
        self._tables: list[str] = []
        self._at_start: list[Task[[], Any]] = []

    @property
    def database_url(self) -> str:
        """Where the jobs are: what this app was given, else what the settings say."""
        return self._url or str(Settings.load()["database_url"])

    @property
    def store(self) -> Store:
        """The memory of this app, opened at the first use."""
        if self._store is None:
            with self._opening:
                if self._store is None:
                    self._store = Store.open(self.database_url, clock=self._clock, tables=self._tables)
        return self._store

    def store_on(self, connection: Any) -> Store:
        """The memory seen through a connection of the caller, or this app's own where none is given."""
        return self.store if connection is None else Store(borrow(connection, self.store.database))

    @property
    def tables(self) -> tuple[str, ...]:
        """The packages of applications whose tables this app needs."""
        return tuple(self._tables)

    def add_tables(self, package: str) -> None:
        """Need the tables of an application: they are there when the database is opened, or said to be missing."""
        if package not in self._tables:
            self._tables.append(package)
            if self._store is not None:
                prepare(self._store.database, (package,))

    def task(  # noqa: PLR0913 - the options of a task, each with a name
        self,
        *,
        name: str | None = None,
        queue: str = "default",
        priority: int = 0,
        source: SourceOf | None = None,
        unique: By | UniqueBy | None = None,
        concurrency: int | Concurrency | None = None,
        retry: Retry | int | None = None,
        timeout: Duration | None = None,
        deadline: Duration | None = _NOT_SAID,
        lease: Duration = 120,
        isolation: Isolation = "thread",
        tags: Sequence[str] = (),
        facts: Sequence[str] = (),
    ) -> Decorator:
        """Make a function a task. Its options are checked now, before any job depends on them."""
        lease_us = us(lease, what="lease", minimum=SHORTEST_LEASE_SECONDS, maximum=LONGEST_LEASE_SECONDS)
        chosen: dict[str, Any] = {}
        if deadline is not _NOT_SAID:
            chosen["deadline_us"] = None if deadline is None else us(deadline, what="deadline", minimum=1)
        if isinstance(unique, UniqueBy):
            _ = unique.period_us  # parsed when it is needed, and refused now
        options = TaskOptions(
            queue=queue,
            priority=priority,
            source=key_of_source(source),
            unique=unique if isinstance(unique, UniqueBy) or unique is None else UniqueBy(unique),
            concurrency=Concurrency(concurrency) if isinstance(concurrency, int) else concurrency,
            retry=Retry(retry) if isinstance(retry, int) else retry or Retry(),
            timeout_us=None if timeout is None else us(timeout, what="timeout", minimum=0.001),
            lease_us=lease_us,
            isolation=isolation,
            tags=check_tags(tags),
            facts=tuple(facts),
            **chosen,
        )

        def decorate(function: Callable[..., Any]) -> Any:
            return self._register(Task(self, function, name or function.__name__, options))

        return decorate

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
        above = import_module("penstock.sources.source")  # by its name, for the client does not know the manners
        ttl = float(Settings.load()["cache_ttl_seconds"]) if cache is True else cache or None
        allowed = figures(
            rate=rate, burst=burst, min_interval=min_interval, concurrency=concurrency, budget=budget, breaker=breaker,
            cache=ttl, enabled=enabled,
        )  # fmt: skip
        made: Source = above.Source(self, source_key(name, account), allowed, **web)
        known = self.sources.get(made.key)
        if known is not None and known.figures != made.figures:
            raise InvalidValue(
                "source", made.key, "is declared twice", hint="Give one of them another name or account=."
            )
        self.sources[made.key] = made
        return made

    def declare_sources(self) -> int:
        """Make the sources of this app known to the database, and return how many changed."""
        return sum(source.declare() for source in self.sources.values())

    def _register(self, task: Task[..., Any]) -> Task[..., Any]:
        known = self.tasks.get(task.name)
        if known is not None and _place(known.function) != _place(task.function):
            where = f"is declared twice, in {_place(known.function)} and in {_place(task.function)}"
            raise InvalidValue("task", task.name, where, hint="Give one of them another name=.")
        self.tasks[task.name] = task
        return task

    def find(self, name: str) -> Task[..., Any]:
        """The task of this name; an unknown one is refused with the nearest that there is."""
        if name in self.tasks:
            return self.tasks[name]
        near = get_close_matches(name, self.tasks, n=1)
        known = f"Did you mean {near[0]!r}?" if near else f"Known are: {', '.join(sorted(self.tasks)) or 'none'}."
        raise UnknownTask(name, hint=known)

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
        made = self.store_on(connection).jobs.enqueue([call.job for call in calls])
        tell_enqueued([call.job for call in calls], made)
        return [
            Handle(self.store, one.id, created=one.created, values=call.task.signature.result)
            for one, call in zip(made, calls, strict=True)
        ]

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
    def schedule(  # noqa: PLR0913 - the options of a schedule, each with a name
        self,
        name: str,
        cron: str,
        task: Task[..., Any],
        *,
        tz: str = "UTC",
        coalesce: bool = True,
        misfire_grace: Duration | None = 300,
        overlap: Overlap = "skip",
        max_runtime: Duration | None = None,
        attempts: int | None = None,
        tenant: str = "default",
        args: Mapping[str, Any] | None = None,
    ) -> ScheduleSpec:
        """Call a task by the clock. Checked now; made known to the database when a worker starts."""
        spec = ScheduleSpec.declare(
            name, cron, task.name, tz=tz, coalesce=coalesce, misfire_grace=misfire_grace, overlap=overlap,
            max_runtime=max_runtime, attempts=attempts, tenant=tenant, args=args,
        )  # fmt: skip
        runtime = spec.max_runtime_seconds
        template = planned(
            task,
            args or {},
            tenant=tenant,
            max_attempts=attempts or task.options.retry.attempts,
            timeout_us=None if runtime is None else round(runtime * 1_000_000),
        )
        known = self.schedules.get(name)
        if known is not None and known[0] != spec:
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

    def enqueue_at_start(self, queues: Iterable[str]) -> int:
        """Enqueue what a worker of these queues starts with, and return how many jobs that made."""
        calls = [task.call() for task in self._at_start if task.options.queue in set(queues)]
        return sum(handle.created for handle in self._enqueue_many(calls, None)) if calls else 0

    def desk(self, principal: Principal | None = None) -> Desk:
        """What one principal may see and do; without one, everything."""
        return Desk(self.store, principal or Principal.admin("app"))

    def run_worker(self, **options: Any) -> int:
        """Run a worker in this process until it is stopped, or until what its options say; returns the jobs it ran."""
        above = import_module("penstock.runtime.worker")  # by its name, for the client does not know the worker
        return int(above.run_worker(self, **options))

    @contextmanager
    def moved_to(self, database_url: str, *, clock: Clock | None = None) -> Iterator[Self]:
        """Work on another database for a while, as a test does; afterwards all is as it was before."""
        before = (self._url, self._clock, self._store)
        self._url, self._clock, self._store = database_url, clock, None
        try:
            yield self
        finally:
            self.close()
            self._url, self._clock, self._store = before

    def __reduce__(self) -> tuple[Callable[[str, str], Penstock], tuple[str, str]]:
        """An app travels to another process by its name: there it is imported, not copied."""
        return _import, self.address()

    def address(self) -> tuple[str, str]:
        """The module and the name under which another process finds this app."""
        modules = sorted(sys.modules.items(), key=lambda item: item[0] == "__main__")
        for module_name, module in modules:
            for name, value in list(getattr(module, "__dict__", {}).items()):
                if value is self:
                    return module_name, name
        message = "This app cannot be found by name in any module."
        raise Refused(message, hint="Make it a variable of a module: app = Penstock()")

    def close(self) -> None:
        """Close what is open. The app can be used again."""
        if self._store is not None:
            self._store.close()
            self._store = None


def _import(module: str, name: str) -> Penstock:
    app: Penstock = getattr(import_module(module), name)
    return app


def _place(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
