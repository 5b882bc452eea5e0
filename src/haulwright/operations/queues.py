"""Queues as one principal sees them: what waits and runs, who serves them, pause and resume, drain."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from haulwright.client.waiting import pauses
from haulwright.engine.names import check_name
from haulwright.operations.access import Noun, allowed
from haulwright.operations.progress import QueueProgress, QueueTally
from haulwright.stores.paging import Page

if TYPE_CHECKING:
    from haulwright.clock import Instant
    from haulwright.stores.queues import QueueCounts
    from haulwright.stores.store import Store

LOOK_SECONDS = 0.5

DrainScope = Literal["running", "due", "everything"]
"""What a drain waits for: only what runs, also what is due, or also what is parked for later."""


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """What waits and runs in a queue, who serves it, and whether somebody paused it."""

    name: str
    due: int
    parked: int
    running: int
    oldest_due_at: Instant | None
    """When the job that waits longest became due."""
    workers: int
    """Live workers that serve it."""
    paused_at: Instant | None
    paused_by: str | None
    pause_reason: str | None
    more_due: bool = False
    """More are due than were counted: a look costs the same however many there are."""
    more_parked: bool = False


@dataclass(frozen=True, slots=True)
class DrainProgress:
    """How far a drain has come at one look."""

    queue: QueueProgress
    left: int
    """How many of the jobs that are waited for are left."""
    is_last: bool
    """Nothing is left, or the time is up."""
    at: Instant

    @property
    def drained(self) -> bool:
        """Whether nothing is left of what is waited for."""
        return self.queue.counted and not self.left


class QueueOperations(Noun):
    """Look at queues; pause, resume and drain them."""

    @allowed("queue.read")
    def page(self, *, tenant: str | None = None, after: str | None = None, limit: int = 50) -> Page[QueueStatus]:
        """The queues by name, with the counts of one tenant or of all."""
        return queue_page(self._store, self._scope(tenant), after=after, limit=limit)

    @allowed("queue.read")
    def get(self, name: str) -> QueueStatus:
        """One queue. There is no list of queues to be in: one that nobody uses has nothing waiting."""
        (status,) = queue_statuses(self._store, self._tenant, {check_name("queue", name)})
        return status

    @allowed("queue.pause")
    def pause(self, name: str) -> bool:
        """Stop claims from a queue; False where it was paused already."""
        actor, reason = self._principal.actor, self._principal.reason
        return self._store.queues.pause(check_name("queue", name), actor=actor, reason=reason)

    @allowed("queue.resume")
    def resume(self, name: str) -> bool:
        """Let claims go on; the deadlines of what waited are later by the length of the pause."""
        actor, reason = self._principal.actor, self._principal.reason
        return self._store.queues.resume(check_name("queue", name), actor=actor, reason=reason)

    @allowed("queue.read")
    def drain(self, name: str, scope: DrainScope = "due", *, timeout: float | None = None) -> Iterator[DrainProgress]:
        """Look until nothing is left of what is waited for, or the time is up; workers go on as before."""
        tally = QueueTally(self._store, {check_name("queue", name)}, self._tenant)
        return self._drain(tally, scope, timeout)

    def _drain(self, tally: QueueTally, scope: DrainScope, timeout: float | None) -> Iterator[DrainProgress]:
        for pause in pauses(timeout, first=LOOK_SECONDS, longest=LOOK_SECONDS):
            progress = tally.look(at_last=pause is None)
            left = _left(progress, scope)
            is_last = pause is None or (progress.counted and not left)
            yield DrainProgress(progress, left, is_last, self._store.now())
            if is_last:
                return
            time.sleep(pause or 0)

    def _scope(self, tenant: str | None) -> str | None:
        """The tenant that is counted: a principal's own before the one that it asks for."""
        return self._tenant or tenant


def queue_page(store: Store, tenant: str | None, *, after: str | None = None, limit: int = 50) -> Page[QueueStatus]:
    """The queues in order of their names: those with jobs and, for who sees all tenants, those that are paused."""
    page = store.queues.page(tenant, after=after, limit=limit, bounded=True)
    return Page(_statuses(store, page.rows), page.next)


def queue_statuses(store: Store, tenant: str | None, names: Collection[str]) -> list[QueueStatus]:
    """Exactly these queues, empty or not, in order of their names."""
    return _statuses(store, store.queues.of(names, tenant, bounded=True))


def _statuses(store: Store, counts: list[QueueCounts]) -> list[QueueStatus]:
    serving = Counter(queue for worker in store.workers.list() for queue in worker.queues)
    return [_status(queue, serving[queue.name]) for queue in counts]


def _status(counts: QueueCounts, workers: int) -> QueueStatus:
    return QueueStatus(
        counts.name, counts.due, counts.parked, counts.running, counts.oldest, workers,
        counts.paused_at, counts.paused_by, counts.pause_reason, counts.more_due, counts.more_parked,
    )  # fmt: skip


def _left(progress: QueueProgress, scope: DrainScope) -> int:
    match scope:
        case "running":
            return progress.running
        case "due":
            return progress.left
        case "everything":
            return progress.left + progress.parked
