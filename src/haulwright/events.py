"""What happens, by name. Every event is written in the transaction of what it describes.

Of a task that is audited each event is written when it happens. Of any other, three events of a job that succeeded in
its first run are not written but read from its row: `job.queued`, `job.started` and `job.completed`. Every other
transition writes its events and the start of the run that it ends.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from haulwright.clock import Instant

JOB_QUEUED = "job.queued"
JOB_STARTED = "job.started"
JOB_COMPLETED = "job.completed"
JOB_FAILED = "job.failed"
JOB_RETRY = "job.retry"
JOB_DEAD_LETTERED = "job.dead_lettered"
JOB_SNOOZED = "job.snoozed"
JOB_RELEASED = "job.released"
JOB_LEASE_EXPIRED = "job.lease_expired"
JOB_CANCEL_REQUESTED = "job.cancel_requested"
JOB_CANCELLED = "job.cancelled"
JOB_SKIPPED = "job.skipped"
JOB_REQUEUED = "job.requeued"
JOBS_PRUNED = "jobs.pruned"
EFFECT_UNKNOWN = "effect.unknown"
EFFECT_RESOLVED = "effect.resolved"
SCHEDULE_DECLARED = "schedule.declared"
SCHEDULE_PAUSED = "schedule.paused"
SCHEDULE_RESUMED = "schedule.resumed"
SLOT_OPENED = "slot.opened"
QUEUE_PAUSED = "queue.paused"
QUEUE_RESUMED = "queue.resumed"
SOURCE_DECLARED = "source.declared"
SOURCE_CHANGED = "source.changed"
SOURCE_PAUSED = "source.paused"
SOURCE_RESUMED = "source.resumed"
SOURCE_PARKED = "source.parked"
SOURCE_BREAKER_OPENED = "source.breaker_opened"
SOURCE_BREAKER_CLOSED = "source.breaker_closed"
WORKER_STARTED = "worker.started"
WORKER_STOPPED = "worker.stopped"
WORKER_RECOVERED = "worker.recovered"
DATABASE_PUT_BACK = "database.put_back"
BULK_STARTED = "bulk.started"
BULK_FINISHED = "bulk.finished"
BULK_STOPPED = "bulk.stopped"
REQUEST_REFUSED = "request.refused"
ROW_UNREADABLE = "row.unreadable"
TOKEN_CREATED = "token.created"  # noqa: S105 - the name of an event
TOKEN_REVOKED = "token.revoked"  # noqa: S105 - as above

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The request on whose behalf something happens; events of what a person or a program asked for carry it."""

UNREADABLE = "unreadable"
"""The one field of an event whose data cannot be read: the text that stands in its row."""

FIELDS: dict[str, tuple[str, ...]] = {
    JOB_QUEUED: ("job_id", "tenant_id"),
    JOB_STARTED: ("job_id", "attempt", "worker"),
    JOB_COMPLETED: ("job_id", "duration_seconds"),
    JOB_FAILED: ("job_id", "error_class", "error_code", "error_message"),
    JOB_RETRY: ("job_id", "retry_count", "delay_seconds"),
    JOB_DEAD_LETTERED: ("job_id", "reason", "retry_count", "error_message", "error_code"),
    JOB_SNOOZED: ("job_id", "delay_seconds", "gate"),
    JOB_RELEASED: ("job_id",),
    JOB_LEASE_EXPIRED: ("job_id", "held_by", "held_by_name", "losses", "detected_by"),
    JOB_CANCEL_REQUESTED: ("job_id", "reason"),
    JOB_CANCELLED: ("job_id", "reason"),
    JOB_SKIPPED: ("job_id", "reason"),
    JOB_REQUEUED: ("job_id", "successor", "reason"),
    JOBS_PRUNED: ("state", "count", "age_seconds"),
    EFFECT_UNKNOWN: ("job_id", "key", "effect"),
    EFFECT_RESOLVED: ("job_id", "key", "effect", "resolution", "reason"),
    SCHEDULE_DECLARED: ("schedule", "cron", "revision"),
    SCHEDULE_PAUSED: ("schedule",),
    SCHEDULE_RESUMED: ("schedule",),
    SLOT_OPENED: ("schedule", "scheduled_for", "disposition"),
    QUEUE_PAUSED: ("queue", "reason"),
    QUEUE_RESUMED: ("queue",),
    SOURCE_DECLARED: ("source",),
    SOURCE_CHANGED: ("source", "figures"),
    SOURCE_PAUSED: ("source", "reason", "seconds"),
    SOURCE_RESUMED: ("source",),
    SOURCE_PARKED: ("source", "seconds"),
    SOURCE_BREAKER_OPENED: ("source", "gate", "seconds", "failure_streak"),
    SOURCE_BREAKER_CLOSED: ("source",),
    WORKER_STARTED: ("worker", "host", "pid", "queues"),
    WORKER_STOPPED: ("worker",),
    WORKER_RECOVERED: ("worker", "jobs", "reason"),
    DATABASE_PUT_BACK: ("worker", "beats", "remembered"),
    BULK_STARTED: ("job_id", "act", "where", "reason"),
    BULK_FINISHED: ("job_id", "act", "where", "reason", "done", "refused"),
    BULK_STOPPED: ("job_id", "act", "where", "reason", "done", "refused"),
    REQUEST_REFUSED: ("verb", "reason"),
    ROW_UNREADABLE: ("noun", "name", "reason"),
    TOKEN_CREATED: ("token", "role"),
    TOKEN_REVOKED: ("token",),
}
"""The fields that every event of a name carries. A task may declare more from its arguments and result."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened."""

    name: str
    tenant: str
    job_id: str | None = None
    attempt: int | None = None
    fence: int | None = None
    worker: str | None = None
    actor: str | None = None
    at: Instant | None = None
    """None takes the database's time."""
    data: dict[str, Any] = field(default_factory=dict)
    seq: int | None = None
    """Its place in the order of commits; None for an event that was read from a row."""


def given_reason(reason: str) -> dict[str, str]:
    """The reason of an act as a field of its event, where somebody gave one."""
    return {"reason": reason} if reason else {}
