"""Waiting for what another thread or process does, by looking at it, and what there is to see of jobs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from haulwright.client.handle import Handle

PATIENCE_SECONDS = 90.0


def eventually(condition: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
    """Return when the condition holds; fail where it does not in a long while."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)


def states(handles: Iterable[Handle[Any]]) -> list[str]:
    """The states of jobs, in their order."""
    return [handle.state() for handle in handles]
