"""The event loop of a worker, and the lanes on it: each runs one asynchronous job after the other.

A task of the loop for every job would cost more than all else that is done for it. A lane is such a task that lives on:
it takes the next job when one has ended. Another lane is opened when a job really waits for something and others could
begin meanwhile, so short jobs share a lane, and a thousand that wait have a thousand.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from contextvars import copy_context
from types import coroutine
from typing import TYPE_CHECKING, Any

from haulwright.runtime.execution import run_async
from haulwright.runtime.loop import Loop

if TYPE_CHECKING:
    from haulwright.runtime.execution import Run
    from haulwright.runtime.observers import Observers

STOP_SECONDS = 5.0
"""What runs get to clean up when they are ended."""
OPEN_SECONDS = 1.0
"""After a lane could not be opened another is tried."""
TURN_SECONDS = 0.002
"""How long one lane may keep the loop with jobs that never wait."""


class Lane:
    """One task of the loop, and the run that it is at."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self.run: Run | None = None

    def end(self, run: Run) -> None:
        """End a run, from any thread; not the next one, should it have ended by itself."""
        if self.task is not None:
            with suppress(RuntimeError):  # the loop has ended, and the run with it
                self.task.get_loop().call_soon_threadsafe(self._end, run)

    def _end(self, run: Run) -> None:
        if self.run is run and self.task is not None:
            self.task.cancel()


class AsyncExecutor:
    """Runs the asynchronous jobs that are put into `ready`. Calls `on_ended` with each, on the loop.

    Where it was our own code that raised around a run, `adopt` is called instead: no run is dropped.
    """

    def __init__(
        self, observers: Observers, on_ended: Callable[[Run], None], adopt: Callable[[Run, BaseException], None]
    ) -> None:
        self._observers = observers
        self._on_ended = on_ended
        self._adopt = adopt
        self.ready: deque[Run] = deque()
        """Those that may begin; filled from any thread."""
        self._lanes: set[Lane] = set()
        self._is_opening = False
        """A lane was opened, and has not begun yet."""

    def start(self) -> None:
        """Begin."""
        self._loop = asyncio.new_event_loop()
        self._thread = Loop("loop", self._loop.run_forever, self._observers)
        self._thread.start()

    def wake(self) -> None:
        """Something is ready; from any thread."""
        self._loop.call_soon_threadsafe(self._open)

    @property
    def is_busy(self) -> bool:
        """Whether there is a lane, or something for one."""
        return bool(self.ready or self._lanes)

    def in_hand(self) -> list[Run]:
        """The runs that it has; from any thread."""
        return [*self.ready.copy(), *(lane.run for lane in self._lanes.copy() if lane.run is not None)]

    def stop(self) -> None:
        """End all runs. What goes on after that has lost its right to."""
        self._thread.wake()
        ending = asyncio.run_coroutine_threadsafe(_end_tasks(), self._loop)
        with suppress(TimeoutError):
            ending.result(STOP_SECONDS)
        self._thread.end()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOP_SECONDS)
        if not self._thread.is_alive:
            self._loop.close()

    def _open(self) -> None:
        """Open a lane, where something waits for one."""
        if not self.ready or self._is_opening:
            return
        lane = Lane()
        work = self._work(lane)
        try:
            lane.task = self._loop.create_task(work)
        except Exception as error:  # noqa: BLE001 - it is tried again: what is ready must not wait for ever
            work.close()
            self._observers.loop_failed("lane", error, OPEN_SECONDS)
            self._loop.call_later(OPEN_SECONDS, self._open)
        else:
            self._is_opening = True
            self._lanes.add(lane)

    async def _work(self, lane: Lane) -> None:
        self._is_opening = False
        try:
            await self._serve(lane)
        except Exception as error:  # noqa: BLE001 - another lane takes over
            self._observers.loop_failed("lane", error, 0.0)
        finally:
            self._lanes.discard(lane)
        self._open()

    async def _serve(self, lane: Lane) -> None:
        """Run after run, as long as there is one."""
        until = time.monotonic() + TURN_SECONDS
        while self.ready:
            lane.run = run = self.ready.popleft()
            run.lane = lane
            try:
                await _in_own_context(run_async(run, self._observers), self._open)
            except Exception as error:  # whatever the task raises is an outcome: this is ours
                self._adopt(run, error)
                raise
            lane.run = None
            self._on_ended(run)
            if lane.task is not None and lane.task.cancelling():
                break  # what ended this run must not reach the next one
            if run.ended > until:
                await asyncio.sleep(0)
                until = time.monotonic() + TURN_SECONDS


@coroutine
def _in_own_context(work: Coroutine[Any, Any, None], on_first_wait: Callable[[], None]) -> Generator[Any, Any, None]:
    """Run a coroutine with context variables of its own, as a task of its own would; say when it first waits."""
    step = copy_context().run
    try:
        awaited = step(work.send, None)
        try:
            on_first_wait()
        except Exception:  # noqa: BLE001 - whatever it is, the work that has begun must not be dropped for it
            asyncio.get_running_loop().call_later(OPEN_SECONDS, on_first_wait)
        while True:
            try:
                answer = yield awaited
            except GeneratorExit:
                step(work.close)
                raise
            except BaseException as error:  # noqa: BLE001 - handed on to the work, whatever it is
                awaited = step(work.throw, error)
            else:
                awaited = step(work.send, answer)
    except StopIteration:
        return


async def _end_tasks() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
