"""Workers: who works here, and how many jobs each has in hand."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from haulwright.api.kit.call import Caller
from haulwright.api.kit.params import Cursor, Limit
from haulwright.api.kit.routes import ApiRoutes
from haulwright.operations.views.workers import WorkersView, workers_view

routes = ApiRoutes("workers", prefix="/workers")


@routes.get("", WorkersView)
def list_(
    call: Caller,
    cursor: Cursor = None,
    limit: Limit = 50,
    everyone: Annotated[bool, Query(description="Also those that were not seen lately.")] = False,  # noqa: FBT002 - a query
) -> WorkersView:
    """List the workers that were seen lately, the last started first."""
    cursors = call.cursors(str(everyone))
    page = call.operations.workers.page(everyone=everyone, after=cursors.unwrap(cursor), limit=limit)
    view = workers_view(page)
    return {**view, "next": cursors.wrap(view["next"])}
