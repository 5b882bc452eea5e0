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
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from haulwright.client.address import import_object
from haulwright.redaction import redact
from haulwright.runtime.child_logging import send_logs
from haulwright.runtime.execution import Run, run_async, run_plain
from haulwright.runtime.failure import failure_of
from haulwright.runtime.observers import SILENT

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from haulwright.client.app import Haulwright
    from haulwright.engine.job import Lease
    from haulwright.engine.outcome import Failure, Outcome
    from haulwright.stores.store import Store

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
    has_asked_source: bool = False


@dataclass(frozen=True, slots=True)
class NotReady:
    """From the child: it cannot take jobs, or not this one, which has not begun; and why."""

    failure: Failure


def serve(address: tuple[str, str], database_url: str, parent_pid: int, pipe: Connection, log_level: int) -> None:
    """Run jobs as they come, until the parent closes the pipe. What they log goes to the parent, from a level on."""
    die_with(parent_pid)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the parent decides what it means
    with ExitStack() as stack:
        try:
            app: Haulwright = stack.enter_context(import_object(*address).moved_to(database_url))
            child = _ChildSide(app, app.open_for_held_jobs(), pipe)
            threading.Thread(target=child.listen, name="haulwright-pipe", daemon=True).start()
        except BaseException as error:  # noqa: BLE001 - the parent tells of it, in words instead of a traceback
            with suppress(OSError):  # the parent is gone
                pipe.send(NotReady(failure_of(error)))
            return
        pipe.send(READY)
        send_logs(child.send, log_level)
        child.work()


class _ChildSide:
    """The child's side of the pipe."""

    def __init__(self, app: Haulwright, store: Store, pipe: Connection) -> None:
        self._app = app
        self._store = store
        self._pipe = pipe
        self._jobs: queue.SimpleQueue[Begin] = queue.SimpleQueue()
        self._run: Run | None = None
        self._sending = threading.Lock()

    def send(self, message: object) -> None:
        """Send a message, whole: the threads of a task may log while it ends."""
        with self._sending:
            self._pipe.send(message)

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
            self.send(self._run_job(self._jobs.get()))

    def _run_job(self, begin: Begin) -> ChildEnded | NotReady:
        self._run = None
        try:
            self._run = Run.of(begin.lease, self._app.find(begin.lease.task), self._store, begin.worker)
            if self._run.task.is_async:
                asyncio.run(run_async(self._run, SILENT))
            else:
                run_plain(self._run, SILENT)
        except Exception as error:  # noqa: BLE001 - as above
            if self._run is None or not self._run.started:
                return NotReady(failure_of(error))
        return _answer_of(self._run)


def _answer_of(run: Run) -> ChildEnded:
    text = None if run.error is None else redact("".join(traceback.format_exception(run.error)))
    return ChildEnded(run.outcome, run.context.settled, text, run.context.signals.has_asked_source)


def die_with(parent_pid: int) -> None:
    """Where the system offers it, be killed when the parent dies; the closed pipe does the same a moment later."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        os._exit(0)  # it died before we asked
