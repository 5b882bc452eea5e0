"""Dates as publishers write them: repaired where only one meaning is possible, None and a reason where not."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

MONTHS: Final = (
    ("january", "januar", "janvier", "janner", "jaenner"),
    ("february", "februar", "fevrier", "feber"),
    ("march", "marz", "maerz", "mrz", "mars"),
    ("april", "avril"),
    ("may", "mai"),
    ("june", "juni", "juin"),
    ("july", "juli", "juillet"),
    ("august", "aout"),
    ("september", "septembre"),
    ("october", "oktober", "octobre"),
    ("november", "novembre"),
    ("december", "dezember", "decembre"),
)
"""Their names in English, German and French, without accents. Three letters or more name the month that they begin."""
ZONE_HOURS: Final = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6,
    "pst": -8, "pdt": -7, "akst": -9, "akdt": -8, "hst": -10, "bst": 1, "west": 1, "cet": 1, "met": 1, "mez": 1,
    "cest": 2, "mest": 2, "mesz": 2, "eet": 2, "eest": 3, "msk": 3, "jst": 9, "kst": 9, "aest": 10, "aedt": 11,
    "nzst": 12, "nzdt": 13,
}  # fmt: skip
"""Names that mean one zone in feeds. IST and the like mean several and are not among them."""
OLDEST_YEAR: Final = 1900
PIVOT_YEAR: Final = 50
"""Two digits below it are of this century, as RFC 2822 reads them."""
FUTURE_GRACE: Final = timedelta(hours=1)
"""How far the clock of a publisher may be ahead before a date counts as one of the future."""
LONGEST_DATE_CHARS: Final = 64

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DASHES: Final = str.maketrans("\u2010\u2011\u2012\u2013\u2014\u2212", "------")
_TIME: Final = (
    r"(?P<hour>\d{1,2})[:h](?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?:\s*(?P<half>[ap])\.?m\b\.?|\s*uhr\b)?"
)
_OFFSET: Final = r"(?:utc|gmt)?[+-]\d{1,2}(?::?\d{2})?"
_PLACE: Final = r"[a-z]+(?:/[a-z0-9_+-]+){1,2}"
_ZONE: Final = (
    rf"(?:\s*[(\[]?(?P<zone>{_OFFSET}|{_PLACE}|[a-z]{{1,12}})[)\]]?)?(?:\s*(?:\([^)]*\)|\[(?P<place>[^\]]*)\]))?"
)
_WEEKDAY: Final = (
    r"(?:(?:(?:mon|tue|wed|thu|fri|sat|sun|die|mit|don|fre|sam|son|lun|mar|mer|jeu|ven|dim)[a-z]*|mo|di|mi|do|fr|sa|so)"
    r"\.?\s*,?\s*)?"
)
_DAY: Final = r"(?P<day>\d\d?)(?:st|nd|rd|th|er|\.)?"
_LATER: Final = r"(?:,? +(?:(?:-|at|um|a) +)?)"
"""What stands between a day and a time."""
_SHAPES: Final = tuple(
    re.compile(f"{shape}{_ZONE}", re.IGNORECASE | re.ASCII)
    for shape in (
        rf"{_WEEKDAY}{_DAY}[ -]+(?P<month>[a-z]{{3,9}})\.?,?[ -]+(?P<year>\d{{2,4}})(?:{_LATER}{_TIME})?",
        rf"(?P<year>\d{{4}})(?P<mark>[-/.])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}})(?:(?:t|{_LATER}){_TIME})?",
        rf"{_WEEKDAY}(?P<month>[a-z]{{3,9}})\.? +{_DAY},? +(?P<year>\d{{4}})(?:{_LATER}{_TIME})?",
        rf"{_WEEKDAY}(?P<month>[a-z]{{3}}) +{_DAY} +{_TIME}(?: +(?P<named>{_OFFSET}|[a-z]{{3,5}}))? +(?P<year>\d{{4}})",
        r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?:t?(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?)?",
    )
)
_CLOCK: Final = r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])"
_ISO: Final = re.compile(rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T{_CLOCK}(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])")
_MAIL: Final = re.compile(
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), )?([0-9]{1,2}) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) ([0-9]{4}) "
    rf"{_CLOCK} (?:GMT|UTC|([+-])(0[0-9]|1[0-4])([0-5][0-9]))"
)
_MAIL_MONTHS: Final = {names[0][:3].title(): number for number, names in enumerate(MONTHS, 1)}
_UNIX: Final = re.compile(r"(?P<seconds>(?:1[0-8]|[1-9])\d{8})(?:\.\d{1,9})?|1[0-8]\d{11}", re.ASCII)
"""Seconds since 1970, from 1973 to 2030, or milliseconds. What is more could be a year, month, day and hour as well."""


def read_date(text: str | None, *, now: datetime | None = None) -> tuple[datetime | None, str | None]:
    """Return the moment in UTC that a date stands for, and what had to be assumed or is wrong about it.

    A moment after `now` is kept and said to lie in the future.
    """
    if not text or not (written := " ".join(text[: 2 * LONGEST_DATE_CHARS].split())):
        return None, None
    try:
        moment, note = _moment(written)
    except (ValueError, OverflowError):
        return None, f"the date {written!r} does not exist"
    if moment is None:
        return None, f"the date {written[:LONGEST_DATE_CHARS]!r} cannot be read"
    if moment.year < OLDEST_YEAR or moment == _EPOCH:
        return None, f"the date {written!r} stands for no date"
    if now is not None and moment > now + FUTURE_GRACE:
        return moment, f"the date {written!r} is in the future"
    return moment, note and f"the date {written!r} {note}"


def _moment(written: str) -> tuple[datetime | None, str | None]:
    """Return the moment that a date stands for and what had to be assumed; None where it has no shape of a date."""
    if len(written) > LONGEST_DATE_CHARS:
        return None, None
    if (moment := _usual(written)) is not None:
        return moment, None
    return _general(written)


def _general(written: str) -> tuple[datetime | None, str | None]:
    """Return the same by the shapes that dates may have."""
    plain = _without_accents(written)
    if since := _UNIX.fullmatch(plain):
        seconds = float(plain) if since["seconds"] else int(plain) / 1000
        return _EPOCH + timedelta(seconds=seconds), None
    parts = next((match.groupdict() for shape in _SHAPES if (match := shape.fullmatch(plain))), None)
    if parts is None:
        return None, None
    local, name = _local(parts), parts.get("zone") or parts.get("named") or parts.get("place")
    if name and "/" in name and (zone := _place(name.lower())):
        return _at_place(local, zone)
    distance, note = _zone(name, has_time=parts.get("hour") is not None)
    return local.replace(tzinfo=UTC) - distance, note


def _usual(written: str) -> datetime | None:
    """Return the moment of a date as RFC 3339 and RFC 822 have it, and nearly every feed; None for any other."""
    if _ISO.fullmatch(written):
        moment = datetime.fromisoformat(written)
        return moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    if match := _MAIL.fullmatch(written):
        day, month, year, hour, minute, second, sign, hours, minutes = match.groups()
        moment = datetime(int(year), _MAIL_MONTHS[month], int(day), int(hour), int(minute), int(second), tzinfo=UTC)
        if sign is None:
            return moment
        distance = timedelta(hours=int(hours), minutes=int(minutes))
        return moment + distance if sign == "-" else moment - distance
    return None


def _without_accents(written: str) -> str:
    """Return the text with plain letters, digits and dashes."""
    if written.isascii():
        return written
    letters = unicodedata.normalize("NFKD", written.translate(_DASHES))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _local(parts: dict[str, str | None]) -> datetime:
    """Return the date and time of day as they are written. Midnight may be written 24:00, a leap second 60."""
    month = parts["month"] or ""
    number = int(month) if month.isdigit() else _month(month.lower())
    day = datetime(_year(parts["year"] or ""), number, int(parts["day"] or 0), tzinfo=UTC).replace(tzinfo=None)
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    if half := (parts.get("half") or "").lower():
        hour = _of_two_halves(hour, half)
    if hour > 24 or minute > 59 or second > 60 or (hour == 24 and (minute or second)):  # noqa: PLR2004  a day's end
        raise ValueError(parts)
    micros = int(f"{parts.get('fraction') or '0':0<6}"[:6])
    return day + timedelta(hours=hour, minutes=minute, seconds=min(second, 59), microseconds=micros)


def _month(word: str) -> int:
    """Return the month that a name, or the beginning of one, stands for; 0 where it stands for none or for several."""
    numbers = [number for number, names in enumerate(MONTHS, 1) if any(name.startswith(word) for name in names)]
    return numbers[0] if len(numbers) == 1 else 0


def _of_two_halves(hour: int, half: str) -> int:
    """Return the hour of a clock with a.m. and p.m.; 15:00 pm is clear, 15:00 am and 0:30 pm are not."""
    if 1 <= hour <= 12:  # noqa: PLR2004  a clock with two halves
        return hour % 12 + (12 if half == "p" else 0)
    if (hour == 0) == (half == "p"):
        raise ValueError(half)
    return hour


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
    offset = written.removeprefix("utc").removeprefix("gmt")
    sign, digits = offset[:1], re.sub(r"\D", "", offset)
    if sign not in {"+", "-"}:
        return timedelta(), f"has the unknown zone {name} and was taken as UTC"
    hours, minutes = (int(digits[:-2]), int(digits[-2:])) if len(digits) > 2 else (int(digits), 0)  # noqa: PLR2004
    distance = timedelta(hours=hours, minutes=minutes)
    if minutes >= 60 or distance > timedelta(hours=15):  # noqa: PLR2004  minutes of an hour
        raise ValueError(name)
    return -distance if sign == "-" else distance, None


def _at_place(local: datetime, zone: ZoneInfo) -> tuple[datetime, str | None]:
    """Return the moment at which the clocks of a zone show a time."""
    first, second = local.replace(tzinfo=zone), local.replace(tzinfo=zone, fold=1)
    repeats = (first.utcoffset() or timedelta()) > (second.utcoffset() or timedelta())
    note = "names an hour that the clocks repeat and was taken as the first" if repeats else None
    return first.astimezone(UTC), note


def _place(name: str) -> ZoneInfo | None:
    """Return the zone of a place by its name in any case, None if there is none."""
    key = _places().get(name)
    return None if key is None else ZoneInfo(key)


@lru_cache(maxsize=1)
def _places() -> dict[str, str]:
    return {key.lower(): key for key in available_timezones() if "/" in key}
