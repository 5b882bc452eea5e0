"""Time enters by one door.

Every statement that needs the time takes a parameter `now`. In production that is None and the database's own clock
decides, so that no worker's clock can matter. Tests point all their processes at one file that holds the time.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from haulwright.errors import Refused

Instant = int
"""Microseconds since 1970 UTC."""

SECOND = 1_000_000

CLOCK_VARIABLE = "HAULWRIGHT_TEST_CLOCK"
TESTING_VARIABLE = "HAULWRIGHT_TESTING"


class Clock:
    """The database's clock: it says nothing, and each database uses its own."""

    def now(self) -> Instant | None:
        """The time to use instead of the database's, if any."""
        return None


class SettableClock(Clock):
    """One clock for all processes of a test: a file that holds the time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def now(self) -> Instant:
        """The time in the file."""
        return int(self._path.read_bytes())

    def set(self, now: Instant) -> None:
        """Make it this time, for everybody at once."""
        scratch = self._path.with_name(f"{self._path.name}.{os.getpid()}.new")
        scratch.write_bytes(b"%d" % now)
        scratch.replace(self._path)

    def advance(self, seconds: float) -> Instant:
        """Move forward (or back) and return the new time."""
        now = self.now() + round(seconds * SECOND)
        self.set(now)
        return now


def host_now() -> Instant:
    """The clock of this host. Only for what no lease, slot or retry depends on, and for SQLite, whose clock it is."""
    return time.time_ns() // 1000


def clock_from_environment() -> Clock:
    """The clock of this process: the database's, unless a test set one."""
    path = os.environ.get(CLOCK_VARIABLE)
    if not path:
        return Clock()
    if os.environ.get(TESTING_VARIABLE) != "1":
        message = f"{CLOCK_VARIABLE} is set, but this is not a test."
        raise Refused(message, hint=f"Unset it; a settable clock is only for tests ({TESTING_VARIABLE}=1).")
    return SettableClock(Path(path))
