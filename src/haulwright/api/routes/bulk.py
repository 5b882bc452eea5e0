"""Bulk actions: one act on all jobs of a filter, as a durable job with progress that can be stopped."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from pydantic import Field

from haulwright.api.kit.call import Caller
from haulwright.api.kit.params import Cursor, JobId, Limit, RequestBody
from haulwright.api.kit.routes import ApiReply, ApiRoutes
from haulwright.operations.bulk_order import Act
from haulwright.operations.filters import LONGEST_FILTER_CHARS
from haulwright.operations.views.bulk import (
    BulkActionView,
    BulkPageView,
    BulkPreviewView,
    bulk_action_view,
    bulk_page_view,
    bulk_preview_view,
)

routes = ApiRoutes("bulk", prefix="/bulk")


class BulkBody(RequestBody):
    """One act on all jobs of a filter."""

    act: Annotated[Act, Field(description="Requeue dead letters, cancel jobs, or make waiting ones due at once.")]
    q: Annotated[str, Field(max_length=LONGEST_FILTER_CHARS, description="The filter language; empty is all.")] = ""
    fresh: Annotated[bool, Field(description="Of a requeue: do the effects again.")] = False
    correlation_id: Annotated[str, Field(description="Of a requeue: the ticket or trace of the new jobs.")] | None = (
        None
    )

    def options(self) -> dict[str, Any]:
        """What the operations take beside the act and the filter."""
        return {"fresh": self.fresh, "correlation_id": self.correlation_id}


class StopBody(RequestBody):
    """Why an action is stopped; it is recorded."""

    reason: Annotated[str, Field(max_length=500)] = "stopped on request"


@routes.post("/preview", BulkPreviewView)
def preview(call: Caller, body: BulkBody) -> BulkPreviewView:
    """Say how many jobs an action would take, up to 10,000, with the newest of them. Nothing is changed."""
    return bulk_preview_view(call.operations.bulk.preview(body.act, body.q, **body.options()))


@routes.post("", BulkActionView, status=HTTPStatus.ACCEPTED, keyed=True)
def start(call: Caller, body: BulkBody) -> ApiReply:
    """Have an act done to all jobs that a filter finds up to now; it takes the right to do it to one of them."""
    action = bulk_action_view(call.operations.bulk.start(body.act, body.q, **body.options()))
    return ApiReply(action, HTTPStatus.ACCEPTED, {"Location": call.url_of("bulk", action["id"])})


@routes.get("", BulkPageView)
def list_(call: Caller, cursor: Cursor = None, limit: Limit = 50) -> BulkPageView:
    """List bulk actions, the newest first."""
    cursors = call.cursors()
    view = bulk_page_view(call.operations.bulk.page(after=cursors.unwrap(cursor), limit=limit))
    return {**view, "next": cursors.wrap(view["next"])}


@routes.get("/{job_id}", BulkActionView, missing=True)
def show(call: Caller, job_id: JobId) -> BulkActionView:
    """Show a bulk action, and how far it has come."""
    return bulk_action_view(call.operations.bulk.get(job_id))


@routes.post("/{job_id}/stop", BulkActionView, missing=True, conflict=True, keyed=True)
def stop(call: Caller, job_id: JobId, body: StopBody) -> BulkActionView:
    """Stop an action: no page of jobs begins after this. What was done stays done."""
    return bulk_action_view(call.operations.bulk.stop(job_id, body.reason))
