"""Dates as publishers write them: repaired where only one meaning is possible, None and a reason where not."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

MONTHS: Final = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
    "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}  # fmt: skip
ZONE_HOURS: Final = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6,
    "pst": -8, "pdt": -7, "akst": -9, "akdt": -8, "hst": -10, "bst": 1, "west": 1, "cet": 1, "met": 1, "cest": 2,
    "mest": 2, "eet": 2, "eest": 3, "msk": 3, "jst": 9, "kst": 9, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
}  # fmt: skip
"""Names that mean one zone in feeds. IST and the like mean several and are not among them."""
OLDEST_YEAR: Final = 1900
PIVOT_YEAR: Final = 50
"""Two digits below it are of this century, as RFC 2822 reads them."""
FUTURE_GRACE: Final = timedelta(hours=1)
"""How far the clock of a publisher may be ahead before a date counts as one of the future."""
LONGEST_DATE_CHARS: Final = 64

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TIME: Final = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?\s*(?P<half>[ap]m)?"
)
_ZONE: Final = r"(?:\s*\(?(?P<zone>(?:utc|gmt)?[+-]\d{1,2}:?\d{2}|[a-z]{1,12}(?:/[a-z_]+)?)\)?)?(?:\s*\([^)]*\))?"
_WEEKDAY: Final = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?\s*,?\s*)?"
_SHAPES: Final = tuple(
    re.compile(f"{shape}{_ZONE}", re.IGNORECASE | re.ASCII)
    for shape in (
        rf"{_WEEKDAY}(?P<day>\d\d?)[ -]+(?P<month>[a-z]{{3,9}})\.?,?[ -]+(?P<year>\d{{2,4}})(?:,? +{_TIME})?",
        rf"(?P<year>\d{{4}})-(?P<month>\d{{1,2}})-(?P<day>\d{{1,2}})(?:(?:t| +){_TIME})?",
        rf"{_WEEKDAY}(?P<month>[a-z]{{3,9}})\.? +(?P<day>\d{{1,2}}),? +(?P<year>\d{{4}})(?:,? +{_TIME})?",
        rf"{_WEEKDAY}(?P<month>[a-z]{{3}}) +(?P<day>\d\d?) +{_TIME}(?: +(?P<named>[a-z]{{3,4}}))? +(?P<year>\d{{4}})",
        r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?:t(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?)?",
    )
)


def read_date(text: str | None, *, now: datetime | None = None) -> tuple[datetime | None, str | None]:
    """Return the moment in UTC that a date stands for, and what had to be assumed or is wrong about it.

    A moment after `now` is kept and said to lie in the future.
    """
    if not text or not (written := " ".join(text[: 2 * LONGEST_DATE_CHARS].split())):
        return None, None
    parts = _match(written)
    if parts is None:
        return None, f"the date {written[:LONGEST_DATE_CHARS]!r} cannot be read"
    try:
        local = _local(parts)
        zone, note = _zone(parts.get("zone") or parts.get("named"), has_time=parts.get("hour") is not None)
        moment = local.replace(tzinfo=UTC) - zone
    except (ValueError, OverflowError):
        return None, f"the date {written!r} does not exist"
    if moment.year < OLDEST_YEAR or moment == _EPOCH:
        return None, f"the date {written!r} stands for no date"
    if now is not None and moment > now + FUTURE_GRACE:
        return moment, f"the date {written!r} is in the future"
    return moment, note and f"the date {written!r} {note}"


def _match(written: str) -> dict[str, str | None] | None:
    """Return the parts of a date in the first shape that it has."""
    if len(written) > LONGEST_DATE_CHARS:
        return None
    return next((match.groupdict() for shape in _SHAPES if (match := shape.fullmatch(written))), None)


def _local(parts: dict[str, str | None]) -> datetime:
    """Return the date and time of day as they are written. Midnight may be written 24:00, a leap second 60."""
    month = parts["month"] or ""
    number = int(month) if month.isdigit() else MONTHS.get(month[:3].lower(), 0)
    day = datetime(_year(parts["year"] or ""), number, int(parts["day"] or 0), tzinfo=UTC).replace(tzinfo=None)
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    if (half := (parts.get("half") or "").lower()) and 1 <= hour <= 12:  # noqa: PLR2004  a clock with two halves
        hour = hour % 12 + (12 if half == "pm" else 0)
    if hour > 24 or minute > 59 or second > 60 or (hour == 24 and (minute or second)):  # noqa: PLR2004  a day's end
        raise ValueError(parts)
    micros = int(f"{parts.get('fraction') or '0':0<6}"[:6])
    return day + timedelta(hours=hour, minutes=minute, seconds=min(second, 59), microseconds=micros)


def _year(digits: str) -> int:
    """Return the year; two digits below fifty are of this century, three count from 1900 as some programs do."""
    year = int(digits)
    if len(digits) == 2:  # noqa: PLR2004
        return year + (2000 if year < PIVOT_YEAR else 1900)
    return year + 1900 if len(digits) == 3 else year  # noqa: PLR2004


def _zone(name: str | None, *, has_time: bool) -> tuple[timedelta, str | None]:
    """Return the distance from UTC, and what had to be assumed."""
    written = (name or "").lower()
    if not written:
        return timedelta(), "has no zone and was taken as UTC" if has_time else None
    if written in ZONE_HOURS:
        return timedelta(hours=ZONE_HOURS[written]), None
    sign, digits = written.removeprefix("utc").removeprefix("gmt")[:1], re.sub(r"\D", "", written)
    if sign not in {"+", "-"}:
        return timedelta(), f"has the unknown zone {name} and was taken as UTC"
    distance = timedelta(hours=int(digits[:-2]), minutes=int(digits[-2:]))
    if distance > timedelta(hours=15):
        raise ValueError(name)
    return -distance if sign == "-" else distance, None
