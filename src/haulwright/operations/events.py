"""Events as one principal sees them: the newest by pages, and those that come, by a cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haulwright.errors import InvalidValue
from haulwright.operations.access import Noun, allowed
from haulwright.stores.paging import PAGE_LIMIT, Page, check_page, read_cursor

if TYPE_CHECKING:
    from haulwright.events import Event


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
        """The events after a cursor; without one the newest `last`. `next` is where to look next, and always there."""
        tenant = self._tenant or tenant
        if after is None:
            return self._start(name, tenant, last)
        place = read_cursor(after, int)[0]
        events = self._store.events.since(place, tenant=tenant, name=name, limit=check_page(limit))
        return Page(events, str(events[-1].seq) if events else after)

    def _start(self, name: str | None, tenant: str | None, last: int) -> Page[Event]:
        if not 0 <= last <= PAGE_LIMIT:
            raise InvalidValue("last", last, f"is not between 0 and {PAGE_LIMIT}")
        record = self._store.events
        newest = [event.seq or 0 for event in record.latest(limit=1)] or [0]
        events = record.latest(tenant=tenant, name=name, limit=last, before=newest[0] + 1) if last else []
        return Page(events, str(newest[0]))
