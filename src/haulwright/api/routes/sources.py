"""Sources: what they allow and how they stand, and the words that change them for the whole fleet."""

from __future__ import annotations

from typing import Annotated, cast

from pydantic import Field

from haulwright.api.kit.call import Caller
from haulwright.api.kit.params import Cursor, Limit, Name, ReasonOnlyBody
from haulwright.api.kit.routes import ApiRoutes
from haulwright.operations.sources import SourceChange
from haulwright.operations.views.pauses import PauseView, pause_view
from haulwright.operations.views.sources import (
    SourcePausedView,
    SourcesView,
    SourceView,
    source_paused_view,
    source_view,
    sources_view,
)

routes = ApiRoutes("sources", prefix="/sources")

LONGEST_PAUSE_SECONDS = 10 * 366 * 86_400
MOST = 1_000_000_000


class SourcePauseBody(ReasonOnlyBody):
    """For how long nothing may pass."""

    seconds: Annotated[float, Field(gt=0, le=LONGEST_PAUSE_SECONDS, description="Left out: until resumed.")] | None = (
        None
    )


class SourceLimitsBody(ReasonOnlyBody):
    """What of a source is changed. What is left out stays as it is."""

    rate: Annotated[str, Field(description="Such as 30/min.")] | None = None
    burst: Annotated[int, Field(ge=1, le=MOST, description="How many may pass at once; goes with a rate.")] | None = (
        None
    )
    min_interval: Annotated[str, Field(description="At least this between two requests, such as 2 s.")] | None = None
    concurrency: Annotated[int, Field(ge=1, le=MOST, description="Requests under way at once.")] | None = None
    budget: Annotated[str, Field(description="Requests in a day of UTC.")] | None = None
    breaker: Annotated[str, Field(description="Such as 5 failures / 5 min, or none.")] | None = None
    enabled: Annotated[bool, Field(description="Whether it may be asked at all.")] | None = None

    def change(self) -> SourceChange:
        """What the operations take."""
        return cast("SourceChange", self.model_dump(exclude={"reason"}, exclude_none=True))


@routes.get("", SourcesView)
def list_(call: Caller, cursor: Cursor = None, limit: Limit = 50) -> SourcesView:
    """List the sources by name, with the traffic of the last hour."""
    cursors = call.cursors()
    view = sources_view(call.operations.sources.page(after=cursors.unwrap(cursor), limit=limit))
    return {**view, "next": cursors.wrap(view["next"])}


@routes.get("/{name:path}", SourceView, missing=True)
def show(call: Caller, name: Name) -> SourceView:
    """Show one source."""
    return source_view(call.operations.sources.get(name))


@routes.post("/{name:path}/pause", SourcePausedView, missing=True)
def pause(call: Caller, name: Name, body: SourcePauseBody) -> SourcePausedView:
    """Let no request through, for a time or until it is resumed."""
    call.because(body.reason).sources.pause(name, seconds=body.seconds)
    return source_paused_view(name, body.seconds)


@routes.post("/{name:path}/resume", PauseView, missing=True)
def resume(call: Caller, name: Name, body: ReasonOnlyBody) -> PauseView:
    """Open what a person, the breaker, a refused credential or the server closed."""
    return pause_view(name, paused=False, changed=call.because(body.reason).sources.resume(name))


@routes.put("/{name:path}/limits", SourceView, missing=True)
def set_limits(call: Caller, name: Name, body: SourceLimitsBody) -> SourceView:
    """Change what a source allows. It holds over what the code says, until it is reset."""
    return source_view(call.because(body.reason).sources.override(name, **body.change()))


@routes.delete("/{name:path}/limits", SourceView)
def reset_limits(call: Caller, name: Name) -> SourceView:
    """Take back what was changed: the code decides again."""
    return source_view(call.operations.sources.reset(name))
