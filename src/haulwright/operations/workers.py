"""Workers as staff sees them: who works here, and how many jobs each has in hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from haulwright.operations.access import allowed
from haulwright.operations.claim_preview import would_claim
from haulwright.operations.onlooker import Onlooker
from haulwright.stores.paging import Page

if TYPE_CHECKING:
    from haulwright.clock import Instant
    from haulwright.engine.job import Job
    from haulwright.stores.store import Store
    from haulwright.stores.workers import WorkerRow


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """A worker, and what it has in hand."""

    row: WorkerRow
    running: int
    """Jobs that it holds a lease of; of one tenant where only that one is seen."""


@dataclass(frozen=True, slots=True)
class ClaimCandidate:
    """A job that would be claimed."""

    job: Job
    is_known: bool
    """Whether this app has its task."""


@dataclass(frozen=True, slots=True)
class ClaimPreview:
    """What a worker would claim first, in its order."""

    candidates: list[ClaimCandidate]
    at: Instant | None
    """The time of the look; None where nothing is due."""


class WorkerOperations(Onlooker):
    """Look at workers, and at what one would do."""

    @allowed("worker.read")
    def page(self, *, everyone: bool = False, after: str | None = None, limit: int = 50) -> Page[WorkerStatus]:
        """The workers that were seen lately, or all that are remembered, the last started first."""
        rows = self._store.workers.page(everyone=everyone, after=after, limit=limit)
        return Page(worker_statuses(self._store, rows.rows, self._tenant), rows.next)

    @allowed("worker.preview")
    def would_claim(self, queues: Sequence[str], batch: int) -> ClaimPreview:
        """The jobs that a worker of these queues which starts now would claim first. Nothing is written, or made."""
        with self._app.existing_store() as store:
            if store is None:
                return ClaimPreview([], None)
            jobs = would_claim(store, queues, batch)
            candidates = [ClaimCandidate(job, job.task in self._app.tasks) for job in jobs]
            return ClaimPreview(candidates, store.now() if candidates else None)


def worker_statuses(store: Store, rows: Iterable[WorkerRow], tenant: str | None) -> list[WorkerStatus]:
    """Workers with what each has in hand."""
    held = store.queues.held(tenant)
    return [WorkerStatus(row, held.get(row.id, 0)) for row in rows]
