"""Pages of a list in their addresses: the next one by its cursor, the one before by the cursors that led here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from haulwright.errors import InvalidValue

if TYPE_CHECKING:
    from haulwright.api.kit.cursors import Cursors

LIMIT: Final = 50
LARGEST: Final = 200
PAGED: Final = ("cursor", "trail", "limit")
"""The words of a query that belong to a list."""
LONGEST_TRAIL: Final = 20
"""So many pages one can go back one by one; behind them is the first."""
_BETWEEN: Final = "~"
LONGEST_WORD_CHARS: Final = 4000


@dataclass(frozen=True, slots=True)
class Turns:
    """Where a page of a list is, and the addresses of its neighbours."""

    limit: int
    next: str | None = None
    """The address of the page after this one; None where there is none."""
    previous: str | None = None
    first: str | None = None
    after: str | None = field(default=None, metadata={"hidden": True})
    """What operations take: where this page starts."""
    _cursors: Cursors | None = field(default=None, metadata={"hidden": True})
    _trail: tuple[str, ...] = field(default=(), metadata={"hidden": True})
    _here: Callable[..., str] | None = field(default=None, metadata={"hidden": True})

    @classmethod
    def of(cls, query: Mapping[str, str], cursors: Cursors, *, limit: int, here: Callable[..., str]) -> Turns:
        """The place that an address says. A cursor of another list is refused."""
        cursor, trail_text = query.get("cursor") or None, query.get("trail", "")
        if max(len(cursor or ""), len(trail_text)) > LONGEST_WORD_CHARS:
            raise InvalidValue("cursor", f"{(cursor or trail_text)[:40]}...", "is no place in a list")
        trail = tuple(trail_text.split(_BETWEEN)) if trail_text else ()
        previous = first = None
        if cursor is not None:
            first = here(cursor=None, trail=None)
            previous = here(cursor=trail[-1], trail=_BETWEEN.join(trail[:-1])) if trail else first
        new = cls(_limit_of(query, limit), None, previous, first, cursors.unwrap(cursor), cursors, trail, here)
        return replace(new, _trail=(*trail, cursor) if cursor else trail)

    def then(self, following: str | None) -> Turns:
        """The same with the address of the page that begins at a cursor of the operations."""
        if following is None or self._cursors is None or self._here is None:
            return self
        trail = _BETWEEN.join(self._trail[-LONGEST_TRAIL:])
        return replace(self, next=self._here(cursor=self._cursors.wrap(following), trail=trail))


def _limit_of(query: Mapping[str, str], default: int) -> int:
    text = query.get("limit", "")
    if not text:
        return default
    if not (text.isascii() and text.isdecimal()) or len(text) > len(str(LARGEST)) or not 1 <= int(text) <= LARGEST:
        raise InvalidValue("limit", text[:40], f"is no number from 1 to {LARGEST}")
    return int(text)
