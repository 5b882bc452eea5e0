"""Who enqueues notifies, but not for every job: a NOTIFY takes a lock of the whole server when it commits."""

from __future__ import annotations

import time

from haulwright.clock import Instant

INTERVAL_SECONDS = 0.02
"""Between two notices of one process. A worker that got one claims again by itself, 10 ms and 25 ms later."""


class NotifyThrottle:
    """Decides which enqueues notify."""

    def __init__(self, ahead: NotifyThrottle | None = None) -> None:
        self._ahead = ahead
        """One whose notices speak for these too."""
        self._last = float("-inf")

    def may_notify(self, delay_us: int, run_at: Instant | None) -> bool:
        """Whether this enqueue notifies: its job may run now, and nobody of this process did so a moment ago."""
        if delay_us > 0 or run_at:
            return False
        now = time.monotonic()
        if self.has_notified(now) or (self._ahead is not None and self._ahead.has_notified(now)):
            return False
        self._last = now
        return True

    def has_notified(self, now: float) -> bool:
        """Whether the last notice is so young that it speaks for an enqueue of this moment."""
        return now - self._last < INTERVAL_SECONDS
