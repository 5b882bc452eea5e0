"""What it means that a job waits for others. Pure."""

from __future__ import annotations

from dataclasses import dataclass

JOIN_GATE = "join"
"""What a job waits on that waits for others."""
JOIN_LIMIT = 10_000
"""How many jobs one job may wait for at once."""
JOIN_BACKSTOP_SECONDS = 30.0
"""How long a job waits before it looks again by itself; doubles with each deferral. The end of the last job wakes it:
this counts only where a wake-up was lost, as with a database that was put back."""
JOIN_BACKSTOP_CAP_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class WaitedFor:
    """The jobs that a job waits for."""

    count: int
    first: tuple[str, ...]
    """A few of them, the oldest first."""


def backstop_seconds(deferrals: int) -> float:
    """How long a job waits before it looks by itself."""
    return min(JOIN_BACKSTOP_CAP_SECONDS, JOIN_BACKSTOP_SECONDS * float(2 ** min(deferrals, 20)))
