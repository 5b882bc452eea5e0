"""How long an idle worker sleeps: a little longer each time, until there is something to do again."""

from __future__ import annotations

FIRST_WAIT_SECONDS = 0.01
GROWTH = 1.5


class IdleWait:
    """The sleeps of a worker that finds nothing due, up to its poll interval."""

    def __init__(self, longest_seconds: float) -> None:
        self._longest_seconds = longest_seconds
        self._seconds = FIRST_WAIT_SECONDS

    def reset(self) -> None:
        """There was something to do."""
        self._seconds = FIRST_WAIT_SECONDS

    def next(self, due_seconds: float | None) -> float:
        """The next sleep, never past the next job that is known to become due."""
        wait = min(self._seconds, self._longest_seconds)
        self._seconds = min(self._seconds * GROWTH, max(self._longest_seconds, FIRST_WAIT_SECONDS))
        return wait if due_seconds is None else min(wait, max(0.0, due_seconds))
