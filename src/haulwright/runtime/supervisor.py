"""Several workers on one host: starts them, restarts those that die, and passes signals on. It touches no database."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from haulwright.errors import DatabaseLost
from haulwright.runtime.child import die_with
from haulwright.runtime.children import death_of
from haulwright.runtime.log_lines import SupervisorLines
from haulwright.runtime.threads import LOST_THREADS_EXIT

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
CALM_SECONDS = 60.0
"""A worker that lived so long is started again after the first pause."""
STEADY_SECONDS = 15.0
"""A worker that lived so long has come up: asking for a database that does not answer takes less."""
REFUSALS = frozenset({2, 4, 69})
"""The exit codes of a worker that cannot start as things are: refused, in conflict, without a database."""
LOOK_SECONDS = 0.1
SUPERVISOR_VARIABLE = "HAULWRIGHT_SUPERVISOR_PID"
"""Tells a worker whose death it must not outlive."""
_FORWARDED = (signal.SIGTERM, signal.SIGINT)
_INTERRUPTED = 130
_FAILED = 1


@dataclass(slots=True)
class _Place:
    """One worker of several, again and again."""

    number: int
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = FIRST_PAUSE_SECONDS
    due: float = 0.0
    refusal: int = 0
    """The exit code by which its last worker refused to start."""
    finished: bool = False

    @property
    def age(self) -> float:
        """How long its worker has lived."""
        return time.monotonic() - self.started


class Supervisor:
    """Keeps `count` workers running until it is told to stop, or until they all end by themselves."""

    def __init__(self, command: Callable[[int], Sequence[str]], count: int, *, until_empty: bool = False) -> None:
        self._command = command
        self._until_empty = until_empty
        self._lines = SupervisorLines()
        self._places = [_Place(number) for number in range(1, count + 1)]
        self._signals: list[int] = []
        """Those that came and are not passed on yet."""
        self._stopping = False
        self._came_up = False
        """Whether one of the workers ever got as far as to work: then a refusal may pass, and is tried again."""
        self._code = 0
        self.restarts = 0

    def run(self) -> int:
        """Supervise; returns the exit code of the whole: 0, or that of a worker that failed for good."""
        # Only noted here and passed on by the loop: a handler may interrupt the very start of a worker.
        before = {
            number: signal.signal(number, lambda received, _: self._signals.append(received)) for number in _FORWARDED
        }
        try:
            while not all(place.finished for place in self._places):
                self._forward_signals()
                for place in self._places:
                    self._look_after(place)
                time.sleep(LOOK_SECONDS)
        finally:
            self._kill_all()
            for number, handler in before.items():
                signal.signal(number, handler)
        self._lines.stopped(self._code, self.restarts)
        return self._code

    def _look_after(self, place: _Place) -> None:
        """Start a worker whose time has come, and notice one that ended."""
        if place.process is not None:
            code = place.process.poll()
            if code is not None:
                self._on_exit(place, place.process.pid, code)
            elif place.age > STEADY_SECONDS:
                self._came_up = True
        elif self._stopping:
            place.finished = True
        elif not place.finished and time.monotonic() >= place.due:
            self._start(place)

    def _start(self, place: _Place) -> None:
        environment = {**os.environ, SUPERVISOR_VARIABLE: str(os.getpid())}
        # A group of its own: Ctrl-C reaches the supervisor alone, and each worker hears of it once.
        place.process = subprocess.Popen(self._command(place.number), env=environment, process_group=0)  # noqa: S603 - our own command line
        place.started = time.monotonic()
        self._lines.started(place.number, place.process.pid)

    def _on_exit(self, place: _Place, pid: int, code: int) -> None:
        place.process = None
        place.refusal = code if code in REFUSALS else 0
        self._came_up = self._came_up or not place.refusal
        if self._stopping:
            place.finished = True
            self._code = self._code or _code_after_signal(code)
        elif code == DatabaseLost.exit_code:
            self._code = code
            place.finished = True
            self._lines.database_lost(place.number, pid)
            self._stop(signal.SIGTERM)
        elif code == 0 and self._until_empty:
            place.finished = True
        elif not self._came_up and all(each.refusal for each in self._places):
            self._code = code
            self._lines.cannot_start(place.number, pid, death_of(code))
            self._stop(signal.SIGTERM)
        else:
            self._restart_later(place, pid, code)

    def _restart_later(self, place: _Place, pid: int, code: int) -> None:
        """Another worker takes the place: soon after one that ended in order or lived long, else ever later."""
        in_order = code in {0, LOST_THREADS_EXIT}
        if in_order or place.age > CALM_SECONDS:
            place.pause = FIRST_PAUSE_SECONDS
        pause = 0.0 if code == LOST_THREADS_EXIT else place.pause
        self.restarts += 1
        place.due = time.monotonic() + pause
        self._lines.restarting(place.number, pid, death_of(code), pause, in_order=in_order)
        place.pause = min(LONGEST_PAUSE_SECONDS, place.pause * 2)

    def _forward_signals(self) -> None:
        while self._signals:
            self._stop(self._signals.pop(0))

    def _stop(self, number: int) -> None:
        """Start nothing more, and tell every worker; one that was told before hurries."""
        self._stopping = True
        processes = [place.process for place in self._places if place.process is not None]
        for process in processes:
            process.send_signal(number)
        if processes:
            self._lines.stopping(signal.Signals(number).name, len(processes))

    def _kill_all(self) -> None:
        """Nobody is left behind by a supervisor that fails."""
        for place in self._places:
            if place.process is not None:
                place.process.kill()
                place.process.wait()


def die_with_supervisor() -> None:
    """Where a supervisor started this process, do not outlive it."""
    supervisor = os.environ.pop(SUPERVISOR_VARIABLE, None)  # not for what this process will start itself
    if supervisor is not None:
        die_with(int(supervisor))


def _code_after_signal(code: int) -> int:
    """What an exit code means once the signal is out: a worker that dies of it had not begun to work."""
    if code in {-number for number in _FORWARDED} | {_INTERRUPTED, LOST_THREADS_EXIT}:
        return 0
    return code if code >= 0 else _FAILED
