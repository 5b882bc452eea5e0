"""The events of the last while, in their order: all of them behind one place and up to another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from haulwright.api.streams.subscription import Topic
    from haulwright.events import Event

CAPACITY: Final = 10_000


class EventRing:
    """A bounded memory of events that were read once."""

    def __init__(self, start: int) -> None:
        self.start = start
        """Every event behind this place, and up to `end`, is here."""
        self.end = start
        self._events: list[Event] = []
        self._places: list[int] = []

    def add(self, events: Sequence[Event], end: int) -> None:
        """Add what comes next, up to a place before which nothing can appear any more."""
        self._events += events
        self._places += [event.seq or 0 for event in events]
        self.end = end
        if len(self._events) > 2 * CAPACITY:  # half of it at once: a cut copies the list
            self.start = self._places[-CAPACITY - 1]
            del self._events[:-CAPACITY], self._places[:-CAPACITY]

    def read(self, topic: Topic, after: int, limit: int) -> list[Event]:
        """The next events of a topic behind a place."""
        first = bisect_right(self._places, after)
        matches: list[Event] = []
        while first < len(self._events) and len(matches) < limit:
            matches += topic.matching(self._events[first : first + limit])
            first += limit
        return matches[:limit]
