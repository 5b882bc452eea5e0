"""Processes for somebody who writes an app: started together, told in one log, started again when its code changes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe
from threading import Thread
from typing import Final

from haulwright.runtime.children import death_of
from haulwright.runtime.supervisor import SUPERVISOR_VARIABLE

LOOK_SECONDS: Final = 0.1
SCAN_SECONDS: Final = 0.5
FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 10.0
CALM_SECONDS: Final = 30.0
"""A process that lived so long is started again after the first pause."""
STOP_SECONDS: Final = 5.0
"""What a process gets to end for a change of the code; then it is told again, and after as long it is killed."""
MOST_FILES: Final = 20_000
SKIPPED_FOLDERS: Final = frozenset({"__pycache__", "node_modules", "site-packages", "venv"})

SESSION_VARIABLE: Final = "HAULWRIGHT_DEV_SESSION"
"""The secret of a browser's session, so that it goes on when the web is started again."""

FileStates = dict[Path, tuple[int, int]]


@dataclass(slots=True)
class _Place:
    """One process of several, again and again."""

    name: str
    command: Sequence[str]
    process: subprocess.Popen[str] | None = None
    reader: Thread | None = None
    started: float = 0.0
    pause: float = FIRST_PAUSE_SECONDS
    due: float = 0.0


def new_session() -> dict[str, str]:
    """What a web process is given so that a browser's session outlives it."""
    return {SESSION_VARIABLE: token_urlsafe(32)}


class DevProcesses:
    """Keeps one process of each name running until a signal comes."""

    def __init__(
        self,
        commands: Mapping[str, Sequence[str]],
        folder: Path,
        write: Callable[[str], None],
        variables: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """`variables` are those of the environment that some of them have for themselves."""
        self._variables = variables or {}
        self._places = [_Place(name, command) for name, command in commands.items()]
        self._width = max(map(len, (*commands, "dev")))
        self._folder = folder
        self._write = write
        self._signals: list[int] = []

    def run(self) -> None:
        """Run until a signal comes, which ends them all in order; a second one hurries them."""
        handled = (signal.SIGTERM, signal.SIGINT)
        before = {number: signal.signal(number, lambda got, _: self._signals.append(got)) for number in handled}
        states, scanned = file_states(self._folder), time.monotonic()
        try:
            while not self._signals:
                for place in self._places:
                    self._look_after(place)
                if time.monotonic() - scanned > SCAN_SECONDS:
                    states, scanned = self._restart_on_change(states), time.monotonic()
                time.sleep(LOOK_SECONDS)
            self._tell("stopping")
            self._stop()
        finally:
            self._kill()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _look_after(self, place: _Place) -> None:
        """Start a process whose time has come, and tell of one that ended."""
        if place.process is None:
            if time.monotonic() >= place.due:
                self._start(place)
            return
        code = place.process.poll()
        if code is not None:
            age = time.monotonic() - place.started
            place.pause = FIRST_PAUSE_SECONDS if age > CALM_SECONDS else place.pause
            self._finish(place)
            self._tell(
                f"{place.name}: {death_of(code)}; it is started again in {place.pause:g} s, or when a file changes"
            )
            place.due = time.monotonic() + place.pause
            place.pause = min(LONGEST_PAUSE_SECONDS, place.pause * 2)

    def _start(self, place: _Place) -> None:
        environment = {**os.environ, SUPERVISOR_VARIABLE: str(os.getpid()), "PYTHONUNBUFFERED": "1"}
        environment |= self._variables.get(place.name, {})
        # A group of its own: Ctrl-C reaches this process alone, and each of the others hears of it once.
        place.process = subprocess.Popen(  # noqa: S603 - our own command line
            place.command,
            env=environment,
            process_group=0,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        place.started = time.monotonic()
        place.reader = Thread(target=self._copy_lines, args=(place.name, place.process), daemon=True)
        place.reader.start()

    def _copy_lines(self, name: str, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None  # noqa: S101 - as it was started
        with process.stdout as lines:
            for line in lines:
                self._tell(line.rstrip("\n"), name)

    def _tell(self, line: str, name: str = "dev") -> None:
        self._write(f"{name:{self._width}} | {line}")

    def _restart_on_change(self, states: FileStates) -> FileStates:
        """Start all of them again where a file has changed, once nothing changes any more."""
        now = file_states(self._folder)
        if now == states:
            return states
        changed = sorted(path for path in now.keys() | states.keys() if now.get(path) != states.get(path))
        others = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        self._tell(f"{changed[0].relative_to(self._folder)}{others} changed: starting again")
        while not self._signals:
            time.sleep(LOOK_SECONDS)
            states, now = now, file_states(self._folder)
            if now == states:
                break
        self._stop(within=STOP_SECONDS)
        for place in self._places:
            place.pause, place.due = FIRST_PAUSE_SECONDS, 0.0
        return now

    def _stop(self, *, within: float | None = None) -> None:
        """Tell all of them to end, and wait until they have. A signal that comes meanwhile is passed on."""
        rounds, handed_on, until = 0, len(self._signals), 0.0
        while running := [
            place for place in self._places if place.process is not None and place.process.poll() is None
        ]:
            is_late = rounds == 0 or (within is not None and time.monotonic() > until)
            if is_late or len(self._signals) > handed_on:
                handed_on, until = len(self._signals), time.monotonic() + (within or 0)
                rounds += is_late
                for place in running:
                    assert place.process is not None  # noqa: S101 - as they were chosen
                    place.process.send_signal(signal.SIGTERM if rounds <= 2 else signal.SIGKILL)  # noqa: PLR2004
            time.sleep(LOOK_SECONDS / 5)
        for place in self._places:
            self._finish(place)

    def _finish(self, place: _Place) -> None:
        """Let the last lines of a process be told, and forget it."""
        if place.reader is not None:
            place.reader.join(1)  # a process that it left behind may hold the pipe open
        if place.process is not None:
            place.process.wait()
        place.process = place.reader = None

    def _kill(self) -> None:
        """Nobody is left behind by a failure here."""
        for place in self._places:
            if place.process is not None:
                place.process.kill()
                self._finish(place)


def file_states(folder: Path) -> FileStates:
    """Each file of Python below a folder, with when it was changed and its size."""
    states: FileStates = {}
    for path in _python_files(folder):
        try:
            found = path.stat()
        except OSError:
            continue  # it went away just now
        states[path] = (found.st_mtime_ns, found.st_size)
        if len(states) >= MOST_FILES:
            break
    return states


def _python_files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS and not name.startswith("."))
        yield from (Path(place, name) for name in names if name.endswith(".py"))
