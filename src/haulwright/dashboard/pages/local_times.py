"""Moments in the zone of a schedule: as its clocks show them, and as a person types them into a form."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from haulwright.clock import SECOND, Instant
from haulwright.errors import InvalidValue
from haulwright.operations.times import instant_of


def wall_clock(tz: str, instant: Instant) -> str:
    """A moment as clocks of a zone show it, to the second, or to the minute where that is all."""
    local = datetime.fromtimestamp(instant // SECOND, UTC).astimezone(ZoneInfo(tz))
    return f"{local:%Y-%m-%d %H:%M}" if local.second == 0 else f"{local:%Y-%m-%d %H:%M:%S}"


def moment_in(tz: str, text: str, *, what: str) -> Instant:
    """The moment that a person typed: by the clocks of a zone where the text names none itself."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            text = moment.replace(tzinfo=ZoneInfo(tz)).isoformat()
    except ValueError:
        hint = "Write it as 2026-05-01T06:00, by the clocks of the schedule, or with a zone of its own."
        raise InvalidValue(what, text[:40], "is no time", hint=hint) from None
    except OverflowError:
        raise InvalidValue(what, text[:40], "is beyond the calendar") from None
    return instant_of(text, what=what)
