"""Moments as programs write and read them: ISO 8601, always with a zone."""

from __future__ import annotations

from datetime import UTC, datetime

from haulwright.clock import SECOND, Instant
from haulwright.errors import InvalidValue
from haulwright.stores.slots import utc_text

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
    try:
        since = moment.astimezone(UTC) - _EPOCH
    except OverflowError:
        raise InvalidValue(what, text, "is beyond the calendar, which has the years 1 to 9999 in UTC") from None
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


def time_of_day(instant: Instant | None) -> str:
    """The time of day of a moment, in UTC."""
    return "" if instant is None else utc_text(instant)[11:19]


def iso(instant: Instant | None) -> str | None:
    """A moment as programs read it."""
    return None if instant is None else utc_text(instant)
