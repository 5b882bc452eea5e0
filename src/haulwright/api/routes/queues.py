"""Queues: what waits and runs, pause and resume."""

from __future__ import annotations

from haulwright.api.kit.call import Caller
from haulwright.api.kit.params import Cursor, Limit, Name, ReasonOnlyBody
from haulwright.api.kit.routes import ApiRoutes
from haulwright.operations.views.pauses import PauseView, pause_view
from haulwright.operations.views.queues import QueuesView, QueueView, queue_view, queues_view

routes = ApiRoutes("queues", prefix="/queues")


@routes.get("", QueuesView)
def list_(call: Caller, cursor: Cursor = None, limit: Limit = 50) -> QueuesView:
    """List the queues by name, with what waits and runs in them."""
    cursors = call.cursors()
    view = queues_view(call.operations.queues.page(after=cursors.unwrap(cursor), limit=limit))
    return {**view, "next": cursors.wrap(view["next"])}


@routes.get("/{name:path}", QueueView)
def show(call: Caller, name: Name) -> QueueView:
    """Show one queue; one that nobody uses has nothing waiting."""
    return queue_view(call.operations.queues.get(name))


@routes.post("/{name:path}/pause", PauseView)
def pause(call: Caller, name: Name, body: ReasonOnlyBody) -> PauseView:
    """Stop claims from a queue. What runs goes on; what waits keeps its place and its deadline."""
    return pause_view(name, paused=True, changed=call.because(body.reason).queues.pause(name))


@routes.post("/{name:path}/resume", PauseView)
def resume(call: Caller, name: Name, body: ReasonOnlyBody) -> PauseView:
    """Let claims go on, at once."""
    return pause_view(name, paused=False, changed=call.because(body.reason).queues.resume(name))
