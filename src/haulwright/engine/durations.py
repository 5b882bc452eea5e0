"""Words for people: times such as "30 s" and rates such as "30/min", parsed once and refused early."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Final, TypeGuard

from haulwright.errors import InvalidValue

Duration = str | int | float | timedelta
"""A length of time as people write it; a plain number is seconds."""

TEN_YEARS_SECONDS: Final = 10 * 365.25 * 86_400
SHORTEST_PERIOD_SECONDS: Final = 0.001
LARGEST_COUNT: Final = 1_000_000
LONGEST_WORD_CHARS: Final = 100

TIME_HINT: Final = "Write a time such as '30 s', '2 min', '1h30m', '24 h' or '7 days'; a plain number is seconds."
RATE_HINT: Final = "Write a rate such as '30/min', '5/s', '1/60 s' or '10000/day'."

_SECONDS_OF: Final = {
    word: size
    for words, size in (
        ("ms millisecond milliseconds", 0.001),
        ("s sec secs second seconds", 1.0),
        ("m min mins minute minutes", 60.0),
        ("h hr hrs hour hours", 3_600.0),
        ("d day days", 86_400.0),
        ("w week weeks", 604_800.0),
    )
    for word in words.split()
}
_SPOKEN: Final = (("day", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
_NUMBER: Final = r"[0-9]+(?:\.[0-9]+)?"
_PLAIN: Final = re.compile(_NUMBER)
_PART: Final = re.compile(rf"\s*({_NUMBER})\s*([a-z]+)\s*")
_RATE: Final = re.compile(r"\s*([0-9]+)\s*/\s*([0-9a-z. ]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rate:
    """So many in such a time."""

    count: int
    """How many are allowed in one period."""
    per_seconds: float
    """The length of the period."""


def seconds(value: Duration, *, what: str, minimum: float = 0, maximum: float = TEN_YEARS_SECONDS) -> float:
    """Return the length of time in seconds, or refuse what is no time between `minimum` and `maximum`."""
    length = _length(value, what)
    if length < minimum:
        raise InvalidValue(what, _shown(value), f"is less than {spell(minimum)}", hint=TIME_HINT)
    if length > maximum:
        raise InvalidValue(what, _shown(value), f"is more than {spell(maximum)}", hint=TIME_HINT)
    if math.isnan(length):
        raise InvalidValue(what, value, "is no number", hint=TIME_HINT)
    return float(length)


def us(value: Duration, *, what: str, minimum: float = 0, maximum: float = TEN_YEARS_SECONDS) -> int:
    """Return the length of time in whole microseconds, under the rules of `seconds`."""
    return round(seconds(value, what=what, minimum=minimum, maximum=maximum) * 1_000_000)


def rate(value: str, *, what: str = "rate") -> Rate:
    """Return the rate that "30/min" or "1/60 s" stands for, or refuse it."""
    match = _RATE.fullmatch(value) if _is_short_text(value) else None
    if match is None:
        raise InvalidValue(what, _shown(value), "is no rate", hint=RATE_HINT)
    count, period = int(match[1]), match[2].strip()
    if not 1 <= count <= LARGEST_COUNT:
        raise InvalidValue(what, value, f"must count from 1 to {LARGEST_COUNT}", hint=RATE_HINT)
    one_period = period if period[:1].isdigit() else f"1 {period}"
    return Rate(count, seconds(one_period, what=what, minimum=SHORTEST_PERIOD_SECONDS))


def spell(length: float) -> str:
    """Return a length in seconds as people say it: its two largest units, "1 h 30 min"."""
    if length < 0:
        return f"-{spell(-length)}"
    if round(length, 3) < 1:
        return f"{round(length * 1000)} ms" if round(length, 3) else "0 s"
    if round(length, 3) < 60:  # noqa: PLR2004  below a minute a fraction still says something
        return f"{round(length, 3):g} s"
    for (unit, size), (smaller, grain) in pairwise(_SPOKEN):
        rounded = round(length / grain) * grain
        if rounded >= size:
            whole, rest = divmod(rounded, size)
            return _say(whole, unit) + (f" {_say(rest // grain, smaller)}" if rest else "")
    raise AssertionError(length)


def _length(value: object, what: str) -> float:
    """Return the seconds that a value of any accepted kind stands for."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value  # an integer may be beyond the floats: it is compared before it becomes one
    if _is_short_text(value):
        parsed = _parse(value.strip().lower())
        if parsed is not None:
            return parsed
    raise InvalidValue(what, _shown(value), "is no time", hint=TIME_HINT)


def _parse(text: str) -> float | None:
    """Return the seconds of "1h30m" or "90", None for anything else; units must become smaller."""
    if _PLAIN.fullmatch(text):
        return float(text)
    total, position, last_size = 0.0, 0, math.inf
    while match := _PART.match(text, position):
        size = _SECONDS_OF.get(match[2], math.inf)
        if size >= last_size:
            return None
        total, position, last_size = total + float(match[1]) * size, match.end(), size
    return total if text and position == len(text) else None


def _is_short_text(value: object) -> TypeGuard[str]:
    """Tell whether the value is text short enough to be worth parsing."""
    return isinstance(value, str) and len(value) <= LONGEST_WORD_CHARS


def _say(number: int, unit: str) -> str:
    """Return a whole number with its unit, days in the plural."""
    return f"{number} {unit}s" if unit == "day" and number != 1 else f"{number} {unit}"


def _shown(value: object) -> object:
    """Return what an error may show of a senseless value: never more than a line."""
    if isinstance(value, str) and len(value) > LONGEST_WORD_CHARS:
        return f"{value[:LONGEST_WORD_CHARS]}…"
    if isinstance(value, int) and value.bit_length() > LONGEST_WORD_CHARS:
        return f"a number of {value.bit_length()} bits"
    return value
