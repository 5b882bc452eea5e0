"""The overview: queues, workers, throughput and the last failures at one moment."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from haulwright.api.kit.call import Caller
from haulwright.api.kit.params import LONGEST_NAME_CHARS
from haulwright.api.kit.routes import ApiRoutes
from haulwright.operations.views.overview import FrameView, frame_view

routes = ApiRoutes("overview", prefix="/overview")


@routes.get("", FrameView)
def show(
    call: Caller,
    queue: Annotated[str | None, Query(max_length=LONGEST_NAME_CHARS, description="Only this queue.")] = None,
) -> FrameView:
    """Look at everything at once, or at one queue; workers are shown to staff."""
    return frame_view(call.operations.overview.frame(queue))
