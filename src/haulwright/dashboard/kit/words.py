"""Values as people read them on a page."""

from __future__ import annotations

import json
from typing import Any, Final

from haulwright.clock import SECOND, Instant
from haulwright.engine.durations import spell
from haulwright.operations.times import instant_of

LONG_CHARS: Final = 2000
"""So much of a text is shown at once; the rest is folded."""


def ago(moment: str | None, now: Instant) -> str:
    """A moment of a view as a distance from now."""
    if moment is None:
        return ""
    distance = (now - instant_of(moment, what="time")) // SECOND
    return f"{spell(distance)} ago" if distance > 0 else "now" if distance == 0 else f"in {spell(-distance)}"


def exactly(moment: str | None) -> str:
    """A moment of a view, to the second."""
    return "" if moment is None else f"{moment[:10]} {moment[11:19]} UTC"


def between(begin: str | None, end: str | None) -> str:
    """How long it was from one moment of a view to another."""
    if begin is None or end is None:
        return ""
    return spell(max(0, instant_of(end, what="time") - instant_of(begin, what="time")) / SECOND)


def pretty(value: Any) -> str:
    """A JSON value for people to read."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def number(value: float) -> str:
    """A figure: whole ones with separators, others with as much as says something."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2g}"  # noqa: PLR2004 - below ten a digit more


def seconds_words(value: float) -> str:
    """A length of time."""
    return spell(value)
