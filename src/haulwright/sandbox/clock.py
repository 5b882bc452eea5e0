"""The sandbox's own time: the world's, or a test's."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

LOOK_SECONDS = 0.02
"""How often a wait looks at a clock that somebody else moves."""


class SandboxClock:
    """Seconds since 1970 UTC from any source, and a way to move them."""

    def __init__(self, source: Callable[[], float] = time.time) -> None:
        self._source = source
        self._offset = 0.0
        self._moved = threading.Condition()

    @classmethod
    def standing(cls, at: float) -> SandboxClock:
        """A clock that shows this time until it is moved."""
        return cls(lambda: at)

    def now(self) -> float:
        """The time."""
        return self._source() + self._offset

    def advance(self, seconds: float) -> float:
        """Move forward (or back), wake everybody who waits, and return the new time."""
        with self._moved:
            self._offset += seconds
            self._moved.notify_all()
        return self.now()

    def set(self, at: float) -> None:
        """Make it this time now; a clock that runs goes on from there."""
        self.advance(at - self.now())

    def wait(self, over: Callable[[float], bool], patience_seconds: float) -> bool:
        """Wait until `over(now)`, for so many seconds of real time at most, and say whether it came true."""
        deadline = time.monotonic() + patience_seconds
        with self._moved:
            while not over(self.now()):
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._moved.wait(min(left, LOOK_SECONDS))
        return True
