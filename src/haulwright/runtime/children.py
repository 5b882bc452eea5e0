"""The parent's side of child processes: a few warm children, each with at most one job."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from typing import TYPE_CHECKING

from haulwright.engine.outcome import Cancel, Died, Failure, Outcome, RetryLater, Snooze
from haulwright.runtime.child import READY, Begin, ChildEnded, EndSignals, serve

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from haulwright.client.app import Haulwright
    from haulwright.runtime.execution import Run
    from haulwright.runtime.observers import Observers

LOOK_SECONDS = 0.05
"""Between two looks at the signals of a run."""
START_SECONDS = 60.0
"""What a child gets to import the app."""
UNAVAILABLE_SECONDS = 30.0
"""How long a job waits whose child did not start: that is not its fault."""
GATE = "child process"
TERM_SECONDS = 2.0
"""What a child gets to end by itself, before it is killed."""

_spawn = multiprocessing.get_context("spawn")


class ChildDidNotStart(Exception):
    """A child process ended before it could take a job."""

    def __init__(self, exit_code: int | None) -> None:
        super().__init__(death_of(exit_code))
        self.exit_code = exit_code


class Children:
    """Runs jobs in processes of their own. Spawned, never forked: threads and connections do not survive a fork."""

    def __init__(self, app: Haulwright, observers: Observers) -> None:
        self._app = app
        self._observers = observers
        self._idle: list[_Child] = []
        self._lock = threading.Lock()

    def run(self, run: Run) -> None:
        """Run one job in a child and wait for its end; the death of the child is an outcome like any other."""
        run.started = time.monotonic()
        self._observers.started(run)
        try:
            self._run_in_child(run)
        finally:
            run.ended = time.monotonic()
            self._observers.ended(run)

    def close(self) -> None:
        """Let all children go."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.close()

    def _run_in_child(self, run: Run) -> None:
        try:
            child = self._take()
        except ChildDidNotStart as death:
            self._observers.child_died(run, "start", death.exit_code, str(death))
            run.outcome = Snooze(UNAVAILABLE_SECONDS, GATE)
            return
        try:
            answer = child.run(run)
        finally:
            self._give_back(child)
        if isinstance(answer, ChildEnded):
            run.outcome, run.context.settled = answer.outcome, answer.settled
            return
        self._observers.child_died(run, "run", child.process.exitcode, answer.failure.message)
        if not run.context.signals.lost:
            run.outcome = answer

    def _take(self) -> _Child:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return _Child(self._app)

    def _give_back(self, child: _Child) -> None:
        if not child.process.is_alive():
            child.close()
            return
        with self._lock:
            self._idle.append(child)


class _Child:
    """One child process and the pipe to it."""

    def __init__(self, app: Haulwright) -> None:
        self._pipe: Connection
        self._pipe, child_end = _spawn.Pipe()
        self.process: SpawnProcess = _spawn.Process(
            target=serve, args=(app, app.database_url, os.getpid(), child_end), name="haulwright-child", daemon=True
        )
        self.process.start()
        child_end.close()
        if not self._is_ready():
            self.close()
            raise ChildDidNotStart(self.process.exitcode)

    def run(self, run: Run) -> ChildEnded | Died:
        """Give it a job and wait: for its answer, its death, or a reason to end it."""
        try:
            self._pipe.send(Begin(run.lease, run.context.worker))
            while not self._pipe.poll(LOOK_SECONDS):
                if self._must_end(run):
                    return self._end(run)
            answer: ChildEnded = self._pipe.recv()
        except (EOFError, OSError):
            return self._died()
        return answer

    def _is_ready(self) -> bool:
        try:
            return self._pipe.poll(START_SECONDS) and self._pipe.recv() == READY
        except (EOFError, OSError):
            return False

    def close(self) -> None:
        """Close the pipe: the child ends by itself, or is ended."""
        self._pipe.close()
        self.process.join(TERM_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    def _must_end(self, run: Run) -> bool:
        signals = run.context.signals
        limit = run.timeout_seconds
        if limit is not None and run.seconds > limit:
            signals.timed_out = True
        return signals.lost or signals.timed_out or signals.cancelled is not None

    def _end(self, run: Run) -> ChildEnded | Died:
        """Tell the run to stop; if it does not listen, the process is terminated, then killed."""
        signals = run.context.signals
        self._pipe.send(EndSignals(signals.lost, signals.cancelled, signals.timed_out))
        if self._pipe.poll(TERM_SECONDS):
            answer: ChildEnded = self._pipe.recv()
            return answer
        self.process.terminate()
        self.process.join(TERM_SECONDS)
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        return ChildEnded(outcome_of_ending(run, "was killed"), settled=False, traceback=None)

    def _died(self) -> Died:
        self.process.join()
        return Died(Failure("ProcessDied", "process_died", death_of(self.process.exitcode)))


def death_of(exit_code: int | None) -> str:
    """How a process ended, in words."""
    if exit_code is not None and exit_code < 0:
        try:
            name = signal.Signals(-exit_code).name
        except ValueError:
            name = str(-exit_code)
        return f"its process was killed by signal {-exit_code} ({name})"
    return f"its process ended by itself with exit code {exit_code}"


def outcome_of_ending(run: Run, manner: str) -> Outcome | None:
    """What it means that the worker ended a run, or gave it up; None where the run has no right to an outcome."""
    signals = run.context.signals
    if signals.lost:
        return None
    if signals.cancelled is not None:
        return Cancel(signals.cancelled)
    return RetryLater(Failure("TimedOut", "timed_out", f"the run passed its time limit and {manner}"))
