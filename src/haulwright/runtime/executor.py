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
from haulwright.runtime.start import CannotStart, StartPause, not_started
from haulwright.runtime.threads import Threads

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.runtime.execution import Run
    from haulwright.runtime.observers import Observers


class _Slot:
    """A thread at work, and the run that it is at."""

    run: Run | None = None


class Executor:
    """Runs jobs, at most `concurrency` at once; the others wait their turn in order."""

    def __init__(
        self, app: Haulwright, concurrency: int, observers: Observers, on_ended: Callable[[Run], None]
    ) -> None:
        self._app = app
        self._concurrency = concurrency
        self._observers = observers
        self._on_ended = on_ended
        self._waiting: deque[Run] = deque()
        self._active = 0
        self._lock = threading.Lock()
        self._threads = Threads(concurrency, observers)
        self._slots: set[_Slot] = set()
        self._async_executor = AsyncExecutor(observers, self._next_on_loop, self._adopt_on_loop)
        self._children = Children(app, observers)
        self._for_threads: deque[Run] = deque()
        """Runs that have their turn, and wait for a thread to begin them."""
        self._is_thread_called = False
        """A thread was called, and has not come yet."""
        self._pause = StartPause()
        self._is_suspect_reported = False

    def start(self) -> None:
        """Begin."""
        self._async_executor.start()

    def take(self, runs: list[Run]) -> None:
        """Run these when their turn comes."""
        if not self._app.is_importable and not self._is_suspect_reported:
            self._report_suspect(runs)
        if self._next(runs):
            self._async_executor.wake()

    def _report_suspect(self, runs: list[Run]) -> None:
        """Tell, once, that a job whose worker died under it gets no process of its own here."""
        suspects = [run for run in runs if run.lease.losses and not run.needs_child]
        for run in suspects[:1]:
            self._is_suspect_reported = True
            self._observers.not_isolated(run)

    def in_hand(self) -> list[Run]:
        """The runs that it has, in the order in which a run goes through it: none that moves meanwhile is missed."""
        with self._lock:
            waiting = [*self._waiting, *self._for_threads]
        running = [slot.run for slot in self._slots.copy() if slot.run is not None]
        return [*waiting, *running, *self._async_executor.in_hand()]

    def nudge(self) -> None:
        """Mend what an error of ours may have left: a slot that is taken by nothing, or a run that nobody comes for."""
        with self._lock:
            if self._active and not (self._for_threads or self._slots or self._async_executor.is_busy):
                self._active = 0
        if self._next() or self._async_executor.ready:
            self._async_executor.wake()

    def adopt(self, run: Run, error: BaseException | None = None) -> None:
        """Let a run end that our own code dropped: it is settled where its outcome is known, else given back."""
        if run.has_outcome:
            self._on_ended(run)
        else:
            self._give_back(run, CannotStart("its run", error or RuntimeError("no part of the worker had it in hand")))

    @property
    def slots(self) -> int:
        """How many runs there may be at once: fewer than were asked for, where the machine has no more threads."""
        return min(self._concurrency, self._threads.size)

    @property
    def pause_seconds(self) -> float:
        """How long nothing should be claimed, for it could not be started."""
        return self._pause.seconds_left

    @property
    def waiting(self) -> int:
        """How many runs wait for their turn."""
        return len(self._waiting) + self._without_thread

    def drop_waiting(self, count: int) -> list[Run]:
        """Give up so many of the runs that wait for their turn, the last ones first."""
        with self._lock:
            dropped = [self._waiting.pop() for _ in range(min(count, len(self._waiting)))]
            without_thread = min(count - len(dropped), self._without_thread)
            self._active -= without_thread
            return dropped + [self._for_threads.pop() for _ in range(without_thread)]

    @property
    def _without_thread(self) -> int:
        """Runs that have their turn, but no thread will come before another run ends."""
        return len(self._for_threads) if self._threads.shortage is not None else 0

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

    def _next(self, more: Iterable[Run] = (), *, ended: int = 0) -> bool:
        """Note what ended, begin as many runs as there is room for, and say whether there are some for the event loop.

        Runs for threads are begun one by one: each thread brings the next one in, so that a crowd of short runs is
        worked off by the few threads that are awake, and a crowd of waiting ones still gets a thread each.
        """
        is_loop_needed = False
        unstarted: list[Run] = []
        with self._lock:
            self._active -= ended
            self._waiting.extend(more)
            while self._waiting and self._active < self._concurrency:
                run = self._waiting[0]  # it goes when another has it: whatever raises here, no run is dropped
                if run.task.is_async and not run.needs_child:
                    self._async_executor.ready.append(run)
                    is_loop_needed = True
                elif self._call_thread():
                    self._for_threads.append(run)
                else:
                    unstarted.append(self._waiting.popleft())
                    continue
                self._waiting.popleft()
                self._active += 1
            if self._for_threads:
                self._call_thread()
        for run in unstarted:
            self._give_back(run, self._threads.shortage or CannotStart("a thread", RuntimeError("there is none")))
        return is_loop_needed

    def _call_thread(self) -> bool:
        """Call a thread for what waits for one, unless one was called; False where there is none, nor one to be had."""
        if not self._is_thread_called:
            self._is_thread_called = self._threads.submit(self._serve)
        return self._is_thread_called or self._threads.has_any

    def _serve(self) -> None:
        """What a thread does: run after run, as long as there is one. It calls the next thread before it begins."""
        slot, called = _Slot(), True
        self._slots.add(slot)
        try:
            while (run := self._take_for_thread(called=called)) is not None:
                slot.run, called = run, False
                try:
                    self._run(run)
                finally:
                    if self._next(ended=1):
                        self._async_executor.wake()
        finally:
            self._slots.discard(slot)

    def _run(self, run: Run) -> None:
        try:
            if run.needs_child:
                self._children.run(run)
            else:
                run_plain(run, self._observers)
        except CannotStart as error:
            self._give_back(run, error)
        except BaseException as error:  # whatever a task raises is an outcome: this is ours
            self.adopt(run, error)
            raise
        else:
            self._pause.succeeded()
            self._on_ended(run)

    def _give_back(self, run: Run, error: CannotStart) -> None:
        """Let a run end that could not be started: its job waits, and no attempt is burnt."""
        run.outcome = not_started(run.lease, error.failure)
        self._pause.failed()
        self._observers.not_started(run, run.outcome)
        self._on_ended(run)

    def _take_for_thread(self, *, called: bool) -> Run | None:
        with self._lock:
            if called:
                self._is_thread_called = False
            if len(self._for_threads) > 1:
                self._call_thread()
            return self._for_threads.popleft() if self._for_threads else None

    def _next_on_loop(self, run: Run) -> None:
        try:
            self._on_ended(run)
        finally:
            self._next(ended=1)

    def _adopt_on_loop(self, run: Run, error: BaseException) -> None:
        try:
            self.adopt(run, error)
        finally:
            self._next(ended=1)
