"""Threads for `def` tasks. Daemons: a task that never returns must not keep the process from ending."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

Work = Callable[[], None]


class Threads:
    """At most `count` threads, started as they are needed, that do what they are given in order."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._started = 0
        self._idle = threading.Semaphore(0)

    def submit(self, work: Work) -> None:
        """Have this done by the next free thread. Calls come from one thread at a time."""
        self._work.put(work)
        if not self._idle.acquire(blocking=False) and self._started < self._count:
            self._started += 1
            threading.Thread(target=self._serve, name=f"penstock-run-{self._started}", daemon=True).start()

    def close(self) -> None:
        """Let the threads end when they have done what they were given."""
        for _ in range(self._started):
            self._work.put(None)

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            work()
            self._idle.release()
