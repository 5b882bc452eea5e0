"""The parent's side of child processes: a few warm children, each with at most one job."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from typing import TYPE_CHECKING

from haulwright.engine.outcome import Cancel, Died, Failure, Outcome, RetryLater
from haulwright.runtime.child import READY, Begin, ChildEnded, EndSignals, NotReady, serve
from haulwright.runtime.child_logging import ChildRecord
from haulwright.runtime.start import CannotStart, not_started

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
WHAT = "a child process"
TERM_SECONDS = 2.0
"""What a child gets to end by itself, before it is killed."""

_spawn = multiprocessing.get_context("spawn")


class ChildDidNotStart(CannotStart):
    """A child process ended before it could take a job. What it said of that stands above how it ended."""

    def __init__(self, exit_code: int | None, message: NotReady | None = None) -> None:
        self.exit_code = exit_code
        self.death = death_of(exit_code)
        super().__init__(WHAT, message.failure if message else Failure("ProcessDied", "", self.death))


class Children:
    """Runs jobs in processes of their own. Spawned, never forked: threads and connections do not survive a fork."""

    def __init__(self, app: Haulwright, observers: Observers) -> None:
        self._app = app
        self._observers = observers
        self._idle: list[_Child] = []
        self._lock = threading.Lock()

    def run(self, run: Run) -> None:
        """Run one job in a child and wait for its end; the death of the child is an outcome like any other.

        Raises `CannotStart` where there is no child to be had: the run has not begun.
        """
        child = self._take(run)
        try:
            run.started = time.monotonic()
            self._observers.started(run)
            answer = child.run(run)
        except BaseException:
            child.kill()  # it may be at this run still, and would answer for it when it has the next one
            raise
        self._give_back(child)
        self._conclude(run, child, answer)
        run.ended = time.monotonic()
        self._observers.ended(run)

    def close(self) -> None:
        """Let all children go."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.close()

    def _conclude(self, run: Run, child: _Child, answer: ChildEnded | NotReady | Died) -> None:
        match answer:
            case ChildEnded():
                run.outcome, run.context.settled = answer.outcome, answer.settled
                run.context.signals.has_asked_source = answer.has_asked_source
            case NotReady():
                error = CannotStart("its run in a child process", answer.failure)
                run.outcome = not_started(run.lease, error.failure)
                self._observers.not_started(run, run.outcome)
            case Died():
                self._observers.child_died(run, "run", child.process.exitcode, answer.failure.message)
                run.outcome = None if run.context.signals.lost else answer

    def _take(self, run: Run) -> _Child:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        try:
            return _Child(self._app)
        except ChildDidNotStart as error:
            self._observers.child_died(run, "start", error.exit_code, error.death)
            raise

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
        try:
            self._pipe, child_end = _spawn.Pipe()
        except OSError as error:
            raise CannotStart(WHAT, error) from error
        try:
            log_level = logging.getLogger().getEffectiveLevel()
            arguments = (app.address(), app.database_url, os.getpid(), child_end, log_level)
            self.process: SpawnProcess = _spawn.Process(
                target=serve, args=arguments, name="haulwright-child", daemon=True
            )
            self.process.start()
        except Exception as error:  # the machine has none to give, or the app cannot be found by name
            self._pipe.close()
            raise CannotStart(WHAT, error) from error
        finally:
            child_end.close()
        message = self._first_message()
        if message != READY:
            self.close()
            raise ChildDidNotStart(self.process.exitcode, message if isinstance(message, NotReady) else None)

    def run(self, run: Run) -> ChildEnded | NotReady | Died:
        """Give it a job and wait: for its answer, its death, or a reason to end it."""
        try:
            self._pipe.send(Begin(run.lease, run.context.worker))
            while (answer := self._answer(LOOK_SECONDS)) is None:
                if self._must_end(run):
                    return self._end(run)
        except (EOFError, OSError):
            return self._died()
        return answer

    def _answer(self, seconds: float) -> ChildEnded | NotReady | None:
        """What the child answers within a time, if it does. What its task logs meanwhile is written here."""
        until = time.monotonic() + seconds
        while self._pipe.poll(max(0.0, until - time.monotonic())):
            message: ChildEnded | NotReady | ChildRecord = self._pipe.recv()
            if not isinstance(message, ChildRecord):
                return message
            message.write()
            if time.monotonic() > until:  # it logs without an end: others are to be heard as well
                break
        return None

    def _first_message(self) -> object:
        try:
            return self._pipe.recv() if self._pipe.poll(START_SECONDS) else None
        except Exception:  # noqa: BLE001 - no word of ours: how the child ended tells the rest
            return None

    def close(self) -> None:
        """Close the pipe: the child ends by itself, or is ended."""
        self._pipe.close()
        self.process.join(TERM_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    def kill(self) -> None:
        """End it at once, whatever it does."""
        self.process.kill()
        self.close()

    def _must_end(self, run: Run) -> bool:
        signals = run.context.signals
        limit = run.timeout_seconds
        if limit is not None and run.seconds > limit:
            signals.timed_out = True
        return signals.lost or signals.timed_out or signals.cancelled is not None

    def _end(self, run: Run) -> ChildEnded | NotReady:
        """Tell the run to stop; if it does not listen, the process is terminated, then killed."""
        signals = run.context.signals
        self._pipe.send(EndSignals(signals.lost, signals.cancelled, signals.timed_out))
        answer = self._answer(TERM_SECONDS)
        if answer is not None:
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
