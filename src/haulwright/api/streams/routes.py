"""Events as they happen: those of all jobs, those of one, and the overview."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from haulwright.api.kit.call import ApiCall, Caller
from haulwright.api.kit.params import LONGEST_CURSOR_CHARS, JobId
from haulwright.api.kit.routes import ApiRoutes
from haulwright.api.streams.event_feed import EventFeed
from haulwright.api.streams.overview import OverviewFeed
from haulwright.api.streams.response import EventStreamResponse
from haulwright.api.streams.streams import Streams
from haulwright.api.streams.subscription import Topic
from haulwright.errors import InvalidValue
from haulwright.operations.access import require
from haulwright.operations.event_names import require_event_name

routes = ApiRoutes("streams")

After = Annotated[
    str | None,
    Query(
        max_length=LONGEST_CURSOR_CHARS, description="Begin behind this event; the header Last-Event-ID goes before."
    ),
]
EventName = Annotated[str | None, Query(max_length=255, description="Only events of this name.")]


@routes.stream("/events/stream")
def events(call: Caller, name: EventName = None, after: After = None) -> Response:
    """Follow the events as they are committed; each comes once."""
    chosen = None if name is None else require_event_name(name)
    follower = call.operations.events.follower(name=chosen, after=_place(call, after))
    streams = _streams(call)
    feed = EventFeed(call, streams.hub, follower, Topic(call.tenant, chosen), streams.readers)
    return EventStreamResponse(call, feed)


@routes.stream("/jobs/{job_id}/events/stream", missing=True)
def job_events(call: Caller, job_id: JobId, after: After = None) -> Response:
    """Follow the events of one job until it has ended; the last one is `end`, with the job as it stands then."""
    job = call.operations.jobs.get(job_id)
    follower = call.operations.events.follower(job_id=job.id, after=_place(call, after))
    streams = _streams(call)
    feed = EventFeed(call, streams.hub, follower, Topic(call.tenant, job_id=job.id), streams.readers)
    return EventStreamResponse(call, feed)


@routes.stream("/overview/stream")
def overview(call: Caller) -> Response:
    """Follow the overview: a look whenever it shows something else, and now and then."""
    require(call.app.store, call.principal, "overview.read")
    return EventStreamResponse(call, OverviewFeed(call, _streams(call).boards))


def _place(call: ApiCall, after: str | None) -> str | None:
    """Where the client left off: what its browser says by itself, else what its address says."""
    last_event_id = call.request.headers.get("last-event-id", "")
    if len(last_event_id) > LONGEST_CURSOR_CHARS:
        raise InvalidValue("Last-Event-ID", last_event_id[:40], "is no place in the events")
    return last_event_id or after


def _streams(call: ApiCall) -> Streams:
    streams: Streams = call.request.app.state.streams
    return streams
