"""Finds runs that a worker holds and that are in nobody's hands: none of its parts would ever end them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from haulwright.engine.job import LeaseKey
    from haulwright.runtime.execution import Run

LOOK_SECONDS = 2.0
"""Between two looks."""
ORPHAN_SECONDS = 5.0
"""A run that no look has found in anybody's hands for so long is nobody's: handing it on takes a moment."""


class Orphans:
    """Compares what is held with what is in hand, now and then, and hands on what nobody has."""

    def __init__(
        self, held: Callable[[], list[Run]], in_hand: Callable[[], Iterable[Run]], adopt: Callable[[Run], None]
    ) -> None:
        self._held = held
        self._in_hand = in_hand
        self._adopt = adopt
        self._looked_at = float("-inf")
        self._suspects: dict[LeaseKey, float] = {}
        """Runs that the last look found in nobody's hands, and since when, on the monotonic clock."""

    def check(self) -> None:
        """Look, where it is time to."""
        now = time.monotonic()
        if now - self._looked_at < LOOK_SECONDS:
            return
        self._looked_at = now
        held = self._held()  # before the hands: what is claimed meanwhile is nobody's concern yet
        in_hand = {run.key for run in self._in_hand()} if held else set()
        orphans = [run for run in held if run.key not in in_hand]
        self._suspects = {run.key: self._suspects.get(run.key, now) for run in orphans}
        for run in orphans:
            if now - self._suspects[run.key] >= ORPHAN_SECONDS:
                self._adopt(run)
