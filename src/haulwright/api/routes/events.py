"""Events: what happened, the newest by pages."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from haulwright.api.kit.call import Caller
from haulwright.api.kit.params import LONGEST_NAME_CHARS, Cursor, Limit
from haulwright.api.kit.routes import ApiRoutes
from haulwright.operations.event_names import require_event_name
from haulwright.operations.views.events import EventPageView, events_view

routes = ApiRoutes("events", prefix="/events")


@routes.get("", EventPageView)
def list_(
    call: Caller,
    name: Annotated[str | None, Query(max_length=LONGEST_NAME_CHARS, description="Only events of this name.")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> EventPageView:
    """List the newest events, the oldest of them first; the next page is the one before them."""
    cursors = call.cursors(name)
    event_name = None if name is None else require_event_name(name)
    page = call.operations.events.page(name=event_name, after=cursors.unwrap(cursor), limit=limit)
    view = events_view(page)
    return {**view, "next": cursors.wrap(view["next"])}
