"""The hands of a worker: threads for `def` tasks, lanes of a loop for `async def` tasks, children for what may kill.

A bound on all of them together. What waits for its turn begins where the run before it ended.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from penstock.runtime.children import Children
from penstock.runtime.execution import run_plain
from penstock.runtime.lanes import Lanes
from penstock.runtime.threads import Threads

if TYPE_CHECKING:
    from penstock.client.app import Penstock
    from penstock.runtime.execution import Run


class Hands:
    """Runs jobs, at most `concurrency` at once; the others wait their turn in order."""

    def __init__(self, app: Penstock, concurrency: int, ended: Callable[[Run], None]) -> None:
        self._concurrency = concurrency
        self._ended = ended
        self._waiting: deque[Run] = deque()
        self._active = 0
        self._lock = threading.Lock()
        self._threads = Threads(concurrency)
        self._lanes = Lanes(self._on_loop)
        self._children = Children(app)
        self._for_threads: deque[Run] = deque()
        """Runs that have their turn, and wait for a thread to begin them."""
        self._is_calling = False
        """A thread was called, and has not come yet."""

    def start(self) -> None:
        """Begin."""
        self._lanes.start()

    def take(self, runs: list[Run]) -> None:
        """Run these when their turn comes."""
        self._lanes.take(self._next(runs))

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
        self._lanes.stop()
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
            if self._for_threads and not self._is_calling:
                self._is_calling = True
                self._threads.submit(self._serve)
        return asynchronous

    def _serve(self) -> None:
        """What a thread does: run after run, as long as there is one. It calls the next thread before it begins."""
        called = True
        while (run := self._take_plain(called=called)) is not None:
            called = False
            perform = self._children.run if run.needs_child else run_plain
            perform(run)
            self._ended(run)
            self._lanes.take(self._next(ended=1))

    def _take_plain(self, *, called: bool) -> Run | None:
        with self._lock:
            run = self._for_threads.popleft() if self._for_threads else None
            if called:
                self._is_calling = False
            if self._for_threads and not self._is_calling:
                self._is_calling = True
                self._threads.submit(self._serve)
        return run

    def _on_loop(self, run: Run) -> list[Run]:
        self._ended(run)
        return self._next(ended=1)
