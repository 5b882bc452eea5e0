"""The JSON of a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from typing_extensions import TypedDict

from haulwright.operations.times import iso
from haulwright.operations.views.columns import Column

if TYPE_CHECKING:
    from haulwright.operations.queues import DrainProgress, QueueStatus
    from haulwright.stores.paging import Page


class QueueView(TypedDict):
    """A queue: what waits and runs in it, the live workers that serve it, and its pause."""

    name: str
    due: int
    parked: int
    running: int
    oldest_due_at: str | None
    workers: int
    paused_at: str | None
    paused_by: str | None
    reason: str | None


class QueuesView(TypedDict):
    """A page of queues, and where the next one starts."""

    queues: list[QueueView]
    next: str | None


class DrainView(TypedDict):
    """How a drain ended."""

    name: str
    drained: bool
    due: int
    running: int
    parked: int
    seconds: float


def queue_view(queue: QueueStatus) -> QueueView:
    """A queue."""
    return {
        "name": queue.name,
        "due": queue.due,
        "parked": queue.parked,
        "running": queue.running,
        "oldest_due_at": iso(queue.oldest_due_at),
        "workers": queue.workers,
        "paused_at": iso(queue.paused_at),
        "paused_by": queue.paused_by,
        "reason": queue.pause_reason,
    }


def queues_view(page: Page[QueueStatus]) -> QueuesView:
    """A page of queues."""
    return {"queues": [queue_view(queue) for queue in page.rows], "next": page.next}


def drain_view(name: str, progress: DrainProgress, seconds: float) -> DrainView:
    """How a drain ended, and how long it took."""
    queue = progress.queue
    return {
        "name": name,
        "drained": not progress.left,
        "due": queue.due,
        "running": queue.running,
        "parked": queue.parked,
        "seconds": round(seconds, 3),
    }


QUEUE_COLUMNS: Final[tuple[Column[QueueStatus], ...]] = (
    Column("queue", lambda queue: queue.name),
    Column("due", lambda queue: queue.due),
    Column("parked", lambda queue: queue.parked),
    Column("running", lambda queue: queue.running),
    Column("oldest due", lambda queue: queue.oldest_due_at, moment=True),
    Column("workers", lambda queue: queue.workers),
    Column("paused", lambda queue: queue.paused_at, moment=True),
    Column("by", lambda queue: queue.paused_by or "", optional=2),
    Column("reason", lambda queue: queue.pause_reason or "", optional=1),
)
