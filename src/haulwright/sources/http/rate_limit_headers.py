"""What a server says about its own limits: how long to stay away, in any of the ways in which servers say it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from haulwright.engine.source import LONGEST_PARK_SECONDS

SPENT_SECONDS: Final = 60.0
"""How long to stay away where a request is refused because a limit is spent, and nobody says until when."""
_EPOCH_FROM: Final = 1_000_000_000
"""A reset beyond this is a time since 1970; below it is a length."""
_EPOCH_MS_FROM: Final = 1_000_000_000_000
_LONGEST_DATE_CHARS: Final = 60
_LONGEST_FIELD_CHARS: Final = 2_000
_TOO_MANY: Final = 429
_SPENT: Final = frozenset({403, _TOO_MANY})
"""How servers refuse a request that is over their limit."""
_REFUSALS: Final = 400

_NUMBER: Final = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*")
_PREFIXES: Final = ("x-ratelimit-", "x-rate-limit-", "ratelimit-")
_DRAFT_ITEM: Final = re.compile(r'\s*("[^"]*"|[\w.*-]+)\s*((?:;[^,]*)?)')
_DRAFT_PARAM: Final = re.compile(r";\s*([a-z]+)\s*=\s*([0-9]{1,15})")
_OLD_DRAFT: Final = re.compile(r"\b(limit|remaining|reset)\s*=\s*([0-9]{1,15})")


def park_seconds(status: int, headers: Mapping[str, str], now: float) -> float | None:
    """Return for how long the server wants no more requests, None if it does not say so or says nonsense.

    Names of headers are in lower case. At most a day; a time that has passed is no wish.
    """
    at = http_date(headers.get("date")) or now
    waits = [_spent(headers, at, refused=status == _TOO_MANY), _draft(headers, refused=status == _TOO_MANY)]
    if status >= _REFUSALS:  # with a success it is about one item: when to ask for it again
        waits.insert(0, retry_after(headers.get("retry-after"), at))
    if status in _SPENT and _is_spent_without_end(headers):
        waits.append(SPENT_SECONDS)
    return next((wait for wait in waits if wait is not None), None)


def retry_after(text: str | None, now: float) -> float | None:
    """Return the seconds that a Retry-After asks for: a number, or one of the three forms of an HTTP date."""
    if text is None:
        return None
    if number := _NUMBER.fullmatch(text):
        return _clamped(float(number[1]))
    at = http_date(text)
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
        reset = _number(headers.get(f"{prefix}reset"))
        remaining = _number(headers.get(f"{prefix}remaining"))
        if reset is not None and (remaining == 0 or (refused and remaining is None)):
            return _clamped(_until(reset, now))
    return None


def _is_spent_without_end(headers: Mapping[str, str]) -> bool:
    """Whether a server says that nothing is left, and not when there will be more."""
    silent = [prefix for prefix in _PREFIXES if f"{prefix}reset" not in headers]
    return any(_number(headers.get(f"{prefix}remaining")) == 0 for prefix in silent)


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


def _until(reset: float, now: float) -> float:
    """The seconds to a reset, whether it is a length, a time in seconds, or one in milliseconds."""
    if reset >= _EPOCH_MS_FROM:
        return reset / 1000 - now
    return reset - now if reset >= _EPOCH_FROM else reset


def _number(text: str | None) -> float | None:
    """The number in a header, None for anything else."""
    match = _NUMBER.fullmatch(text or "")
    return float(match[1]) if match else None


def _clamped(wait: float) -> float | None:
    """The wait within a day, None where there is none."""
    return min(wait, LONGEST_PARK_SECONDS) if wait > 0 else None
