"""Jobs: enqueue any task of the app, list, look, cancel, run again."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, cast

from fastapi import Query
from pydantic import Field
from typing_extensions import TypedDict

from haulwright.api.kit.call import ApiCall, Caller
from haulwright.api.kit.collector import Collector
from haulwright.api.kit.params import Cursor, Filter, JobId, Limit, RequestBody
from haulwright.api.kit.problems import request_id_of
from haulwright.api.kit.routes import ApiReply, ApiRoutes
from haulwright.engine.job import Enqueued
from haulwright.operations.filters import require_filter
from haulwright.operations.jobs import EnqueueOptions, NewCall
from haulwright.operations.joint_enqueues import CallOfRequest
from haulwright.operations.views.effects import EffectPageView, effects_view
from haulwright.operations.views.events import EventPageView, events_view
from haulwright.operations.views.jobs import (
    CancelledView,
    EnqueuedView,
    JobDetailView,
    JobPageView,
    JobView,
    JobWhyView,
    RetriedView,
    cancelled_view,
    enqueued_view,
    job_detail_view,
    job_view,
    job_why_view,
    jobs_view,
    retried_view,
)

JointEnqueues = Collector[CallOfRequest, Enqueued | None]

routes = ApiRoutes("jobs", prefix="/jobs")

MOST_AT_ONCE = 1000
"""Jobs that one request enqueues at most."""


class NewJobBody(RequestBody):
    """A job to enqueue. What is left out is as its task says."""

    task: Annotated[str, Field(description="A task that the app has registered.")]
    args: Annotated[dict[str, Any], Field(description="The arguments by name, as its signature has them.")] = {}  # noqa: RUF012 - pydantic copies it
    queue: str | None = None
    priority: Annotated[int, Field(ge=-100, le=100)] | None = None
    delay: Annotated[str | float, Field(description="Not before this has passed: seconds, or '10 min'.")] | None = None
    run_at: Annotated[datetime, Field(description="Not before this moment, with its zone.")] | None = None
    deadline: Annotated[str | float, Field(description="A job that has not begun by then ends as dead.")] | None = None
    unique: Annotated[str, Field(description="Another unique key than the task's.")] | None = None
    job_key: Annotated[str, Field(description="Plans a job once: no second one is made under it.")] | None = None
    correlation_id: str | None = None
    tags: Annotated[list[str], Field(max_length=50)] = []  # noqa: RUF012 - as above
    headers: dict[str, str] | None = None

    def new_call(self) -> NewCall:
        """What the operations take."""
        options = {name: getattr(self, name) for name in self.model_fields_set if name not in {"task", "args"}}
        return NewCall(self.task, self.args, cast("EnqueueOptions", options))


class NewJobsBody(RequestBody):
    """Jobs to enqueue together: all of them, or none."""

    jobs: Annotated[list[NewJobBody], Field(min_length=1, max_length=MOST_AT_ONCE)]


class EnqueuedManyView(TypedDict):
    """The jobs that stand for a request, in its order."""

    jobs: list[EnqueuedView]


class ReasonBody(RequestBody):
    """Why something is done; it is recorded."""

    reason: Annotated[str, Field(max_length=500)] = "cancelled on request"


async def _enqueue_jointly(call: ApiCall, body: NewJobBody) -> ApiReply | None:
    joint_enqueues: JointEnqueues = call.request.app.state.joint_enqueues
    enqueued = await joint_enqueues.submit(CallOfRequest(call.principal, body.new_call(), request_id_of(call.request)))
    return None if enqueued is None else _reply(call, enqueued)


@routes.post("", EnqueuedView, status=HTTPStatus.ACCEPTED, conflict=True, keyed=True, jointly=_enqueue_jointly)
def enqueue(call: Caller, body: NewJobBody) -> ApiReply:
    """Enqueue a job of a registered task."""
    new = body.new_call()
    return _reply(call, call.operations.jobs.enqueue(new.task, new.arguments, **new.options))


def _reply(call: ApiCall, enqueued: Enqueued) -> ApiReply:
    return ApiReply(enqueued_view(enqueued), HTTPStatus.ACCEPTED, {"Location": call.url_of("jobs", enqueued.id)})


@routes.post("/bulk", EnqueuedManyView, status=HTTPStatus.ACCEPTED, conflict=True, keyed=True)
def enqueue_many(call: Caller, body: NewJobsBody) -> EnqueuedManyView:
    """Enqueue many jobs in one transaction."""
    enqueued = call.operations.jobs.enqueue_many([job.new_call() for job in body.jobs])
    return {"jobs": [enqueued_view(job) for job in enqueued]}


@routes.get("", JobPageView)
def list_(
    call: Caller,
    q: Filter = "",
    cursor: Cursor = None,
    limit: Limit = 50,
    stuck: Annotated[bool, Query(description="Only running jobs whose lease has run out.")] = False,  # noqa: FBT002 - a query
) -> JobPageView:
    """List jobs by a filter, the newest first."""
    cursors, which = call.cursors(q, str(stuck)), require_filter(q)
    find = call.operations.jobs.stuck if stuck else call.operations.jobs.page
    view = jobs_view(find(which, after=cursors.unwrap(cursor), limit=limit))
    return {**view, "next": cursors.wrap(view["next"])}


@routes.get("/{job_id}", JobView, missing=True, etag=True)
def show(call: Caller, job_id: JobId) -> JobView:
    """Show one job."""
    return job_view(call.operations.jobs.get(job_id))


@routes.get("/{job_id}/detail", JobDetailView, missing=True)
def detail(call: Caller, job_id: JobId) -> JobDetailView:
    """Show one job with its timeline, its effects and where it stands."""
    jobs = call.operations.jobs
    job = jobs.get(job_id)
    view = job_detail_view(job, jobs.timeline(job_id), call.operations.effects.of_job(job_id), jobs.why(job_id))
    cursors = call.cursors(job_id)
    return {
        **view, "events_next": cursors.wrap(view["events_next"]), "effects_next": cursors.wrap(view["effects_next"])
    }  # fmt: skip


@routes.get("/{job_id}/timeline", EventPageView, missing=True)
def timeline(call: Caller, job_id: JobId, cursor: Cursor = None, limit: Limit = 500) -> EventPageView:
    """Show what happened to a job, attempt by attempt."""
    cursors = call.cursors(job_id)
    view = events_view(call.operations.jobs.timeline(job_id, after=cursors.unwrap(cursor), limit=limit))
    return {**view, "next": cursors.wrap(view["next"])}


@routes.get("/{job_id}/effects", EffectPageView, missing=True)
def effects(call: Caller, job_id: JobId, cursor: Cursor = None, limit: Limit = 500) -> EffectPageView:
    """Show what a job did outside, from the ledger."""
    cursors = call.cursors(job_id)
    view = effects_view(call.operations.effects.of_job(job_id, after=cursors.unwrap(cursor), limit=limit))
    return {**view, "next": cursors.wrap(view["next"])}


@routes.get("/{job_id}/why", JobWhyView, missing=True)
def why(call: Caller, job_id: JobId) -> JobWhyView:
    """Say where a job stands, and what to do about it."""
    return job_why_view(job_id, call.operations.jobs.why(job_id))


@routes.post("/{job_id}/cancel", CancelledView, missing=True, conflict=True, keyed=True)
def cancel(call: Caller, job_id: JobId, body: ReasonBody) -> CancelledView:
    """Cancel a job: at once where it waits, by a signal where it runs."""
    return cancelled_view(job_id, call.operations.jobs.cancel(job_id, body.reason))


@routes.post("/{job_id}/retry", RetriedView, missing=True, conflict=True, keyed=True)
def retry(call: Caller, job_id: JobId) -> RetriedView:
    """Run a job again now; a dead one gets another life, which takes that right."""
    return retried_view(call.operations.jobs.retry(job_id))
