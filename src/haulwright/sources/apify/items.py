"""The items of a dataset, page by page and never more than was asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from haulwright.sources.http import TooLarge

if TYPE_CHECKING:
    from haulwright.sources.apify.client import Apify

PAGE_ITEMS: Final = 500

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ItemsPage:
    """Some items in a row. Where empty ones are left out there may be fewer than were asked for."""

    items: list[Item]
    total: int | None
    """How many there are in all, where Apify says so."""


class Items:
    """Items to walk over once, with `for` or with `async for`; they arrive as they are needed.

    `limit` caps what is read: `maxItems` of a run caps only what is charged.
    """

    def __init__(self, apify: Apify, dataset: str, *, limit: int, page: int = PAGE_ITEMS) -> None:
        self._apify = apify
        self._dataset = dataset
        self._limit = limit
        self._page = page
        self._offset = 0
        self._more = True
        self.count = 0
        """How many items were given so far."""
        self.total: int | None = None
        """How many the dataset holds, empty ones included; None before the first page."""

    @property
    def truncated(self) -> bool:
        """Whether the limit left items behind."""
        return self.count >= self._limit and self.total is not None and self._offset < self.total

    def __iter__(self) -> Iterator[Item]:
        while self._wanted:
            try:
                page = self._apify.page(self._dataset, offset=self._offset, limit=self._wanted)
            except TooLarge as error:
                self._ask_for_less(error)
            else:
                yield from self._taken(page)

    async def __aiter__(self) -> AsyncIterator[Item]:
        while self._wanted:
            try:
                page = await self._apify.apage(self._dataset, offset=self._offset, limit=self._wanted)
            except TooLarge as error:
                self._ask_for_less(error)
            else:
                for item in self._taken(page):
                    yield item

    @property
    def _wanted(self) -> int:
        """How many to ask for next; nothing where all were read."""
        return min(self._page, self._limit - self.count) if self._more else 0

    def _taken(self, page: ItemsPage) -> list[Item]:
        """Go on by what was asked for, not by what came: empty items are left out after the page was cut."""
        limit = self._wanted
        items = page.items[:limit]
        self.total = page.total
        self._offset += limit
        self.count += len(items)
        self._more = bool(items) if page.total is None else self._offset < page.total
        return items

    def _ask_for_less(self, error: TooLarge) -> None:
        """Halve a page that is too large to be read; a single item that is too large is the caller's to know."""
        if self._wanted == 1:
            raise error
        self._page = self._wanted // 2
