"""The processes of a run: each in a group of its own, so that all of it can be ended, whatever it started."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_SECONDS = 120.0
_STOP_SECONDS = 1.0


class BenchError(Exception):
    """A measurement could not be made; the others go on."""


class BudgetSpent(Exception):
    """A scenario took longer than it may; what it found so far counts."""


class Child:
    """A harness process, spoken to line by line."""

    def __init__(self, python: Path, role: str, module: str, environment: Mapping[str, str], log: Path) -> None:
        self._log = log
        with log.open("ab") as sink:
            self._process = subprocess.Popen(
                [python, "-m", "bench.harness", role, module],
                cwd=ROOT,
                env={**_neutral(os.environ), **environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                start_new_session=True,
            )
        _living.add(self)
        try:
            self._answer(PATIENCE_SECONDS)
        except BaseException:
            self.stop()
            raise

    def call(self, function: str, *args: Any, patience: float = PATIENCE_SECONDS, **options: Any) -> Any:
        """Call a function over there, and return what it returned."""
        self.tell(call=function, args=args, options=options)
        return self._answer(patience)

    def tell(self, **order: Any) -> None:
        """Say something that needs no answer."""
        stdin = _open(self._process.stdin)
        try:
            stdin.write(json.dumps(order).encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            raise BenchError(self._obituary()) from None

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """End the process and everything that it started."""
        if self not in _living:
            return
        _signal_group(self._process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_SECONDS)
        _signal_group(self._process, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                _open(pipe).close()
        _living.discard(self)

    def _answer(self, patience: float) -> Any:
        stdout = _open(self._process.stdout)
        until = time.monotonic() + patience
        poll = select.poll()  # which has no limit on the number of a handle
        poll.register(stdout, select.POLLIN)
        ready = poll.poll(max(0.0, until - time.monotonic()) * 1000)
        if not ready:
            raise BenchError(f"no answer within {patience:g} s: {self.last_words}")
        line = stdout.readline()
        if not line:
            raise BenchError(self._obituary())
        said = json.loads(line)
        if "error" in said:
            raise BenchError(said["error"])
        return said["value"]

    def _obituary(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_SECONDS)
        return f"the process ended with {self._process.poll()}: {self.last_words}"

    @property
    def last_words(self) -> str:
        """The last line that it wrote down."""
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"


_living: set[Child] = set()


def end_all() -> None:
    """End every process of this run."""
    for child in list(_living):
        child.stop()


@contextmanager
def ended_with_us() -> Iterator[None]:
    """Leave nothing running, neither after Ctrl-C nor after a polite kill."""
    before = signal.signal(signal.SIGTERM, _as_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        end_all()


@contextmanager
def budget(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer than this."""

    def spent(_number: int, _frame: FrameType | None) -> None:
        raise BudgetSpent(f"not done within its budget of {seconds:g} s")

    before = signal.signal(signal.SIGALRM, spent)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _neutral(environ: Mapping[str, str]) -> dict[str, str]:
    """Without what would change a contender behind our back."""
    changing = ("HAULWRIGHT_", "PG", "DATABASE_URL", "CELERY", "DJANGO", "DBOS", "dramatiq")
    return {name: value for name, value in environ.items() if not name.startswith(changing)}


def _as_interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise BenchError("the process has no pipe")
    return pipe
