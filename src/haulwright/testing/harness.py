"""The harness: what the fixture `haulwright` gives to a test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from haulwright.client.app import Haulwright
from haulwright.client.blocking import require_off_loop
from haulwright.client.handle import Handle
from haulwright.client.task import Task
from haulwright.clock import SettableClock
from haulwright.engine.durations import Duration, seconds
from haulwright.engine.job import Enqueued, Job, NewJob
from haulwright.errors import InvalidValue, Refused
from haulwright.stores.connect import open_database
from haulwright.stores.jobs import Jobs
from haulwright.stores.store import Store
from haulwright.testing.enqueued import enqueued, listed, matching
from haulwright.testing.faults import Crash, FailingEffect, Faults
from haulwright.testing.runner import Runner

P = ParamSpec("P")
R = TypeVar("R")

START: Final = datetime(2024, 1, 1, tzinfo=UTC)
"""When every test begins: a Monday, midnight."""
MOST_RUNS: Final = 10_000
"""More runs than this in one drain are a task that enqueues itself for ever."""
INLINE_QUEUE: Final = "haulwright-inline"
"""Where a job waits that is run by itself."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Harness:
    """A database, a clock and a worker without threads, all in the hands of one test."""

    def __init__(self, database_url: str, folder: Path) -> None:
        self.database_url = database_url
        self.clock = SettableClock(folder / "haulwright-clock")
        self.freeze(START)
        self.store = Store(open_database(database_url, clock=self.clock))
        self.store.migrate()
        self._apps: list[Haulwright] = []
        self._moved = ExitStack()
        self._faults = Faults()
        self._runner = Runner(self.store, self._faults, self._find)
        self._at_once = False

    def use(self, app: Haulwright) -> Haulwright:
        """Point an app at the database and the clock of this test; afterwards it is where it was before."""
        if app not in self._apps:
            self._moved.enter_context(app.moved_to(self.database_url, clock=self.clock))
            app.store.jobs = _WatchedJobs(app.store, self._enqueued)
            self._apps.append(app)
            app.declare_schedules()
            app.declare_sources()
        return app

    @property
    def now(self) -> datetime:
        """The time of this test."""
        return _EPOCH + timedelta(microseconds=self.clock.now())

    def freeze(self, moment: datetime) -> None:
        """Make it this time. Time stands still until it is moved again."""
        if moment.tzinfo is None:
            raise InvalidValue("freeze", moment, "has no time zone", hint="Write datetime(2024, 5, 1, tzinfo=UTC).")
        self.clock.set((moment - _EPOCH) // timedelta(microseconds=1))

    def advance(self, length: Duration) -> datetime:
        """Let time pass, "1 min" or 60 seconds, and return the new time. Nothing runs before the next drain."""
        self.clock.advance(seconds(length, what="advance"))
        return self.now

    def drain(self, limit: int | None = None) -> int:
        """Run what is due on this thread until nothing is due any more, and return how many runs that were.

        It begins with what every worker does: lost leases are taken back and due slots are opened. A crash ends it.
        """
        require_off_loop("haulwright.drain", "haulwright.adrain()")
        for app in self._apps:
            app.declare_schedules()
        self._runner.upkeep()
        runs = 0
        while limit is None or runs < limit:
            outcome = self._runner.step(self._queues(), self._tasks())
            if outcome is None:
                break
            runs += 1
            if not outcome[1]:
                break
            if runs >= MOST_RUNS:
                message = f"After {runs} runs there is still something due."
                raise Refused(message, hint="Does a task enqueue itself for ever? Give drain a limit.")
        return runs

    async def adrain(self, limit: int | None = None) -> int:
        """The same from an asynchronous test."""
        return await asyncio.to_thread(self.drain, limit)

    def run_inline(self, task: Task[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Enqueue one job, run it and nothing else, and return its result or raise what it raised."""
        job = task.using(queue=INLINE_QUEUE).build(args, kwargs)
        (enqueued,) = self.store.jobs.enqueue([job])
        outcome = self._runner.step([INLINE_QUEUE], self._tasks())
        if outcome is not None and outcome[0].error is not None:
            raise outcome[0].error
        return Handle[R](self.store, enqueued.id, created=enqueued.created, values=task.signature.result).result(0)

    @contextmanager
    def immediate(self) -> Iterator[None]:
        """Run every job as soon as it is enqueued, before `enqueue` returns."""
        before, self._at_once = self._at_once, True
        try:
            yield
        finally:
            self._at_once = before

    @contextmanager
    def crash(self, task: Task[..., Any] | str, *, after: str = "", before: str = "") -> Iterator[None]:
        """Kill the process of the next run of a task: nothing is settled, and its lease stays until it runs out.

        `after` an effect: it acted, and was not recorded. `after` a commit, or after="claim". `before` an effect or a
        commit, or before="settle". after="join": whom the job waits for is written, and it
        still runs.
        """
        if bool(after) == bool(before):
            raise InvalidValue("crash", after or None, "needs exactly one of after= and before=")
        crash = Crash(task if isinstance(task, str) else task.name, "after" if after else "before", after or before)
        self._faults.crashes.append(crash)
        try:
            yield
        finally:
            self._faults.crashes.remove(crash)
        if not crash.happened:
            raise AssertionError(f"No run of {crash.task} came to the moment {crash.when} {crash.moment!r}.")

    def fail_effect(self, name: str, error: BaseException | type[BaseException], *, times: int = 1) -> None:
        """Let the effects of this name raise an error instead of acting, so many times."""
        self._faults.failing.append(FailingEffect(name, error, times))

    def all_enqueued(self, task: Task[..., Any] | None = None) -> list[Job]:
        """Every job that this test enqueued, the oldest first, whatever became of it."""
        return enqueued(self.store, None if task is None else task.name)

    def assert_enqueued(self, task: Task[..., Any], /, **args: Any) -> Job:
        """The newest job of a task with these arguments among others; fails where there is none."""
        jobs = matching(self.store, task, args)
        if not jobs:
            raise AssertionError(f"{task.name} was not enqueued with {args}. {listed(self.store)}")
        return jobs[-1]

    def assert_not_enqueued(self, task: Task[..., Any], /, **args: Any) -> None:
        """Fails where there is a job of a task with these arguments among others."""
        if matching(self.store, task, args):
            raise AssertionError(f"{task.name} was enqueued with {args}. {listed(self.store)}")

    def close(self) -> None:
        """Let the apps go back to where they were."""
        self._moved.close()
        self.store.close()

    def _enqueued(self) -> None:
        if self._at_once:
            self.drain()

    def _find(self, name: str) -> Task[..., Any] | None:
        return next((app.tasks[name] for app in self._apps if name in app.tasks), None)

    def _tasks(self) -> list[str]:
        return sorted(name for app in self._apps for name in app.tasks)

    def _queues(self) -> list[str]:
        return [queue.name for queue in self.store.queues.counts()]


class _WatchedJobs(Jobs):
    """The jobs of an app in the harness, which tells it when some were enqueued and committed."""

    def __init__(self, store: Store, after_enqueue: Callable[[], None]) -> None:
        super().__init__(store.database, store.events, store.settlements, store.effects)
        self._after_enqueue = after_enqueue

    def enqueue(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Write jobs, then tell."""
        enqueued = super().enqueue(jobs)
        self._after_enqueue()
        return enqueued
