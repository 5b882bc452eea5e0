"""What a server says about its own limits: how long to stay away, in any of the ways in which servers say it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from haulwright.engine.source import LONGEST_PARK_SECONDS

SPENT_SECONDS: Final = 60.0
"""How long to stay away where a request is refused because a limit is spent, and nobody says until when."""
_EPOCH_UNITS: Final = ((1e18, 1e9), (1e15, 1e6), (1e12, 1e3), (1e9, 1.0))
"""A reset from the first on is a time since 1970, so many of which are a second; a smaller one is a length."""
_LONGEST_DATE_CHARS: Final = 60
_LONGEST_FIELD_CHARS: Final = 2_000
_TOO_MANY: Final = 429
_SPENT: Final = frozenset({403, _TOO_MANY})
"""How servers refuse a request that is over their limit."""
_REFUSALS: Final = 400

_NUMBER: Final = re.compile(r"\s*([0-9]{1,20}(?:\.[0-9]{1,9})?)\s*")
_PIECE: Final = re.compile(r"(?:[A-Za-z]{3,9},\s*(?=[0-9]{1,2}[ -][A-Za-z]))?[^,]+")
"""Between commas, of which a date has one behind its weekday."""
_ISO: Final = re.compile(r"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]{5,20}(?:Z|[+-][0-9:]{2,6})?\s*$", re.IGNORECASE)
_PREFIXES: Final = ("x-ratelimit-", "x-rate-limit-", "ratelimit-")
_DRAFT_ITEM: Final = re.compile(r'\s*("[^"]*"|[\w.*-]+)\s*((?:;[^,]*)?)')
_DRAFT_PARAM: Final = re.compile(r";\s*([a-z]+)\s*=\s*([0-9]{1,15})")
_OLD_DRAFT: Final = re.compile(r"\b(limit|remaining|reset)\s*=\s*([0-9]{1,15})")


def park_seconds(status: int, headers: Mapping[str, str], now: float) -> float | None:
    """Return for how long the server wants no more requests, None if it does not say so or says nonsense.

    Names of headers are in lower case. At most an hour; a time that has passed is no wish.
    """
    if status < _REFUSALS and not any("limit" in name for name in headers):
        return None  # as nearly all answers are; to read a date takes a while
    at = http_date(headers.get("date")) or now
    waits = [_spent(headers, at, refused=status == _TOO_MANY), _draft(headers, refused=status == _TOO_MANY)]
    if status >= _REFUSALS:  # with a success it is about one item: when to ask for it again
        waits.insert(0, retry_after(headers.get("retry-after"), at))
    if status in _SPENT and _is_spent_without_end(headers):
        waits.append(SPENT_SECONDS)
    return next((wait for wait in waits if wait is not None), None)


def retry_after(text: str | None, now: float) -> float | None:
    """Return the seconds that a Retry-After asks for: a number, or one of the three forms of an HTTP date.

    Where two servers on the way have each said something, the longest holds.
    """
    pieces = _PIECE.findall((text or "")[:_LONGEST_FIELD_CHARS])
    return max((wait for piece in pieces if (wait := _wait(piece, now)) is not None), default=None)


def _wait(piece: str, now: float) -> float | None:
    if number := _NUMBER.fullmatch(piece):
        return _clamped(float(number[1]))
    at = http_date(piece)
    return None if at is None else _clamped(at - now)


def http_date(text: str | None) -> float | None:
    """Return an HTTP date (IMF-fixdate, RFC 850 or asctime) in seconds since 1970, None for anything else."""
    if not text or len(text) > _LONGEST_DATE_CHARS:
        return None
    try:
        parsed = parsedate_to_datetime(text)
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _spent(headers: Mapping[str, str], now: float, *, refused: bool) -> float | None:
    """Return the time to the reset where a server counts down in headers of its own and nothing is left."""
    for prefix in _PREFIXES:
        reset = _reset(headers.get(f"{prefix}reset"), now)
        remaining = min(_numbers(headers.get(f"{prefix}remaining")), default=None)
        if reset is not None and (remaining == 0 or (refused and remaining is None)):
            return _clamped(reset)
    return None


def _is_spent_without_end(headers: Mapping[str, str]) -> bool:
    """Whether a server says that nothing is left, and not when there will be more."""
    silent = [prefix for prefix in _PREFIXES if f"{prefix}reset" not in headers]
    return any(0 in _numbers(headers.get(f"{prefix}remaining")) for prefix in silent)


def _draft(headers: Mapping[str, str], *, refused: bool) -> float | None:
    """Return the time to the reset by the RateLimit fields of the draft, the longest of the limits that are spent."""
    field = headers.get("ratelimit", "")
    old = {name: float(value) for name, value in _OLD_DRAFT.findall(field)}
    if "reset" in old and (old.get("remaining") == 0 or (refused and "remaining" not in old)):
        return _clamped(old["reset"])
    windows = {name: params.get("w") for name, params in _items(headers.get("ratelimit-policy", ""))}
    waits = [
        params.get("t", windows.get(name) or 0.0)
        for name, params in _items(field)
        if params.get("r") == 0 and (params.get("t") is not None or windows.get(name))
    ]
    return _clamped(max(waits)) if waits else None


def _items(field: str) -> list[tuple[str, dict[str, float]]]:
    """The named limits of a structured field, each with its numbers."""
    return [
        (name, {key: float(value) for key, value in _DRAFT_PARAM.findall(params)})
        for name, params in _DRAFT_ITEM.findall(field[:_LONGEST_FIELD_CHARS])
        if params
    ]


def _reset(text: str | None, now: float) -> float | None:
    """The seconds to a reset, be it a length, a time since 1970 in any unit, or a date; the longest of several."""
    waits = [_until(number, now) for number in _numbers(text)]
    if not waits and (at := http_date(text) or _iso_date(text)):
        return at - now
    return max(waits, default=None)


def _until(reset: float, now: float) -> float:
    unit = next((unit for least, unit in _EPOCH_UNITS if reset >= least), None)
    return reset if unit is None else reset / unit - now


def _iso_date(text: str | None) -> float | None:
    """An ISO 8601 date and time in seconds since 1970, None for anything else."""
    if not text or not _ISO.match(text):
        return None
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


def _numbers(text: str | None) -> list[float]:
    """The numbers in a header, one for each server that wrote one; none where there is anything else."""
    found = [_NUMBER.fullmatch(piece) for piece in (text or "")[:_LONGEST_FIELD_CHARS].split(",")]
    return [float(number[1]) for number in found if number] if all(found) else []


def _clamped(wait: float) -> float | None:
    """The wait within an hour, None where there is none."""
    return min(wait, LONGEST_PARK_SECONDS) if wait > 0 else None
