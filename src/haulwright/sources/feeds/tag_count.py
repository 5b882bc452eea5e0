"""How many tags a feed has in one place: feedparser compares each with all others there, in quadratic time."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from haulwright.errors import Permanent

TAGS: Final = frozenset({"category", "subject", "keywords", "tags"})
_LISTS: Final = frozenset({"keywords", "tags"})
"""Several in one text, with commas between them."""
_OF_THE_FEED: Final = frozenset({"image", "textinput"})
"""What stands in these is kept with the feed, although they stand in an entry."""
BROKEN_TIMES: Final = 20
"""In a document that is not well-formed nobody knows what stands where: all its tags may be so many times as many."""
_TAG: Final = re.compile(rf"<(/?)(?:[A-Za-z_][\w.-]*:)?({'|'.join(sorted(TAGS))})(?=[\s>/])", re.IGNORECASE)


class TagCount:
    """Counts the tags of each entry and of the feed itself, as feedparser would gather them."""

    def __init__(self, data: bytes, most: int) -> None:
        self._data = data
        self._most = most
        self._of_feed = self._of_entry = 0
        self._is_in_entry = self._is_in_image = False
        self._list: tuple[int, int] | None = None
        """The outermost list that the walk is in: its depth and its first byte."""

    def start(self, local: str, depth: int, at: int, *, is_entry: bool) -> None:
        """An element begins at this byte."""
        if is_entry:
            self._is_in_entry, self._of_entry = True, 0
        elif local in _OF_THE_FEED:
            self._is_in_image = True
        elif local in TAGS:
            self._add(1)
            if local in _LISTS and self._list is None:
                self._list = depth, at

    def end(self, local: str, depth: int, at: int, *, is_entry: bool) -> None:
        """An element ends at this byte. With an entry inside another both are over, to feedparser."""
        if self._list is not None and self._list[0] == depth:
            self._add(self._data.count(b",", self._list[1], at))
            self._list = None
        if is_entry:
            self._is_in_entry = False
        elif local in _OF_THE_FEED:
            self._is_in_image = False

    def _add(self, tags: int) -> None:
        if self._is_in_entry and not self._is_in_image:
            self._of_entry += tags
        else:
            self._of_feed += tags
        if max(self._of_entry, self._of_feed) > self._most:
            raise too_many_tags(self._most)


def check_broken(document: str, most: int) -> None:
    """Refuse a document that is not well-formed for more tags than all its entries may have."""
    tags, marks = 0, list(_TAG.finditer(document))
    for mark, following in pairwise([*marks, None]):
        if mark is None or mark[1]:
            continue
        tags += 1
        if mark[2].lower() in _LISTS:
            tags += document.count(",", mark.end(), following.start() if following else len(document))
    if tags > most * BROKEN_TIMES:
        raise too_many_tags(most)


def too_many_tags(most: int) -> Permanent:
    """The error for an entry, or a feed, with more tags than it may have."""
    return Permanent(f"The feed has more than {most} tags in one place.")
