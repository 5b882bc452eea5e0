"""Waiting between tries when the database does not answer: longer each time, with jitter, and never for long."""

from __future__ import annotations

import random

FIRST_SECONDS = 0.05
LONGEST_SECONDS = 5.0


class Backoff:
    """The waits of one stretch of trouble."""

    def __init__(self) -> None:
        self._wait = FIRST_SECONDS

    def next(self) -> float:
        """How long to wait now."""
        wait = self._wait
        self._wait = min(LONGEST_SECONDS, wait * 2)
        return wait * random.uniform(0.75, 1.25)  # noqa: S311 - jitter, not a secret
