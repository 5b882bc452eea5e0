"""Several workers on one host: starts them, restarts those that die, and passes signals on. It touches no database."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.runtime.children import death_of

log = logging.getLogger("penstock.supervisor")

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
CALM_SECONDS = 60.0
"""A worker that lived so long starts again at once."""
LOOK_SECONDS = 0.1
SUPERVISOR_VARIABLE = "PENSTOCK_SUPERVISOR_PID"
"""Tells a worker whose death it must not outlive."""


@dataclass(slots=True)
class _Place:
    """One worker of several, again and again."""

    number: int
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = FIRST_PAUSE_SECONDS
    due: float = 0.0
    finished: bool = False


class Supervisor:
    """Keeps `count` workers running until it is told to stop, or until they end by themselves."""

    def __init__(self, command: Sequence[str], count: int) -> None:
        self._command = list(command)
        self._places = [_Place(number) for number in range(1, count + 1)]
        self._stopping = threading.Event()
        self.restarts = 0

    def run(self) -> int:
        """Supervise; returns the exit code of the whole: that of the first worker that failed for good, else 0."""
        before = {number: signal.signal(number, self._pass_on) for number in (signal.SIGTERM, signal.SIGINT)}
        worst = 0
        try:
            while not all(place.finished for place in self._places):
                for place in self._places:
                    worst = worst or self._look_after(place)
                time.sleep(LOOK_SECONDS)
        finally:
            self._end_all()
            for number, handler in before.items():
                signal.signal(number, handler)
        return worst

    def _look_after(self, place: _Place) -> int:
        """Start a worker whose time has come, and notice one that ended. Returns an exit code that ends it for good."""
        if place.finished:
            return 0
        if place.process is None:
            if self._stopping.is_set():
                place.finished = True
            elif time.monotonic() >= place.due:
                self._start(place)
            return 0
        code = place.process.poll()
        return 0 if code is None else self._ended(place, code)

    def _start(self, place: _Place) -> None:
        environment = {**os.environ, SUPERVISOR_VARIABLE: str(os.getpid())}
        place.process = subprocess.Popen(self._command, env=environment)  # noqa: S603 - our own command line
        place.started = time.monotonic()

    def _ended(self, place: _Place, code: int) -> int:
        place.process = None
        refused = code > 0 and time.monotonic() - place.started < FIRST_PAUSE_SECONDS
        if code == 0 or self._stopping.is_set():
            place.finished = True
            return 0
        if refused and self.restarts == 0:
            place.finished = True  # it never got anywhere: a wrong option, no database. Starting again will not help
            return code
        if time.monotonic() - place.started > CALM_SECONDS:
            place.pause = FIRST_PAUSE_SECONDS
        self.restarts += 1
        place.due = time.monotonic() + place.pause
        facts = {"place": place.number, "death": death_of(code), "pause_seconds": place.pause}
        log.error("a worker died and will be started again", extra={"facts": facts})
        place.pause = min(LONGEST_PAUSE_SECONDS, place.pause * 2)
        return 0

    def _pass_on(self, number: int, _frame: object) -> None:
        self._stopping.set()
        for place in self._places:
            if place.process is not None and place.process.poll() is None:
                place.process.send_signal(number)

    def _end_all(self) -> None:
        for place in self._places:
            if place.process is not None and place.process.poll() is None:
                place.process.kill()
                place.process.wait()


def worker_command(arguments: Sequence[str]) -> list[str]:
    """The command line of one worker of this very installation."""
    return [sys.executable, "-m", "penstock", *arguments]
