"""Who enqueues rings the bell, but not for every job: a ring takes a lock of the whole server when it commits."""

from __future__ import annotations

import time

from penstock.clock import Instant

INTERVAL_SECONDS = 0.02
"""Between two rings of one process. A worker that was rung asks again by itself, 10 ms later and 15 ms after that."""


class BellRope:
    """Decides which enqueues ring."""

    def __init__(self) -> None:
        self._rung = float("-inf")

    def may_ring(self, delay_us: int, run_at: Instant | None) -> bool:
        """Whether this enqueue rings: its job may run now, and nobody of this process rang a moment ago."""
        if delay_us > 0 or run_at:
            return False
        now = time.monotonic()
        if now - self._rung < INTERVAL_SECONDS:
            return False
        self._rung = now
        return True
