"""One normalized item, and how its fields are read from what an actor gives: any field may be of any type."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from haulwright.clock import SECOND, Instant
from haulwright.engine.payload import clip
from haulwright.errors import InvalidValue
from haulwright.sources.tools.dates import read_date
from haulwright.sources.tools.urls import canonical_url

LONGEST_ID_CHARS: Final = 300
LONGEST_BODY_BYTES: Final = 32 * 1024
LONGEST_LINE_BYTES: Final = 1_000
MOST_LISTED: Final = 100
LARGEST_COUNT: Final = 2**53
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST: Final = (datetime(1980, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_LATEST: Final = (datetime(2100, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
"""A date before or after them is none of a post, whatever its form."""
_ISO: Final = re.compile(r"(?:19[89]|20\d)\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3,6})?Z", re.ASCII)
_UNITS: Final = ((SECOND, 1e11), (SECOND // 1000, 1e14), (1, LARGEST_COUNT))
"""What a number counts, in microseconds, and up to where it is taken for that."""
_LINK: Final = re.compile(r"https?://[^\s<>\"']{4,2000}")


class Unfit(Exception):
    """An item that cannot be used: a reason to count by, and a detail for whoever looks."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Normalized:
    """What an item says, in our words."""

    external_id: str | None
    canonical_url: str | None
    body: str
    author: str | None = None
    title: str | None = None
    published_at: Instant | None = None
    metrics: dict[str, int] = field(default_factory=dict)
    media: list[str] = field(default_factory=list)
    hashtags: list[str] = field(default_factory=list)


def identity(item: Mapping[str, Any], *names: str) -> str:
    """The id of an item under the first of these names that has one."""
    for name in names:
        value = item.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str) and value.strip():
            if len(value) > LONGEST_ID_CHARS or not value.isprintable():
                raise Unfit("bad_external_id", f"{name} is no id: it is too long or cannot be shown")
            return value.strip()
    raise Unfit("missing_external_id", f"it has no {' or '.join(names)}")


def address(*candidates: object) -> str | None:
    """The canonical form of the first that is an address."""
    for candidate in candidates:
        if isinstance(candidate, str) and candidate:
            try:
                return canonical_url(candidate)
            except InvalidValue:
                continue
    return None


def body(value: object) -> str:
    """A text, without what no database takes, cut where it is very long."""
    return _storable(value, LONGEST_BODY_BYTES).strip() if isinstance(value, str) else ""


def line(value: object) -> str | None:
    """A short text, or None."""
    return (_storable(value, LONGEST_LINE_BYTES).strip() or None) if isinstance(value, str) else None


def _storable(text: str, limit_bytes: int) -> str:
    """A text that both databases take: most are plain, and stay as they are."""
    if len(text) <= limit_bytes and text.isascii() and "\0" not in text:
        return text
    return clip(text, limit_bytes)


def counts(**values: object) -> dict[str, int]:
    """The figures among these; one that is hidden or no number is left out."""
    return {
        name: int(value)
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST_COUNT
    }


def within(item: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """An object within an item; an empty one where there is none."""
    value = item.get(name)
    return value if isinstance(value, Mapping) else {}


def listed(value: object) -> list[Any]:
    """A list, not too long; an empty one where there is none."""
    return list(value[:MOST_LISTED]) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else []


def addresses(value: object) -> list[str]:
    """The addresses of a list."""
    return [url for candidate in listed(value) if (url := address(candidate))]


def links_in(text: str) -> list[str]:
    """The addresses that a text names, each once."""
    urls = (address(link.rstrip(".,;:!?)")) for link in _LINK.findall(text)[:MOST_LISTED])
    return list(dict.fromkeys(url for url in urls if url))


def tags(value: object) -> list[str]:
    """Hashtags without their sign, in small letters, each once."""
    names = (tag.get("name") if isinstance(tag, Mapping) else tag for tag in listed(value))
    lines = (line(name) for name in names)
    return list(dict.fromkeys(tag.removeprefix("#").lower() for tag in lines if tag and tag != "#"))


def moment(value: object) -> Instant | None:
    """When something was published; None where nothing is said, and unfit where it cannot be understood."""
    if value is None or value == "":
        return None
    instant = _written(value) if isinstance(value, str) else _since_epoch(value)
    if instant is None or not _EARLIEST <= instant < _LATEST:
        raise Unfit("unreadable_date", f"its date is {str(value)[:80]!r}")
    return instant


def _written(value: str) -> Instant | None:
    """A date in words: as most actors write it by the shortest way, any other by a longer look."""
    read = None
    with suppress(ValueError):
        read = datetime.fromisoformat(value) if _ISO.fullmatch(value) else None
    read = read or read_date(value)[0]
    return None if read is None else (read - _EPOCH) // timedelta(microseconds=1)


def _since_epoch(value: object) -> Instant | None:
    """Seconds, milliseconds or microseconds, by their size: no post is of the year 5000, nor of the early seventies."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < LARGEST_COUNT:
        return None
    unit = next(unit for unit, largest in _UNITS if value < largest)
    return round(value * unit)


def require_content(item: Mapping[str, Any]) -> None:
    """Refuse what an actor gives in place of an item that it could not read."""
    if item.get("error"):
        reason = line(item.get("errorDescription")) or line(item.get("error")) or "no reason given"
        raise Unfit("error_item", f"the actor says: {reason}")
