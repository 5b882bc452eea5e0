"""The event loop of a worker, and the lanes on it: each runs one asynchronous job after the other.

A task of the loop for every job would cost more than all else that is done for it. A lane is such a task that lives on:
it takes the next job when one has ended. Another lane is opened when a job really waits for something and others could
begin meanwhile, so short jobs share a lane, and a thousand that wait have a thousand.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterable
from contextlib import suppress
from contextvars import copy_context
from types import coroutine
from typing import TYPE_CHECKING, Any

from haulwright.runtime.execution import run_async

if TYPE_CHECKING:
    from haulwright.runtime.execution import Run
    from haulwright.runtime.observers import Observers

STOP_SECONDS = 5.0
"""What runs get to clean up when they are ended."""
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
    """Runs asynchronous jobs. `on_ended` is called with each, on the loop, and returns those that may begin now."""

    def __init__(self, observers: Observers, on_ended: Callable[[Run], Iterable[Run]]) -> None:
        self._observers = observers
        self._on_ended = on_ended
        self._ready: deque[Run] = deque()
        self._is_opening = False
        """A lane was opened, and has not begun yet."""

    def start(self) -> None:
        """Begin."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="haulwright-loop", daemon=True)
        self._thread.start()

    def take(self, runs: list[Run]) -> None:
        """Run these; from any thread."""
        if runs:
            self._loop.call_soon_threadsafe(self._take, runs)

    def stop(self) -> None:
        """End all runs. What goes on after that has lost its right to."""
        ending = asyncio.run_coroutine_threadsafe(_end_tasks(), self._loop)
        with suppress(TimeoutError):
            ending.result(STOP_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOP_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()

    def _take(self, runs: Iterable[Run]) -> None:
        self._ready.extend(runs)
        self._open()

    def _open(self) -> None:
        """Open a lane, where something waits for one."""
        if self._ready and not self._is_opening:
            self._is_opening = True
            lane = Lane()
            lane.task = self._loop.create_task(self._work(lane))

    async def _work(self, lane: Lane) -> None:
        """Run after run, as long as there is one."""
        self._is_opening = False
        until = time.monotonic() + TURN_SECONDS
        while self._ready:
            lane.run = run = self._ready.popleft()
            run.lane = lane
            await _in_own_context(run_async(run, self._observers), self._open)
            lane.run = None
            self._ready.extend(self._on_ended(run))
            if lane.task is not None and lane.task.cancelling():
                break  # what ended this run must not reach the next one
            if run.ended > until:
                await asyncio.sleep(0)
                until = time.monotonic() + TURN_SECONDS
        self._open()


@coroutine
def _in_own_context(work: Coroutine[Any, Any, None], on_first_wait: Callable[[], None]) -> Generator[Any, Any, None]:
    """Run a coroutine with context variables of its own, as a task of its own would; say when it first waits."""
    step = copy_context().run
    try:
        awaited = step(work.send, None)
        on_first_wait()
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
