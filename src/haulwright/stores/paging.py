"""Pages of a list: so many rows, and where the next page starts. No list is cut in silence."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from haulwright.errors import InvalidValue

T = TypeVar("T")

PAGE_LIMIT: Final = 1000
"""The most rows of one page."""
LONGEST_NUMBER: Final = 19
"""Digits that no 64-bit number passes."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some rows of a list, in its order."""

    rows: list[T]
    next: str | None
    """What to give as `after` for the rows behind these; None where there are none."""


def check_page(limit: int) -> int:
    """A page has at least one row, and not so many that it burdens anybody."""
    if not 1 <= limit <= PAGE_LIMIT:
        raise InvalidValue("limit", limit, f"is not between 1 and {PAGE_LIMIT}")
    return limit


def page_of(rows: Sequence[T], limit: int, cursor: Callable[[T], str]) -> Page[T]:
    """A page of rows that were read with one more than it may have, so that it knows whether more follow."""
    shown = list(rows[:limit])
    return Page(shown, cursor(shown[-1]) if len(rows) > limit else None)


def every_row(read: Callable[[str | None], Page[T]]) -> Iterator[T]:
    """All rows of a list, page by page."""
    after: str | None = None
    while True:
        page = read(after)
        yield from page.rows
        after = page.next
        if after is None:
            return


def cursor_of(*values: str | int) -> str:
    """Where a page ended, as one word that nobody needs to read."""
    return urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def read_cursor(text: str, *kinds: type[str | int]) -> Any:
    """The values of a cursor; one that no page gave is refused. A single number may stand as it is."""
    if kinds == (int,):
        values: Any = [int(text)] if text.isdecimal() and len(text) < LONGEST_NUMBER else None
    else:
        values = _decoded(text)
    if not isinstance(values, list) or [type(value) for value in values] != [*kinds]:
        raise no_cursor(text)
    return tuple(values)


def no_cursor(text: str) -> InvalidValue:
    """The refusal of a cursor that no page gave."""
    return InvalidValue("after", text, "is not where a page ended", hint="Give the `next` of the page before.")


def _decoded(text: str) -> Any:
    try:
        return json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, RecursionError):
        return None
