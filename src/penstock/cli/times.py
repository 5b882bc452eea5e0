"""Moments, as people write and read them."""

from __future__ import annotations

from datetime import UTC, datetime

from penstock.clock import SECOND, Instant
from penstock.engine.words import spell
from penstock.errors import InvalidValue
from penstock.stores.slots import utc_text

HINT = "Write a time with its zone, such as 2026-05-01T06:00:00Z or 2026-05-01T08:00+02:00."
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant_of(text: str, *, what: str) -> Instant:
    """The moment that a text names; one without a zone is refused, for it would mean another moment elsewhere."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidValue(what, text, "is no time", hint=HINT) from None
    if moment.tzinfo is None:
        raise InvalidValue(what, text, "has no time zone", hint=HINT)
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


def iso(instant: Instant | None) -> str | None:
    """A moment as programs read it."""
    return None if instant is None else utc_text(instant)


def utc_seconds(instant: Instant) -> str:
    """A moment in UTC, to the second."""
    return utc_text(instant // SECOND * SECOND)


def ago(instant: Instant, now: Instant) -> str:
    """A moment as its distance from now."""
    distance = (now - instant) / SECOND
    if abs(distance) < 1:
        return "now"
    return f"{spell(int(distance))} ago" if distance > 0 else f"in {spell(int(-distance))}"
