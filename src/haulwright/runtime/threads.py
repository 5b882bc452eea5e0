"""Threads for `def` tasks. Daemons: a task that never returns must not keep the process from ending."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from haulwright.clock import SECOND
from haulwright.errors import HaulwrightError
from haulwright.runtime.children import outcome_of_ending
from haulwright.runtime.loop import Loop
from haulwright.runtime.start import CannotStart

if TYPE_CHECKING:
    from haulwright.engine.job import LeaseKey
    from haulwright.engine.outcome import Outcome
    from haulwright.runtime.execution import Run
    from haulwright.runtime.observers import Observers

Work = Callable[[], None]

SHORT_SECONDS = 1.0
"""So long after the machine had no thread to give none is tried."""
LOST_THREADS_EXIT = 76
"""The exit code of a worker that ended because too many of its threads never came back: start a new one at once."""


class ThreadsLost(HaulwrightError):
    """A worker lost half of its threads to tasks that never return. It has drained: start a new one in its place."""

    exit_code = LOST_THREADS_EXIT

    def __init__(self, lost: int, concurrency: int) -> None:
        message = f"{lost} of {concurrency} threads are held by tasks that never return; the worker drained and ended."
        super().__init__(message, hint="Start it again, and give tasks that may hang isolation='process'.")
        self.lost = lost
        self.concurrency = concurrency


class LostThreads:
    """The threads that never came back from a run. Each holds a slot of its worker for as long as it does not."""

    def __init__(self, concurrency: int, observers: Observers) -> None:
        self._concurrency = concurrency
        self._observers = observers
        self._held: dict[LeaseKey, Run] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, run: Run) -> bool:
        return run.key in self._held

    @property
    def are_too_many(self) -> bool:
        """Whether half of the slots are gone: then a new worker is better than this one."""
        return len(self) * 2 >= self._concurrency

    def exhausted(self) -> ThreadsLost:
        """Tell that the worker ends because too many are lost, and return that for whoever started it."""
        self._observers.threads_exhausted(len(self), self._concurrency)
        return ThreadsLost(len(self), self._concurrency)

    def give_up(self, run: Run) -> Run | None:
        """Where a run is overdue, count its thread as lost and return how the run ends without it; once."""
        with self._lock:
            if not is_overdue(run) or run in self:
                return None
            self._held[run.key] = run
        ended = replace(run, ended=time.monotonic(), outcome=_outcome_without(run))
        run.context.signals.lost = True
        self._observers.thread_lost(run, len(self), self._concurrency)
        return ended

    def take_back(self, run: Run) -> bool:
        """Free the thread of a run that ends after it was given up; False where it was not.

        The job was settled without it, so its result is void.
        """
        with self._lock:
            was_lost = self._held.pop(run.key, None) is not None
        if was_lost:
            self._observers.thread_returned(run, len(self), self._concurrency)
        return was_lost


def is_overdue(run: Run) -> bool:
    """Whether a run goes on although its time limit and then a whole lease have passed. Children are ended instead."""
    limit = run.timeout_seconds
    if limit is None or run.needs_child or run.ended:
        return False
    return run.seconds > limit + run.lease.lease_us / SECOND


def _outcome_without(run: Run) -> Outcome | None:
    return None if run.context.settled else outcome_of_ending(run, "never returned")


class Threads:
    """At most `count` threads, started as they are needed, that do what they are given in order."""

    def __init__(self, count: int, observers: Observers) -> None:
        self._count = count
        self._observers = observers
        self._work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._started = 0
        self._idle = threading.Semaphore(0)
        self._shortage: CannotStart | None = None
        self._short_until = 0.0

    @property
    def size(self) -> int:
        """How many there may be: fewer, for a moment after the machine had no other to give."""
        return self._count if self.shortage is None else max(1, self._started)

    def submit(self, work: Work) -> bool:
        """Have this done by the next free thread; False where there is none, nor another to be had: see `shortage`.

        Calls come from one thread at a time.
        """
        if not self._idle.acquire(blocking=False) and self._started < self._count and not self._start_another():
            return False
        self._work.put(work)
        return True

    def _start_another(self) -> bool:
        if self.shortage is not None:
            return False
        try:
            _WorkThread(self._work, self._idle, self._observers).start(self._started + 1)
        except (RuntimeError, MemoryError) as error:  # "can't start new thread"
            self._shortage = CannotStart("a thread", error)
            self._short_until = time.monotonic() + SHORT_SECONDS
            return False
        self._started += 1
        return True

    @property
    def shortage(self) -> CannotStart | None:
        """Why there is no other thread; None after a while, for then another may be tried."""
        return self._shortage if time.monotonic() < self._short_until else None

    @property
    def has_any(self) -> bool:
        """Whether one of them is there, which takes what waits when it is free."""
        return self._started > 0

    def close(self) -> None:
        """Let the threads end when they have done what they were given."""
        for _ in range(self._started):
            self._work.put(None)


class _WorkThread:
    """One of them. Work that raises is done again after a pause: it is the executor's, and no task makes it raise."""

    def __init__(self, works: queue.SimpleQueue[Work | None], idle: threading.Semaphore, observers: Observers) -> None:
        self._works = works
        self._idle = idle
        self._unfinished: Work | None = None
        self._loop = Loop("run", self._step, observers)

    def start(self, number: int) -> None:
        """Begin."""
        self._loop.start(f"run-{number}")

    def _step(self) -> None:
        work = self._unfinished or self._works.get()
        if work is None:
            self._loop.end()
            return
        self._unfinished = work
        work()
        self._unfinished = None
        self._idle.release()
