"""Articles as lines of JSON: each is checked, and a bad one is refused with its number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from math import isfinite
from typing import IO, Any, Final

from haulwright.apps.brief.clustering.clustering import Article
from haulwright.errors import InvalidValue

LONGEST_LINE_BYTES: Final = 8 * 1024 * 1024
SHOWN_CHARS: Final = 60
HINT: Final = 'A line is such as {"id": "a1", "text": "...", "title": "...", "published_at": "2026-05-01T06:00:00Z"}.'

_SECOND: Final = 1_000_000
_LAST_SECOND: Final = 253_402_300_799
"""The end of the year 9999. Milliseconds, which many programs write, lie beyond it."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def read_articles(stream: IO[bytes]) -> Iterator[Article]:
    """The articles of a stream in the order of its lines. Empty lines are passed over; an id may come once."""
    seen: set[str] = set()
    for number, line in enumerate(iter(lambda: stream.readline(LONGEST_LINE_BYTES + 1), b""), 1):
        if not line.strip():
            continue
        where = f"line {number}"
        if len(line) > LONGEST_LINE_BYTES:
            raise InvalidValue(where, _shown(line), f"is longer than {LONGEST_LINE_BYTES} bytes")
        article = _article(line, where)
        if article.id in seen:
            raise InvalidValue(where, article.id, "is the id of an earlier line too")
        seen.add(article.id)
        yield article


def _article(line: bytes, where: str) -> Article:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise InvalidValue(where, _shown(line), "is no JSON in UTF-8", hint=HINT) from None
    if not isinstance(fields, dict):
        raise InvalidValue(where, _shown(line), "is no JSON object", hint=HINT)
    article_id = _text(fields, "id", where)
    if not article_id:
        raise InvalidValue(f"{where}: id", article_id, "is empty", hint=HINT)
    title = "" if fields.get("title") is None else _text(fields, "title", where)
    return Article(article_id, _text(fields, "text", where), title, _instant(fields.get("published_at"), where))


def _text(fields: dict[str, Any], name: str, where: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise InvalidValue(f"{where}: {name}", value, "is no text", hint=HINT)
    return value


def _instant(value: Any, where: str) -> int | None:
    """Microseconds since 1970, from seconds or from ISO 8601; a time without a zone is one in UTC."""
    field = f"{where}: published_at"
    match value:
        case None:
            return None
        case bool():
            raise InvalidValue(field, value, "is no time", hint=HINT)
        case int() | float():
            if not isfinite(value) or abs(value) > _LAST_SECOND:
                raise InvalidValue(field, value, "is no time in seconds since 1970", hint="Are these milliseconds?")
            return round(value * _SECOND)
        case str():
            return _iso(value, field)
        case _:
            raise InvalidValue(field, value, "is no time", hint=HINT)


def _iso(text: str, field: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    except (ValueError, OverflowError):
        raise InvalidValue(field, text[:SHOWN_CHARS], "is no time in ISO 8601", hint=HINT) from None
    return (since.days * 86_400 + since.seconds) * _SECOND + since.microseconds


def _shown(line: bytes) -> str:
    return line[: 4 * SHOWN_CHARS].decode("utf-8", "replace").strip()[:SHOWN_CHARS]
