"""The JSON of a job, of a page of them, and of what verbs on a job answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from typing_extensions import TypedDict

from haulwright.engine.headers import parse_headers
from haulwright.engine.outcome import read_frames
from haulwright.engine.payload import read_json
from haulwright.engine.transitions import RETRYING, State
from haulwright.engine.why import error_words
from haulwright.operations.times import iso
from haulwright.operations.views.columns import Column
from haulwright.operations.views.effects import EffectView, effect_view
from haulwright.operations.views.events import EventView, event_view
from haulwright.operations.views.json_text import json_value

if TYPE_CHECKING:
    from haulwright.engine.job import Enqueued, Job
    from haulwright.engine.why import Why
    from haulwright.events import Event
    from haulwright.operations.jobs import Retried
    from haulwright.stores.effects import EffectRow
    from haulwright.stores.listing import JobPage
    from haulwright.stores.paging import Page

ERROR_CHARS = 60
"""How much of an error a table shows; the job itself has the rest."""


class StackFrameView(TypedDict):
    """A line of the user's code that an error came through; `cause` where it was one that led to it."""

    file: str
    line: int
    function: str
    cause: str | None


ErrorView = TypedDict(
    "ErrorView", {"class": str | None, "code": str | None, "message": str | None, "frames": list[StackFrameView]}
)
"""The last error of a job, with the lines of the user's code that it came through, the innermost last."""


class JobView(TypedDict):
    """A job."""

    id: str
    tenant: str
    task: str
    queue: str
    state: str
    reason: str | None
    priority: int
    args: Any
    attempts: int
    max_attempts: int
    deferrals: int
    losses: int
    fence: int
    job_key: str
    source: str | None
    waiting_on: str | None
    unique_key: str | None
    correlation_id: str | None
    tags: list[str]
    headers: dict[str, Any]
    requeued_from: str | None
    stage: str | None
    progress: Any
    run_at: str | None
    deadline_at: str | None
    lease_owner: str | None
    leased_at: str | None
    heartbeat_at: str | None
    lease_expires_at: str | None
    created_at: str | None
    updated_at: str | None
    started_at: str | None
    finished_at: str | None
    error: ErrorView | None
    result: Any


class JobPageView(TypedDict):
    """A page of jobs, and where the next one starts."""

    jobs: list[JobView]
    next: str | None


class WhyView(TypedDict):
    """Where a job stands."""

    code: str
    sentence: str
    next_step: str


class JobWhyView(WhyView):
    """The same with the job's id."""

    id: str


class JobDetailView(JobView):
    """A job with what happened to it, what it did, and where it stands."""

    events: list[EventView]
    events_next: str | None
    """Where the rest of the events starts, where they are more than one page."""
    effects: list[EffectView]
    effects_next: str | None
    why: WhyView


class EnqueuedView(TypedDict):
    """The job that stands for a request, and whether the request made it."""

    id: str
    created: bool


class RetriedView(TypedDict):
    """The job that runs again: itself, or the successor of a dead letter."""

    id: str
    requeued_from: str | None
    changed: bool


class CancelledView(TypedDict):
    """A job that was cancelled or asked to stop."""

    id: str
    state: str


def job_view(job: Job) -> JobView:
    """A job."""
    return {
        "id": job.id,
        "tenant": job.tenant,
        "task": job.task,
        "queue": job.queue,
        "state": str(job.state),
        "reason": job.reason,
        "priority": job.priority,
        "args": json_value(job.args),
        "attempts": job.attempts,
        "max_attempts": job.max_attempts,
        "deferrals": job.deferrals,
        "losses": job.losses,
        "fence": job.fence,
        "job_key": job.job_key,
        "source": job.source,
        "waiting_on": job.waiting_on,
        "unique_key": job.unique_key,
        "correlation_id": job.correlation_id,
        "tags": read_json(job.tags, list) or [],
        "headers": parse_headers(job.headers),
        "requeued_from": job.requeued_from,
        "stage": job.stage,
        "progress": json_value(job.progress),
        "run_at": iso(job.run_at),
        "deadline_at": iso(job.deadline_at),
        "lease_owner": holder(job),
        "leased_at": iso(job.leased_at),
        "heartbeat_at": iso(job.heartbeat_at),
        "lease_expires_at": iso(job.lease_expires_at),
        "created_at": iso(job.created_at),
        "updated_at": iso(job.updated_at),
        "started_at": iso(job.started_at),
        "finished_at": iso(job.finished_at),
        "error": error_view(job),
        "result": json_value(job.result),
    }


