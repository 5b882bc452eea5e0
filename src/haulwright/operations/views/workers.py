"""The JSON of a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from typing_extensions import TypedDict

from haulwright.operations.times import iso
from haulwright.operations.views.columns import Column

if TYPE_CHECKING:
    from haulwright.operations.workers import ClaimCandidate, ClaimPreview, WorkerStatus
    from haulwright.stores.paging import Page


class WorkerView(TypedDict):
    """A worker, and how many jobs it has in hand."""

    id: str
    name: str
    host: str
    pid: int
    version: str
    queues: list[str]
    tasks: list[str]
    running: int
    refused: int
    started_at: str | None
    seen_at: str | None
    stopped_at: str | None


class WorkersView(TypedDict):
    """A page of workers, and where the next one starts."""

    workers: list[WorkerView]
    next: str | None


class ClaimCandidateView(TypedDict):
    """A job that a worker would claim; `known` says whether the app has its task."""

    id: str
    task: str
    known: bool
    tenant: str
    queue: str
    priority: int
    run_at: str | None


class ClaimPreviewView(TypedDict):
    """What a worker would claim first."""

    would_claim: list[ClaimCandidateView]


def worker_view(worker: WorkerStatus) -> WorkerView:
    """A worker."""
    row = worker.row
    return {
        "id": row.id,
        "name": row.name,
        "host": row.host,
        "pid": row.pid,
        "version": row.version,
        "queues": row.queues,
        "tasks": row.tasks,
        "running": worker.running,
        "refused": row.refused,
        "started_at": iso(row.started_at),
        "seen_at": iso(row.seen_at),
        "stopped_at": iso(row.stopped_at),
    }


class WorkDoneView(TypedDict):
    """What a worker did before it stopped."""

    runs: int


class SupervisedView(TypedDict):
    """What a supervisor kept going."""

    processes: int
    restarts: int


def work_done_view(runs: int) -> WorkDoneView:
    """What a worker did before it stopped."""
    return {"runs": runs}


def supervised_view(processes: int, restarts: int) -> SupervisedView:
    """What a supervisor kept going."""
    return {"processes": processes, "restarts": restarts}


def workers_view(page: Page[WorkerStatus]) -> WorkersView:
    """A page of workers."""
    return {"workers": [worker_view(worker) for worker in page.rows], "next": page.next}


def claim_preview_view(preview: ClaimPreview) -> ClaimPreviewView:
    """What a worker would claim first."""
    return {"would_claim": [_candidate_view(candidate) for candidate in preview.candidates]}


def _candidate_view(candidate: ClaimCandidate) -> ClaimCandidateView:
    job = candidate.job
    return {
        "id": job.id,
        "task": job.task,
        "known": candidate.is_known,
        "tenant": job.tenant,
        "queue": job.queue,
        "priority": job.priority,
        "run_at": iso(job.run_at),
    }


CLAIM_COLUMNS: Final[tuple[Column[ClaimCandidate], ...]] = (
    Column("id", lambda candidate: candidate.job.id),
    Column("task", lambda candidate: candidate.job.task),
    Column("known here", lambda candidate: "yes" if candidate.is_known else "no"),
    Column("tenant", lambda candidate: candidate.job.tenant),
    Column("queue", lambda candidate: candidate.job.queue),
    Column("priority", lambda candidate: candidate.job.priority),
    Column("due", lambda candidate: candidate.job.run_at, moment=True),
)
WORKER_COLUMNS: Final[tuple[Column[WorkerStatus], ...]] = (
    Column("name", lambda worker: worker.row.name),
    Column("host", lambda worker: worker.row.host, optional=2),
    Column("pid", lambda worker: worker.row.pid, optional=3),
    Column("version", lambda worker: worker.row.version, optional=1),
    Column("queues", lambda worker: ",".join(worker.row.queues)),
    Column("running", lambda worker: worker.running),
    Column("started", lambda worker: worker.row.started_at, moment=True),
    Column("seen", lambda worker: worker.row.seen_at, moment=True),
    Column("refused writes", lambda worker: worker.row.refused, optional=4),
    Column("stopped", lambda worker: worker.row.stopped_at, moment=True),
)
