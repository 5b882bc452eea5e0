"""The hands of a worker: threads for `def` tasks, one event loop for `async def` tasks, children for what may kill.

A bound on all of them together. What waits for its turn begins where the run before it ended.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from penstock.runtime.children import Children
from penstock.runtime.execution import run_async, run_plain
from penstock.runtime.threads import Threads

if TYPE_CHECKING:
    from penstock.client.app import Penstock
    from penstock.runtime.execution import Run

STOP_SECONDS = 5.0
"""What runs on the event loop get to clean up when they are ended."""


class Hands:
    """Runs jobs, at most `concurrency` at once; the others wait their turn in order."""

    def __init__(self, app: Penstock, concurrency: int, ended: Callable[[Run], None]) -> None:
        self._concurrency = concurrency
        self._ended = ended
        self._waiting: deque[Run] = deque()
        self._active = 0
        self._lock = threading.Lock()
        self._threads = Threads(concurrency)
        self._children = Children(app)
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin."""
        self._loop = asyncio.new_event_loop()
        self._loop_thread = threading.Thread(target=self._loop.run_forever, name="penstock-loop", daemon=True)
        self._loop_thread.start()

    def take(self, runs: list[Run]) -> None:
        """Run these when their turn comes."""
        asynchronous = self._next(runs)
        if asynchronous:
            self._loop.call_soon_threadsafe(self._begin_async, asynchronous)

    def drop_waiting(self) -> list[Run]:
        """Give up the runs that have not begun."""
        with self._lock:
            dropped = list(self._waiting)
            self._waiting.clear()
        return dropped

    def stop(self) -> None:
        """End the asynchronous runs and let threads and children go. What still runs has lost its right to do so."""
        ending = asyncio.run_coroutine_threadsafe(self._end_tasks(), self._loop)
        with suppress(TimeoutError):
            ending.result(STOP_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._loop_thread.join(STOP_SECONDS)
        if not self._loop_thread.is_alive():
            self._loop.close()
        self._threads.close()
        self._children.close()

    def _next(self, more: list[Run]) -> list[Run]:
        """Begin as many runs as there is room for; the asynchronous ones are returned, to be begun on the loop."""
        asynchronous: list[Run] = []
        with self._lock:
            self._waiting.extend(more)
            while self._waiting and self._active < self._concurrency:
                run = self._waiting.popleft()
                self._active += 1
                if run.needs_child:
                    self._threads.submit(partial(self._on_thread, self._children.run, run))
                elif run.task.is_async:
                    asynchronous.append(run)
                else:
                    self._threads.submit(partial(self._on_thread, run_plain, run))
        return asynchronous

    def _on_thread(self, perform: Callable[[Run], None], run: Run) -> None:
        perform(run)
        with self._lock:
            self._active -= 1
        self._ended(run)
        self.take([])

    def _begin_async(self, runs: list[Run]) -> None:
        for run in runs:
            task = self._loop.create_task(self._on_loop(run))
            self._tasks.add(task)
            run.finish = partial(self._loop.call_soon_threadsafe, task.cancel)

    async def _on_loop(self, run: Run) -> None:
        await run_async(run)
        task = asyncio.current_task()
        if task is not None:
            self._tasks.discard(task)
        with self._lock:
            self._active -= 1
        self._ended(run)
        if self._waiting:
            self._begin_async(self._next([]))

    async def _end_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
