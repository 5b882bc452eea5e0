"""Dead letters: list, count, put together by error, and give them another life."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from haulwright.api.kit.call import Caller
from haulwright.api.kit.params import Cursor, Filter, JobId, Limit, RequestBody
from haulwright.api.kit.routes import ApiRoutes
from haulwright.operations.filters import LONGEST_FILTER_CHARS, require_filter
from haulwright.operations.views.dead_letters import (
    DeadCountPageView,
    DeadGroupsView,
    RequeuedView,
    RequeueView,
    WouldRequeueView,
    dead_counts_view,
    dead_groups_view,
    requeue_view,
    requeued_view,
    would_requeue_view,
)
from haulwright.operations.views.jobs import JobPageView, jobs_view

routes = ApiRoutes("dead letters", prefix="/dead-letters")

MOST_AT_ONCE = 1000
"""Dead letters that one request requeues at most."""


class RequeueBody(RequestBody):
    """How a dead letter is given another life."""

    correlation_id: Annotated[str, Field(description="The ticket or trace of the new job.")] | None = None
    fresh: Annotated[bool, Field(description="Do the effects again instead of going on from them.")] = False


class RequeueManyBody(RequeueBody):
    """Which dead letters are given another life."""

    q: Annotated[str, Field(max_length=LONGEST_FILTER_CHARS, description="The filter language; empty is all.")] = ""
    limit: Annotated[int, Field(ge=1, le=MOST_AT_ONCE, description="At most so many, the newest first.")] = 100
    preview: Annotated[bool, Field(description="Say which they are, and change nothing.")] = False


@routes.get("", JobPageView)
def list_(call: Caller, q: Filter = "", cursor: Cursor = None, limit: Limit = 50) -> JobPageView:
    """List the dead letters that nobody requeued yet, the newest first."""
    cursors = call.cursors(q)
    view = jobs_view(call.operations.dead_letters.page(require_filter(q), after=cursors.unwrap(cursor), limit=limit))
    return {**view, "next": cursors.wrap(view["next"])}


@routes.get("/counts", DeadCountPageView)
def counts(call: Caller, cursor: Cursor = None, limit: Limit = 50) -> DeadCountPageView:
    """Count the dead letters that wait for somebody, by tenant and error code."""
    cursors = call.cursors()
    view = dead_counts_view(call.operations.dead_letters.counts(after=cursors.unwrap(cursor), limit=limit))
    return {**view, "next": cursors.wrap(view["next"])}


@routes.get("/groups", DeadGroupsView)
def groups(call: Caller, limit: Limit = 50) -> DeadGroupsView:
    """Put the newest 1,000 dead letters together by task and error, the most first."""
    return dead_groups_view(call.operations.dead_letters.groups(limit=limit))


@routes.post("/{job_id}/requeue", RequeuedView, missing=True, conflict=True, keyed=True)
def requeue(call: Caller, job_id: JobId, body: RequeueBody) -> RequeuedView:
    """Give a dead letter another life. It can be done once."""
    letters = call.operations.dead_letters
    new = letters.requeue(job_id, correlation_id=body.correlation_id, fresh=body.fresh)
    return requeued_view(new.id, job_id)


@routes.post("/requeue", RequeueView | WouldRequeueView)
def requeue_many(call: Caller, body: RequeueManyBody) -> RequeueView | WouldRequeueView:
    """Give the dead letters of a filter another life, each on its own; a refused one does not stop the others."""
    letters = call.operations.dead_letters
    preview = letters.requeue_preview(require_filter(body.q), limit=body.limit)
    if body.preview:
        return would_requeue_view(preview)
    return requeue_view(letters.requeue_many(preview.ids, correlation_id=body.correlation_id, fresh=body.fresh))
