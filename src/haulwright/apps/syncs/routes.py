"""Syncs over HTTP: connections, their plan, syncs on request, and what operators ask."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Literal, cast

from fastapi import Query
from pydantic import Field

from haulwright.api.kit.call import ApiCall, Caller
from haulwright.api.kit.params import LONGEST_NAME_CHARS, VISIBLE, Cursor, JobId, Key, Limit, RequestBody
from haulwright.api.kit.routes import ApiReply, ApiRoutes
from haulwright.apps.syncs.application import Syncs
from haulwright.apps.syncs.connections import NewConnection
from haulwright.apps.syncs.credentials import SHARED
from haulwright.apps.syncs.stats import MOST_ROWS
from haulwright.apps.syncs.views import (
    ConnectionRemovedView,
    DispatchedView,
    SyncConnectionPageView,
    SyncConnectionView,
    SyncJobsView,
    SyncJobView,
    SyncPlanView,
    SyncRequeuedView,
    SyncStatsView,
    connection_document,
)

routes = ApiRoutes("syncs", prefix="/syncs")

Status = Literal["queued", "running", "failed", "dead_letter", "success", "cancelled", "skipped"]
Text = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME_CHARS)]


class NewConnectionBody(RequestBody):
    """An Airbyte connection to be synced from now on. Airbyte itself is not asked: the first sync shows."""

    airbyte_connection_id: Text
    external_account_id: Annotated[Text, Field(description="The account that is read, such as shop-456.")]
    connector_id: Annotated[Text, Field(description="What to call it; else as Airbyte does.")] | None = None
    workspace_id: Annotated[Text, Field(description="Its workspace; else that of the settings.")] | None = None
    cadence: (
        Annotated[str | float, Field(description="How often: seconds, or '6 h'; else as the plan says.")] | None
    ) = None
    credential: Annotated[Text, Field(description="The name of the credential.")] = SHARED
    enabled: bool = True

    def new_connection(self) -> NewConnection:
        """What the application takes."""
        return NewConnection(
            self.connector_id or self.airbyte_connection_id,
            self.airbyte_connection_id,
            self.external_account_id,
            self.workspace_id,
            self.cadence,
            self.credential,
            self.enabled,
        )


class DispatchBody(RequestBody):
    """A sync that somebody asks for."""

    external_account_id: Annotated[Text, Field(description="Refused where it is not the connection's.")] | None = None
    correlation_id: Annotated[Text, Field(description="The ticket or trace that the job carries.")] | None = None


class SyncRequeueBody(RequestBody):
    """A dead letter that is to live again."""

    correlation_id: Annotated[Text, Field(description="The ticket that the new job carries.")] | None = None


class PlanBody(RequestBody):
    """The plan of a tenant."""

    plan: Annotated[Text, Field(examples=["growth"])]


@routes.get("/connections", SyncConnectionPageView)
def list_connections(call: Caller, cursor: Cursor = None, limit: Limit = 50) -> SyncConnectionPageView:
    """List the connections of a tenant; staff who name none see those of all."""
    cursors = call.cursors()
    page = _syncs(call).page_connections(call.principal, after=cursors.unwrap(cursor), limit=limit)
    return {"connections": [connection_document(row) for row in page.rows], "next": cursors.wrap(page.next)}


@routes.post("/connections", SyncConnectionView, status=HTTPStatus.CREATED, conflict=True, keyed=True)
def add_connection(call: Caller, body: NewConnectionBody) -> ApiReply:
    """Have an Airbyte connection synced from now on."""
    connection = _syncs(call).add(call.principal, body.new_connection())
    place = {"Location": call.url_of("syncs", "connections", connection.connector_id)}
    return ApiReply(connection_document(connection), HTTPStatus.CREATED, place)


@routes.get("/connections/{connection}", SyncConnectionView, missing=True, etag=True)
def show_connection(call: Caller, connection: Key) -> SyncConnectionView:
    """Show one connection."""
    return connection_document(_syncs(call).get_connection(call.principal, connection))


@routes.delete("/connections/{connection}", ConnectionRemovedView, conflict=True)
def remove_connection(
    call: Caller,
    connection: Key,
    cancel: Annotated[bool, Query(description="Cancel its sync as well, where one is not finished.")] = False,  # noqa: FBT002 - a query
) -> ConnectionRemovedView:
    """Forget a connection. Its past syncs stay; at Airbyte nothing is deleted."""
    job_id = _syncs(call).remove(call.principal, connection, cancel=cancel)
    return {"tenant_id": call.principal.acting_tenant, "connector_id": connection, "cancelled": job_id}


@routes.post("/connections/{connection}/enable", SyncConnectionView, missing=True, keyed=True)
def enable_connection(call: Caller, connection: Key) -> SyncConnectionView:
    """Sync a connection again."""
    return connection_document(_syncs(call).enable(call.principal, connection, enabled=True))


@routes.post("/connections/{connection}/disable", SyncConnectionView, missing=True, keyed=True)
def disable_connection(call: Caller, connection: Key) -> SyncConnectionView:
    """Leave a connection alone until it is enabled again. A sync that is under way goes on."""
    return connection_document(_syncs(call).enable(call.principal, connection, enabled=False))


@routes.post(
    "/connections/{connection}/dispatch",
    DispatchedView,
    status=HTTPStatus.ACCEPTED,
    missing=True,
    conflict=True,
    keyed=True,
)
def dispatch(call: Caller, connection: Key, body: DispatchBody) -> ApiReply:
    """Enqueue a sync now. Only support goes below what the plan allows."""
    job_id = _syncs(call).dispatch(call.principal, connection, **body.model_dump())
    view: DispatchedView = {
        "job_id": job_id, "tenant_id": call.principal.acting_tenant, "connector_id": connection
    }  # fmt: skip
    return ApiReply(view, HTTPStatus.ACCEPTED, {"Location": call.url_of("jobs", job_id)})


@routes.get("/plan", SyncPlanView)
def show_plan(call: Caller) -> SyncPlanView:
    """Show the plan of a tenant."""
    plan = _syncs(call).get_plan(call.principal)
    return {"tenant": call.principal.acting_tenant, "plan": plan.name, "connections": None}


@routes.put("/plan", SyncPlanView)
def set_plan(call: Caller, body: PlanBody) -> SyncPlanView:
    """Give a tenant another plan; its connections keep to it at once. It takes support."""
    count = _syncs(call).set_plan(call.principal, body.plan)
    return {"tenant": call.principal.acting_tenant, "plan": body.plan, "connections": count}


@routes.get("/jobs", SyncJobsView)
def list_jobs(
    call: Caller,
    connection: Annotated[
        str | None, Query(max_length=LONGEST_NAME_CHARS, pattern=VISIBLE, description="Only those of this connection.")
    ] = None,
    status: Annotated[Status | None, Query(description="Only those.")] = None,
    limit: Limit = MOST_ROWS,
) -> SyncJobsView:
    """List the newest syncs of a tenant."""
    return {"jobs": _syncs(call).list_jobs(call.principal, connector_id=connection, status=status, limit=limit)}


@routes.get("/jobs/{job_id}", SyncJobView, missing=True, etag=True)
def show_job(call: Caller, job_id: JobId) -> SyncJobView:
    """Show one sync."""
    return _syncs(call).get_job(call.principal, job_id)


@routes.post(
    "/jobs/{job_id}/requeue",
    SyncRequeuedView,
    status=HTTPStatus.ACCEPTED,
    missing=True,
    conflict=True,
    keyed=True,
)
def requeue(call: Caller, job_id: JobId, body: SyncRequeueBody) -> ApiReply:
    """Give the dead letter of a sync another life, as a new job that is linked to it. It takes support."""
    job = _syncs(call).requeue(call.principal, job_id, correlation_id=body.correlation_id)
    view: SyncRequeuedView = {"job_id": job.id, "requeued_from": job_id}
    return ApiReply(view, HTTPStatus.ACCEPTED, {"Location": call.url_of("jobs", job.id)})


@routes.get("/stats", SyncStatsView)
def stats(call: Caller) -> SyncStatsView:
    """Count syncs by state, connection and error; staff who name no tenant see those of all."""
    return _syncs(call).get_stats(call.principal)


def _syncs(call: ApiCall) -> Syncs:
    return cast("Syncs", call.application("syncs"))
