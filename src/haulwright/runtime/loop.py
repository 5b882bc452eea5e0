"""A loop that cannot die: a step is done again and again; whatever it raises, the next one follows after a pause."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from haulwright.errors import HaulwrightError
from haulwright.runtime.backoff import LONGEST_SECONDS, Backoff
from haulwright.stores.error_kinds import is_of_database

if TYPE_CHECKING:
    from haulwright.runtime.observed import LoopStuck
    from haulwright.runtime.observers import Observers

STUCK_SECONDS = 60.0
"""A loop that fails for so long is stuck. Half of the default lease: what its worker holds is given back before anybody
could take it for lost; and longer than a shortage that passes."""
STUCK_FAILURES = 10
"""So often at least: a process that was stopped for a while has not failed meanwhile."""
BREAK_SECONDS = 3 * LONGEST_SECONDS
"""A failure that comes so long after the one before it has nothing to do with it."""
STOP_SECONDS = 10.0
"""How long is waited for a loop to end. One that hangs in a call of the database ends with its process."""
BROKEN_EXIT = 70
"""The exit code of a worker that ended because one of its loops was stuck."""


class WorkerBroken(HaulwrightError):
    """A part of a worker failed again and again. It gave back what it held: start a new one in its place."""

    exit_code = BROKEN_EXIT

    def __init__(self, event: LoopStuck) -> None:
        often = f"failed {event.failures} times in {event.seconds:.0f} s"
        message = f"The {event.loop} loop {often}, the last time with {event.error}; the worker gave back and ended."
        super().__init__(message, hint="Start it again. If it ends like this again, it is a bug: report that error.")
        self.loop = event.loop
        self.failures = event.failures


class Loop:
    """Does a step until it is told to end, on a thread of its own (`start`) or on the caller's (`run`).

    A step returns how long to pause before the next one. What it raises is told and counted: as trouble of the database
    where it is that, which passes however long it lasts; else as a failure of the loop. A vital loop that does nothing
    but fail is stuck: that is told, and ends its worker.
    """

    def __init__(  # noqa: PLR0913 - what differs from loop to loop, each with a name
        self,
        name: str,
        step: Callable[[], float | None],
        observers: Observers,
        *,
        is_vital: bool = True,
        longest_pause: Callable[[], float] = lambda: LONGEST_SECONDS,
        on_end: Callable[[], object] = lambda: None,
    ) -> None:
        self.name = name
        self._step = step
        self._observers = observers
        self._is_vital = is_vital
        self._longest_pause = longest_pause
        self._on_end = on_end
        self._is_ending = False
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._backoff = Backoff()
        self._is_failing = False
        self._noted = 0
        """How many failures were noted so far, of whatever kind."""
        self._failed_at = float("-inf")
        """When it last failed for a reason of its own, on the monotonic clock."""
        self._failing_since = 0.0
        self._failures = 0
        """How often it has failed since then, without a break."""

    def start(self, thread_name: str = "") -> None:
        """Begin, on a thread of its own."""
        name = f"haulwright-{thread_name or self.name}"
        thread = threading.Thread(target=self._run_on_thread, name=name, daemon=True)
        thread.start()
        self._thread = thread

    @property
    def is_alive(self) -> bool:
        """Whether its thread has begun, and not ended."""
        return self._thread is not None and self._thread.is_alive()

    def wake(self) -> None:
        """Do the next step now."""
        self._wake.set()

    def end(self) -> None:
        """Begin no further step. For whoever does not wait, such as the step itself."""
        self._is_ending = True
        self._wake.set()

    def stop(self, timeout: float = STOP_SECONDS) -> None:
        """End, and wait for that, but no longer than this."""
        self.end()
        self.join(timeout)

    def join(self, timeout: float) -> None:
        """Wait for its end, at most so long."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def run(self) -> None:
        """Do step after step on this thread, until the end."""
        while not self._is_ending:
            noted = self._noted
            try:
                pause = self._step()
            except Exception as error:  # noqa: BLE001 - whatever it is, the next step may fare better
                pause = self.note(error)
            else:
                if self._is_failing and self._noted == noted:
                    self._is_failing, self._failures, self._backoff = False, 0, Backoff()
            if pause:
                self._pause(pause)

    def note(self, error: BaseException, pause: float | None = None) -> float:
        """Tell of a failure, and return how long to pause. It never raises: what failed may take the telling along."""
        self._is_failing = True
        self._noted += 1
        try:
            if pause is None:
                pause = min(self._backoff.next(), self._longest_pause())
            self._note(error, pause)
        except Exception:  # noqa: BLE001 - there is nobody left to tell
            return LONGEST_SECONDS if pause is None else pause
        return pause

    def _note(self, error: BaseException, pause: float) -> None:
        self._observers.failed(self.name, error, pause)
        if is_of_database(error):
            self._failures = 0  # an outage may last for hours, and ends no worker
            return
        now = time.monotonic()
        before, self._failed_at = self._failed_at, now
        if not self._failures or now - before > BREAK_SECONDS:
            self._failing_since, self._failures = now, 0
        self._failures += 1
        seconds = now - self._failing_since
        if self._is_vital and self._failures >= STUCK_FAILURES and seconds >= STUCK_SECONDS and not self._is_ending:
            self._observers.loop_stuck(self.name, error, self._failures, seconds)

    def _pause(self, seconds: float) -> None:
        self._wake.wait(seconds)
        self._wake.clear()

    def _run_on_thread(self) -> None:
        while not self._is_ending:
            try:
                self.run()
            except BaseException as error:  # noqa: BLE001 - SystemExit too: on a thread of ours it ends nothing
                self._pause(self.note(error))
        try:
            self._on_end()
        except BaseException as error:  # noqa: BLE001 - the thread is at its end, and says so in order
            self.note(error)
