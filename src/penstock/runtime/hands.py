"""The hands of a worker: threads for `def` tasks, one event loop for `async def` tasks, a bound on both together."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from penstock.runtime.execution import run_async, run_plain

if TYPE_CHECKING:
    from penstock.runtime.execution import Run

STOP_SECONDS = 5.0
"""What runs on the event loop get to clean up when they are ended."""


class Hands:
    """Runs jobs, at most `concurrency` at once; the others wait their turn in order."""

    def __init__(self, concurrency: int, ended: Callable[[Run], None]) -> None:
        self._concurrency = concurrency
        self._ended = ended
        self._waiting: deque[Run] = deque()
        self._active = 0
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(concurrency, thread_name_prefix="penstock-run")
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin."""
        self._loop = asyncio.new_event_loop()
        self._loop_thread = threading.Thread(target=self._loop.run_forever, name="penstock-loop", daemon=True)
        self._loop_thread.start()

    def take(self, runs: list[Run]) -> None:
        """Run these when their turn comes."""
        with self._lock:
            self._waiting.extend(runs)
        self._begin_some()

    def drop_waiting(self) -> list[Run]:
        """Give up the runs that have not begun."""
        with self._lock:
            dropped = list(self._waiting)
            self._waiting.clear()
        return dropped

    def stop(self) -> None:
        """End the asynchronous runs and let the threads go. What still runs has lost its right to do so."""
        ending = asyncio.run_coroutine_threadsafe(self._end_tasks(), self._loop)
        with suppress(TimeoutError):
            ending.result(STOP_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._loop_thread.join(STOP_SECONDS)
        if not self._loop_thread.is_alive():
            self._loop.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _begin_some(self) -> None:
        asynchronous: list[Run] = []
        with self._lock:
            while self._waiting and self._active < self._concurrency:
                run = self._waiting.popleft()
                self._active += 1
                if run.task.is_async:
                    asynchronous.append(run)
                else:
                    self._threads.submit(self._plain, run)
        if asynchronous:
            self._loop.call_soon_threadsafe(self._begin_async, asynchronous)

    def _plain(self, run: Run) -> None:
        run_plain(run)
        self._end(run)

    def _begin_async(self, runs: list[Run]) -> None:
        for run in runs:
            task = self._loop.create_task(run_async(run))
            run.finish = partial(self._loop.call_soon_threadsafe, task.cancel)
            self._tasks.add(task)
            task.add_done_callback(partial(self._end_async, run))

    def _end_async(self, run: Run, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._end(run)

    async def _end_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _end(self, run: Run) -> None:
        with self._lock:
            self._active -= 1
        self._ended(run)
        self._begin_some()
