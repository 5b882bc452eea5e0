"""A child process that runs one job at a time. It can kill nobody else, and its death is known at once.

The parent claims, renews, times and settles. The child gets the lease over a pipe, works under its fence on its own
connection, sends back how the run ended, and dies with its parent.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import queue
import signal
import sys
import threading
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

from haulwright.redaction import redact
from haulwright.runtime.execution import Run, run_async, run_plain
from haulwright.runtime.observers import SILENT

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from haulwright.client.app import Haulwright
    from haulwright.engine.job import Lease
    from haulwright.engine.outcome import Outcome

_PR_SET_PDEATHSIG = 1
READY = "ready"
"""From the child: it has imported the app and can take jobs."""


@dataclass(frozen=True, slots=True)
class Begin:
    """From the parent: run this job."""

    lease: Lease
    worker: str


@dataclass(frozen=True, slots=True)
class EndSignals:
    """From the parent: what the run must know at its next call."""

    lost: bool = False
    cancelled: str | None = None
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class ChildEnded:
    """From the child: how the run ended. No outcome means that it lost its lease, or settled itself."""

    outcome: Outcome | None
    settled: bool
    traceback: str | None


def serve(app: Haulwright, database_url: str, parent_pid: int, pipe: Connection) -> None:
    """Run jobs as they come, until the parent closes the pipe."""
    die_with(parent_pid)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the parent decides what it means
    with app.moved_to(database_url):
        child = _ChildSide(app, pipe)
        pipe.send(READY)
        threading.Thread(target=child.listen, name="haulwright-pipe", daemon=True).start()
        child.work()


class _ChildSide:
    """The child's side of the pipe."""

    def __init__(self, app: Haulwright, pipe: Connection) -> None:
        self._app = app
        self._pipe = pipe
        self._jobs: queue.SimpleQueue[Begin] = queue.SimpleQueue()
        self._run: Run | None = None

    def listen(self) -> None:
        """Take messages from the parent; without a parent there is nothing to live for."""
        while True:
            try:
                message = self._pipe.recv()
            except (EOFError, OSError):
                os._exit(0)
            if isinstance(message, Begin):
                self._jobs.put(message)
            elif self._run is not None:
                signals = self._run.context.signals
                signals.lost, signals.cancelled = message.lost, message.cancelled
                signals.timed_out = message.timed_out

    def work(self) -> None:
        """Run one job after the other."""
        while True:
            begin = self._jobs.get()
            self._run = Run.of(begin.lease, self._app.tasks[begin.lease.task], self._app.store, begin.worker)
            if self._run.task.is_async:
                asyncio.run(run_async(self._run, SILENT))
            else:
                run_plain(self._run, SILENT)
            self._pipe.send(_answer_of(self._run))


def _answer_of(run: Run) -> ChildEnded:
    text = None if run.error is None else redact("".join(traceback.format_exception(run.error)))
    return ChildEnded(run.outcome, run.context.settled, text)


def die_with(parent_pid: int) -> None:
    """Where the system offers it, be killed when the parent dies; the closed pipe does the same a moment later."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        os._exit(0)  # it died before we asked