def error_view(job: Job) -> ErrorView | None:
    """The last error of a job, if it has one."""
    if job.error_class is None and job.error_message is None:
        return None
    frames: list[StackFrameView] = [
        {"file": frame.file, "line": frame.line, "function": frame.function, "cause": frame.cause}
        for frame in read_frames(job.error_frames)
    ]
    return {"class": job.error_class, "code": job.error_code, "message": job.error_message, "frames": frames}


def jobs_view(page: JobPage) -> JobPageView:
    """A page of jobs."""
    return {"jobs": [job_view(job) for job in page.jobs], "next": page.next}


def why_view(why: Why) -> WhyView:
    """Where a job stands."""
    return {"code": why.code, "sentence": why.sentence, "next_step": why.next_step}


def job_why_view(job_id: str, why: Why) -> JobWhyView:
    """Where the job of this id stands."""
    return {"id": job_id, "code": why.code, "sentence": why.sentence, "next_step": why.next_step}


def job_detail_view(job: Job, events: Page[Event], effects: Page[EffectRow], why: Why) -> JobDetailView:
    """A job with what happened to it, what it did, and where it stands."""
    return {
        **job_view(job),
        "events": [event_view(event) for event in events.rows],
        "events_next": events.next,
        "effects": [effect_view(effect) for effect in effects.rows],
        "effects_next": effects.next,
        "why": why_view(why),
    }


def enqueued_view(enqueued: Enqueued) -> EnqueuedView:
    """The job that stands for a request."""
    return {"id": enqueued.id, "created": enqueued.created}


def retried_view(outcome: Retried) -> RetriedView:
    """The job that runs again."""
    return {"id": outcome.id, "requeued_from": outcome.requeued_from, "changed": outcome.changed}


def cancelled_view(job_id: str, state: State) -> CancelledView:
    """A job that was cancelled or asked to stop."""
    return {"id": job_id, "state": str(state)}


def state_word(job: Job) -> str:
    """The state as people see it: a queued job that ran before is retrying."""
    return RETRYING if job.state is State.QUEUED and job.attempts else str(job.state)


def holder(job: Job) -> str | None:
    """Who has the job, by name where the worker is remembered."""
    return job.lease_owner or job.worker_id


def _short_error(job: Job) -> str:
    """Why a job waits or has ended badly; an error of the past belongs to the job itself."""
    words = error_words(job) if job.state in {State.QUEUED, State.DEAD} else None
    error = " ".join((words or job.reason or "").split())
    return error if len(error) <= ERROR_CHARS else f"{error[:ERROR_CHARS]}…"


JOB_COLUMNS: Final[tuple[Column[Job], ...]] = (
    Column("id", lambda job: job.id),
    Column("state", state_word),
    Column("task", lambda job: job.task),
    Column("tenant", lambda job: job.tenant, optional=4),
    Column("queue", lambda job: job.queue, optional=2),
    Column("attempts", lambda job: f"{job.attempts}/{job.max_attempts}", optional=7),
    Column("created", lambda job: job.created_at, moment=True, optional=3),
    Column("due", lambda job: job.run_at if job.state is State.QUEUED else None, moment=True, optional=8),
    Column("waits for", lambda job: job.waiting_on or "", optional=9),
    Column("finished", lambda job: job.finished_at, moment=True, optional=6),
    Column("holder", lambda job: holder(job) or "", optional=5),
    Column("heartbeat", lambda job: job.heartbeat_at, moment=True, optional=1),
    Column("error", _short_error),
)
