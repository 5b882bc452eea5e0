"""Cursors that belong to one list: whose, of which route, and by which filter. Another list refuses them."""

from __future__ import annotations

import hashlib
from typing import Final

from haulwright.errors import InvalidValue

MARK_CHARS: Final = 12


class Cursors:
    """The cursors of one list."""

    def __init__(self, *facts: str | None) -> None:
        text = "\0".join("" if fact is None else f"={fact}" for fact in facts)
        self._mark = hashlib.sha256(text.encode()).hexdigest()[:MARK_CHARS]

    def wrap(self, cursor: str | None) -> str | None:
        """A cursor of the operations as this list gives it away."""
        return None if cursor is None else f"{self._mark}.{cursor}"

    def unwrap(self, cursor: str | None) -> str | None:
        """The cursor of the operations; one of another list is refused, as one that nobody gave is."""
        if cursor is None:
            return None
        mark, _, inner = cursor.partition(".")
        if mark != self._mark or not inner:
            hint = "Give the `next` of a page of this list, with the same filter and the same token."
            raise InvalidValue("cursor", cursor, "is not where a page of this list ended", hint=hint)
        return inner
