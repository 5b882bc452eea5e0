"""Moments, as people read them."""

from __future__ import annotations

from haulwright.clock import SECOND, Instant
from haulwright.engine.durations import spell
from haulwright.stores.slots import utc_text


def utc_seconds(instant: Instant) -> str:
    """A moment in UTC, to the second."""
    return utc_text(instant // SECOND * SECOND)


def ago(instant: Instant, now: Instant) -> str:
    """A moment as its distance from now."""
    distance = (now - instant) / SECOND
    if abs(distance) < 1:
        return "now"
    return f"{spell(int(distance))} ago" if distance > 0 else f"in {spell(int(-distance))}"
