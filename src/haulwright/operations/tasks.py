"""Tasks as one principal sees them: what the app has registered, and what each takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haulwright.engine.names import declared_names
from haulwright.operations.access import Noun, allowed

if TYPE_CHECKING:
    from haulwright.client.task import Task


class TaskOperations(Noun):
    """Look at the tasks that can be enqueued. They are in the code, so nothing is read of the database."""

    @allowed("task.read")
    def list(self) -> list[Task[..., Any]]:
        """The tasks by name."""
        return [self._app.tasks[name] for name in declared_names(self._app.tasks)]
