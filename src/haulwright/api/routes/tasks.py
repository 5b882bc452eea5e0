"""Tasks: what the app has registered, and what each takes."""

from __future__ import annotations

from haulwright.api.kit.call import Caller
from haulwright.api.kit.routes import ApiRoutes
from haulwright.operations.views.tasks import TasksView, tasks_view

routes = ApiRoutes("tasks", prefix="/tasks")


@routes.get("", TasksView)
def list_(call: Caller) -> TasksView:
    """List the tasks that can be enqueued, each with a JSON schema of its arguments."""
    return tasks_view(call.operations.tasks.list())
