"""The rules of RFC 9110 for going on with a download: what may be asked, and what an answer has to say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

IDENTITY: Final = {"Accept-Encoding": "identity"}
"""Ranges count bytes as they travel, so nothing may be compressed on the way."""

_CONTENT_RANGE: Final = re.compile(r"bytes\s+(\d{1,18})-(\d{1,18})/(\d{1,18}|\*)", re.IGNORECASE)
_LENGTH: Final = re.compile(r"\d{1,18}")
_STRONG_DATE_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Span:
    """Which bytes of a file an answer holds."""

    start: int
    end: int
    """The last byte and one."""
    total: int | None
    """The length of the whole file, where the server knows it."""


def strong_validator(headers: Mapping[str, str]) -> str | None:
    """The tag or date by which the same bytes can be asked for again; None where none is strong enough.

    A date counts only where there is no tag at all, and only if the file was at rest when it was sent: two changes
    within one second have one date.
    """
    tag = headers.get("etag", "").strip()
    if tag:
        return tag if tag.startswith('"') and tag.endswith('"') and len(tag) > 1 else None
    modified, sent = _date(headers.get("last-modified")), _date(headers.get("date"))
    if modified is None or sent is None or (sent - modified).total_seconds() < _STRONG_DATE_SECONDS:
        return None
    return headers["last-modified"].strip()


def same_file(validator: str, headers: Mapping[str, str]) -> bool:
    """Whether an answer does not contradict the validator that was asked with."""
    current = headers.get("etag" if validator.startswith('"') else "last-modified", "").strip()
    return not current or current == validator


def range_headers(start: int, validator: str) -> dict[str, str]:
    """Ask for the rest of the file, or for all of it if it is another one by now."""
    return {"Range": f"bytes={start}-", "If-Range": validator}


def content_span(headers: Mapping[str, str]) -> Span | None:
    """The part that a 206 holds; None where it does not say so, or says what cannot be."""
    span_match = _CONTENT_RANGE.fullmatch(headers.get("content-range", "").strip())
    if span_match is None:
        return None
    start, end = int(span_match[1]), int(span_match[2]) + 1
    total = None if span_match[3] == "*" else int(span_match[3])
    return Span(start, end, total) if start < end and (total is None or end <= total) else None


def content_length(headers: Mapping[str, str]) -> int | None:
    """The length that an answer announces; None where it does not."""
    length = headers.get("content-length", "").strip()
    return int(length) if _LENGTH.fullmatch(length) else None


def is_encoded(headers: Mapping[str, str]) -> bool:
    """Whether the body is compressed all the same: its bytes are not those of the file then."""
    return headers.get("content-encoding", "").strip().lower() not in {"", "identity"}


def _date(text: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
