"""The JSON of a task: its name, where its jobs go, and what it takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict

if TYPE_CHECKING:
    from haulwright.client.task import Task


class TaskView(TypedDict):
    """A task that the app has registered."""

    name: str
    summary: str
    queue: str
    arguments: dict[str, Any]
    """A JSON schema of the object that its jobs take as `args`."""


class TasksView(TypedDict):
    """The tasks by name."""

    tasks: list[TaskView]


def task_view(task: Task[..., Any]) -> TaskView:
    """A task."""
    summary = (task.function.__doc__ or "").strip().partition("\n")[0]
    return {
        "name": task.name,
        "summary": summary,
        "queue": task.options.queue,
        "arguments": task.signature.json_schema(),
    }


def tasks_view(tasks: Iterable[Task[..., Any]]) -> TasksView:
    """The tasks by name."""
    return {"tasks": [task_view(task) for task in tasks]}
