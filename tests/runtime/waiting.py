"""Waiting for what another thread or process does, by looking at it."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_SECONDS = 90.0


def eventually(condition: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
    """Return when the condition holds; fail where it does not in a long while."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)
