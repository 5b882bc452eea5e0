"""The JSON of a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from typing_extensions import TypedDict

from haulwright.clock import SECOND
from haulwright.engine.durations import spell
from haulwright.operations.times import iso
from haulwright.operations.views.columns import Column

if TYPE_CHECKING:
    from haulwright.operations.progress import QueueProgress
    from haulwright.operations.queues import DrainProgress, QueueStatus
    from haulwright.stores.paging import Page


class QueueView(TypedDict):
    """A queue: what waits and runs in it, the live workers that serve it, and its pause."""

    name: str
    due: int
    more_due: bool
    """More are due than were counted."""
    parked: int
    more_parked: bool
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


def count_words(count: int, *, more: bool) -> int | str:
    """A count as it is, or so far as it was counted."""
    return f"{count}+" if more else count


def queue_view(queue: QueueStatus) -> QueueView:
    """A queue."""
    return {
        "name": queue.name,
        "due": queue.due,
        "more_due": queue.more_due,
        "parked": queue.parked,
        "more_parked": queue.more_parked,
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


def drain_words(progress: DrainProgress) -> str:
    """How far a drain is, for people."""
    queue = progress.queue
    parts = [f"{queue.left} left ({queue.running} running)", f"{queue.rate:.1f}/s"]
    if queue.oldest is not None:
        parts.append(f"the oldest waits for {spell(max(0, progress.at - queue.oldest) // SECOND)}")
    if queue.parked:
        parts.append(f"{queue.parked} for later")
    return ", ".join(parts)


def progress_words(progress: QueueProgress) -> str:
    """How far some queues are, for people."""
    eta = progress.eta_seconds
    parts = [
        f"done {progress.done}",
        f"failed {progress.failed}",
        f"left {progress.left}",
        f"{progress.rate:.1f}/s",
        *([f"ETA {spell(round(eta))}"] if eta is not None and progress.left else []),
        *([f"later {progress.parked}"] if progress.parked else []),
    ]
    return ", ".join(parts)


def progress_facts(progress: QueueProgress) -> dict[str, float]:
    """The same as the facts of a line in a log."""
    eta = progress.eta_seconds
    facts = {
        "done": progress.done,
        "failed": progress.failed,
        "left": progress.left,
        "per_second": round(progress.rate, 1),
        "eta_seconds": None if eta is None else round(eta),
        "later": progress.parked,
    }
    return {name: value for name, value in facts.items() if value is not None}


QUEUE_COLUMNS: Final[tuple[Column[QueueStatus], ...]] = (
    Column("queue", lambda queue: queue.name),
    Column("due", lambda queue: count_words(queue.due, more=queue.more_due)),
    Column("parked", lambda queue: count_words(queue.parked, more=queue.more_parked)),
    Column("running", lambda queue: queue.running),
    Column("oldest due", lambda queue: queue.oldest_due_at, moment=True),
    Column("workers", lambda queue: queue.workers),
    Column("paused", lambda queue: queue.paused_at, moment=True),
    Column("by", lambda queue: queue.paused_by or "", optional=2),
    Column("reason", lambda queue: queue.pause_reason or "", optional=1),
)
