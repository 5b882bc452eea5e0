"""Looking again and again until it is so, or the time is up. Every wait of the house is made of these."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

T = TypeVar("T")

FIRST_PAUSE_SECONDS = 0.005
LONGEST_PAUSE_SECONDS = 0.25


def pauses(
    timeout: float | None, *, first: float = FIRST_PAUSE_SECONDS, longest: float = LONGEST_PAUSE_SECONDS
) -> Iterator[float | None]:
    """How long to pause after each look, a little longer every time; None where the look is the last one."""
    until = None if timeout is None else time.monotonic() + timeout
    pause = first
    while True:
        left = pause if until is None else until - time.monotonic()
        if left <= 0:
            yield None
            return
        yield min(pause, left)
        pause = min(pause * 1.5, longest)


def looks(look: Callable[[], T], timeout: float | None, *, every: float) -> Iterator[tuple[T, bool]]:
    """What each look says, and whether it was the last one in the time. The caller leaves when it is so."""
    for pause in pauses(timeout, first=every, longest=every):
        yield look(), pause is None
        if pause is not None:
            time.sleep(pause)
