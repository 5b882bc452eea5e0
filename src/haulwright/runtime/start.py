"""Starting a run: what is done where the machine has no process, thread or file handle for it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from haulwright.engine.lease import start_wait_seconds
from haulwright.engine.outcome import NOT_STARTED, Failure, NotStarted
from haulwright.runtime.backoff import Backoff
from haulwright.runtime.failure import failure_of

if TYPE_CHECKING:
    from haulwright.engine.job import Lease


class CannotStart(Exception):
    """What a run needs to begin is not to be had: a thread, or a child process."""

    def __init__(self, what: str, why: Failure | BaseException) -> None:
        cause = why if isinstance(why, Failure) else failure_of(why)
        self.failure = replace(cause, code=NOT_STARTED, message=f"{what} could not be started: {cause.message}")
        super().__init__(self.failure.message)


def not_started(lease: Lease, failure: Failure) -> NotStarted:
    """How a run ends that did not begin: it waits longer each time, and pays with no attempt."""
    return NotStarted(failure, start_wait_seconds(lease.deferrals))


class StartPause:
    """After a run that could not be started nothing is claimed for a moment: the next one would fare no better."""

    def __init__(self) -> None:
        self._backoff: Backoff | None = None
        self._until = 0.0

    @property
    def seconds_left(self) -> float:
        """How long nothing should be claimed."""
        return 0.0 if self._backoff is None else max(0.0, self._until - time.monotonic())

    def failed(self) -> None:
        """A run could not be started: pause, longer each time."""
        if self.seconds_left:
            return  # several at once are one failure
        self._backoff = self._backoff or Backoff()
        self._until = time.monotonic() + self._backoff.next()

    def succeeded(self) -> None:
        """A run was started: there is room again."""
        self._backoff = None
