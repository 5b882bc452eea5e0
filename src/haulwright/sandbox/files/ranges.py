"""Ranges and conditions of RFC 9110, as an honest server reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

ONE_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


class Unsatisfiable(ValueError):
    """The range begins behind the end."""


@dataclass(frozen=True, slots=True)
class Validators:
    """By what a client can tell one version from another."""

    etag: str = ""
    """With its quotes, and W/ where it is weak."""
    modified: str = ""
    """As an HTTP date."""

    def headers(self) -> tuple[tuple[str, str], ...]:
        """Those that there are."""
        pairs = (("ETag", self.etag), ("Last-Modified", self.modified))
        return tuple((name, value) for name, value in pairs if value)


def wanted_range(headers: Mapping[str, str], size: int, validators: Validators) -> tuple[int, int] | None:
    """The part that is to be sent, end left out; None where it is the whole."""
    match = ONE_RANGE.fullmatch(headers.get("range", "").replace(" ", ""))
    if match is None or match.groups() == ("", "") or not _unchanged(headers.get("if-range"), validators):
        return None
    first, last = match.groups()
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(size, int(last) + 1 if last else size)
    if start >= size or start >= end:
        raise Unsatisfiable
    return start, end


def not_modified(headers: Mapping[str, str], validators: Validators) -> bool:
    """Whether the client has this version; its date counts only where it gives no tag."""
    tags = headers.get("if-none-match")
    if tags is not None:
        mine = validators.etag.removeprefix("W/")
        return tags.strip() == "*" or (
            mine != "" and mine in {tag.strip().removeprefix("W/") for tag in tags.split(",")}
        )
    since = headers.get("if-modified-since")
    if since is None or not validators.modified:
        return False
    try:
        return parsedate_to_datetime(validators.modified) <= parsedate_to_datetime(since)
    except ValueError:
        return False


def _unchanged(condition: str | None, validators: Validators) -> bool:
    """Whether If-Range holds: a weak tag never does."""
    if condition is None:
        return True
    if condition.startswith(("W/", '"')):
        return condition == validators.etag and not condition.startswith("W/")
    return bool(validators.modified) and condition == validators.modified
