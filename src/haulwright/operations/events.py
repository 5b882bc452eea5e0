"""Events as one principal sees them: the newest by pages, and those that come, by a cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from haulwright.errors import InvalidValue
from haulwright.operations.access import Noun, allowed
from haulwright.stores.events import EventFilter, Place, beyond
from haulwright.stores.paging import PAGE_LIMIT, Page, check_page, cursor_of, read_cursor

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.events import Event


SPAN: Final = 100_000
"""So many events one look of a follower goes over, however few of them it is about."""


class EventFollower:
    """One who goes through the events and keeps the place: nothing is missed, nothing comes twice."""

    def __init__(self, app: Haulwright, place: Place, which: EventFilter) -> None:
        self._app = app
        self._place = place
        self._which = which

    @property
    def after(self) -> int:
        """Every event up to here was given; as text it is a cursor."""
        return self._place.after

    def read(self, limit: int = PAGE_LIMIT) -> list[Event]:
        """The next events. None does not mean the end: `after` says how far that was, and whether it went on."""
        span = SPAN if self._which.job_id is None else None
        events, self._place = self._app.store.events.follow(self._place, self._which, limit=limit, span=span)
        return events


class EventOperations(Noun):
    """What happened, in the order in which it was written."""

    @allowed("event.read")
    def page(
        self, *, name: str | None = None, tenant: str | None = None, after: str | None = None, limit: int = 50
    ) -> Page[Event]:
        """The newest events, the oldest of them first; with a cursor those before that page."""
        before = {} if after is None else {"before": read_cursor(after, int)[0]}
        events = self._store.events.latest(
            tenant=self._tenant or tenant, name=name, limit=check_page(limit) + 1, **before
        )
        rows = events[-limit:]
        return Page(rows, str(rows[0].seq) if len(events) > limit else None)

    @allowed("event.read")
    def follow(
        self,
        *,
        name: str | None = None,
        tenant: str | None = None,
        after: str | None = None,
        last: int = 0,
        limit: int = PAGE_LIMIT,
    ) -> Page[Event]:
        """The events after a cursor; without one from the newest `last` on. Each comes once, none is missed.

        `next` is where to look next, and always there; the `seq` of an event is a cursor too. What comes after an event
        that somebody has not committed yet waits for that commit.
        """
        tenant = self._tenant or tenant
        place = self._start(name, tenant, last) if after is None else _place_of(after)
        events, place = self._store.events.follow(place, EventFilter(tenant, name), limit=check_page(limit))
        return Page(events, _cursor_of(place))

    @allowed("event.read")
    def follower(
        self, *, name: str | None = None, job_id: str | None = None, after: str | None = None
    ) -> EventFollower:
        """Somebody who goes on from a cursor, page by page; without one from now on."""
        newest = self._store.events.newest()
        place = Place(newest) if after is None else _place_of(after)
        if max(place.after, place.until) > newest:
            raise beyond(place, newest)
        return EventFollower(self._app, place, EventFilter(self._tenant, name, job_id))

    def _start(self, name: str | None, tenant: str | None, last: int) -> Place:
        """Before the newest so many."""
        if not 0 <= last <= PAGE_LIMIT:
            raise InvalidValue("last", last, f"is not between 0 and {PAGE_LIMIT}")
        record = self._store.events
        newest = record.newest()
        events = record.latest(tenant=tenant, name=name, limit=last, before=newest + 1) if last else []
        return Place((events[0].seq or 1) - 1 if events else newest)


def _place_of(cursor: str) -> Place:
    if cursor.isdecimal():
        return Place(*read_cursor(cursor, int))
    after, until, writers = read_cursor(cursor, int, int, str)
    return Place(after, until, tuple(writers.split()))


def _cursor_of(place: Place) -> str:
    """A place as text: the number of the last event, and whom the next ones wait for, where they do."""
    if place.until <= place.after:
        return str(place.after)
    return cursor_of(place.after, place.until, " ".join(place.writers))
