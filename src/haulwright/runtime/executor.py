"""Runs the jobs of a worker: `def` tasks on threads, `async def` tasks on a loop, what may kill in child processes.

A bound on all of them together. What waits for its turn begins where the run before it ended.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from haulwright.runtime.async_executor import AsyncExecutor
from haulwright.runtime.children import Children
from haulwright.runtime.execution import run_plain
from haulwright.runtime.threads import Threads

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.runtime.execution import Run
    from haulwright.runtime.observers import Observers


class Executor:
    """Runs jobs, at most `concurrency` at once; the others wait their turn in order."""

    def __init__(
        self, app: Haulwright, concurrency: int, observers: Observers, on_ended: Callable[[Run], None]
    ) -> None:
        self._concurrency = concurrency
        self._observers = observers
        self._on_ended = on_ended
        self._waiting: deque[Run] = deque()
        self._active = 0
        self._lock = threading.Lock()
        self._threads = Threads(concurrency)
        self._async_executor = AsyncExecutor(observers, self._next_on_loop)
        self._children = Children(app, observers)
        self._for_threads: deque[Run] = deque()
        """Runs that have their turn, and wait for a thread to begin them."""
        self._is_thread_called = False
        """A thread was called, and has not come yet."""

    def start(self) -> None:
        """Begin."""
        self._async_executor.start()

    def take(self, runs: list[Run]) -> None:
        """Run these when their turn comes."""
        self._async_executor.take(self._next(runs))

    @property
    def waiting(self) -> int:
        """How many runs wait for their turn."""
        return len(self._waiting)

    def drop_waiting(self, count: int) -> list[Run]:
        """Give up so many of the runs that wait for their turn, the last ones first."""
        with self._lock:
            return [self._waiting.pop() for _ in range(min(count, len(self._waiting)))]

    def drop_all(self) -> list[Run]:
        """Give up all runs that have not begun."""
        with self._lock:
            dropped = [*self._for_threads, *self._waiting]
            self._active -= len(self._for_threads)
            self._for_threads.clear()
            self._waiting.clear()
        return dropped

    def stop(self) -> None:
        """End the asynchronous runs and let threads and children go. What still runs has lost its right to do so."""
        self._async_executor.stop()
        self._threads.close()
        self._children.close()

    def _next(self, more: Iterable[Run] = (), *, ended: int = 0) -> list[Run]:
        """Note what ended, begin as many runs as there is room for, and return those that the loop must begin.

        Runs for threads are begun one by one: each thread brings the next one in, so that a crowd of short runs is
        worked off by the few threads that are awake, and a crowd of waiting ones still gets a thread each.
        """
        asynchronous: list[Run] = []
        with self._lock:
            self._active -= ended
            self._waiting.extend(more)
            while self._waiting and self._active < self._concurrency:
                run = self._waiting.popleft()
                self._active += 1
                if run.task.is_async and not run.needs_child:
                    asynchronous.append(run)
                else:
                    self._for_threads.append(run)
            if self._for_threads and not self._is_thread_called:
                self._is_thread_called = True
                self._threads.submit(self._serve)
        return asynchronous

    def _serve(self) -> None:
        """What a thread does: run after run, as long as there is one. It calls the next thread before it begins."""
        called = True
        while (run := self._take_for_thread(called=called)) is not None:
            called = False
            if run.needs_child:
                self._children.run(run)
            else:
                run_plain(run, self._observers)
            self._on_ended(run)
            self._async_executor.take(self._next(ended=1))

    def _take_for_thread(self, *, called: bool) -> Run | None:
        with self._lock:
            run = self._for_threads.popleft() if self._for_threads else None
            if called:
                self._is_thread_called = False
            if self._for_threads and not self._is_thread_called:
                self._is_thread_called = True
                self._threads.submit(self._serve)
        return run

    def _next_on_loop(self, run: Run) -> list[Run]:
        self._on_ended(run)
        return self._next(ended=1)
