"""The words of the document: its jobs with their options, its run table with its four states, its way to claim a slot.

Nobody claims, leases or settles here: a slot is opened by the engine, which makes its one job in the same transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Self

from haulwright import State
from haulwright.application.application import application
from haulwright.engine.join import JOIN_GATE
from haulwright.engine.outcome import REASON_LEASE
from haulwright.errors import InvalidValue, SlotTaken

if TYPE_CHECKING:
    from haulwright import Haulwright
    from haulwright.apps.brief.application import Brief
    from haulwright.engine.schedule import ScheduleOptions
    from haulwright.stores.connection import Row

RSS_INGESTION: Final = "rss_ingestion"
EVENT_CLUSTERING: Final = "event_clustering"
RETENTION_CLEANUP: Final = "retention_cleanup"
DAILY_BRIEF: Final = "daily_brief"

RUNNING: Final = "running"
SUCCESS: Final = "success"
FAILED: Final = "failed"
SKIPPED_TIMEOUT: Final = "skipped_timeout"
WORKER_STARTUP_RECOVERY: Final = "worker_startup_recovery"
"""The error of a run that the start of a worker found abandoned."""

MOST_RUNS: Final = 1_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LOST: Final = "LeaseLost"
_TIMED_OUT: Final = "TimedOut"


def max_runtime_threshold(expected_runtime_seconds: float) -> float:
    """After how long a run counts as abandoned: twice what it is expected to take at most."""
    return 2 * expected_runtime_seconds


@dataclass(frozen=True, slots=True)
class JobOptions:
    """How one job is scheduled, in the document's words. Each is said for each job."""

    coalesce: bool
    misfire_grace_time: float
    """Seconds. A slot that nobody opened in time is recorded as missed."""
    max_instances: int
    expected_runtime: float
    """Seconds that a run takes at most, if all is well."""

    def __post_init__(self) -> None:
        if self.max_instances != 1:
            why = "is not 1: runs of one job never overlap"
            raise InvalidValue("max_instances", self.max_instances, why)

    def schedule(self, *, tz: str, attempts: int) -> ScheduleOptions:
        """The same in the engine's words."""
        return {
            "tz": tz,
            "coalesce": self.coalesce,
            "misfire_grace": self.misfire_grace_time,
            "overlap": "skip",
            "max_runtime": max_runtime_threshold(self.expected_runtime),
            "attempts": attempts,
        }


JOBS: Final = {
    RSS_INGESTION: JobOptions(coalesce=True, misfire_grace_time=300, max_instances=1, expected_runtime=300),
    EVENT_CLUSTERING: JobOptions(coalesce=True, misfire_grace_time=300, max_instances=1, expected_runtime=300),
    RETENTION_CLEANUP: JobOptions(coalesce=True, misfire_grace_time=3_600, max_instances=1, expected_runtime=900),
    DAILY_BRIEF: JobOptions(coalesce=True, misfire_grace_time=21_600, max_instances=1, expected_runtime=300),
}
"""The scheduled jobs of the brief, as they are unless the settings say otherwise."""
MAX_RUNTIME_THRESHOLD: Final = {name: max_runtime_threshold(options.expected_runtime) for name, options in JOBS.items()}
"""Seconds after which a run of each counts as abandoned, with the usual settings."""


def status(
    state: State,
    *,
    reason: str | None = None,
    error_class: str | None = None,
    detected_by: str | None = None,
    waiting_on: str | None = None,
) -> str:
    """The document's word for a run; for one that waits for another attempt, the word for its last one.

    One that waits for the jobs that do its work is running.
    """
    if state is State.RUNNING or (state is State.QUEUED and waiting_on == JOIN_GATE):
        return RUNNING
    if state in {State.SUCCEEDED, State.SKIPPED}:
        return SUCCESS
    if state is State.CANCELLED:
        return FAILED
    lost = error_class == _LOST or reason == REASON_LEASE
    if lost and detected_by == WORKER_STARTUP_RECOVERY:
        return FAILED
    return SKIPPED_TIMEOUT if lost or error_class == _TIMED_OUT else FAILED


@dataclass(frozen=True, slots=True)
class ScheduleRun:
    """A row of `job_runs`. Times are UTC."""

    id: str
    job_name: str
    scheduled_for: datetime
    started_at: datetime | None
    finished_at: datetime | None
    status: str
    worker_instance: str | None
    error_message: str | None
    rows_processed: int | None
    """Entries, articles or rows, as the job has it; None before it succeeded."""

    @classmethod
    def of(cls, row: Row) -> Self:
        """Read a row of the view."""
        values: list[Any] = list(row)
        values[0] = str(values[0])
        values[2:5] = [_moment(value) for value in values[2:5]]
        return cls(*values)


def job_runs(app: Haulwright, job_name: str | None = None, limit: int = 100) -> list[ScheduleRun]:
    """The newest runs, of one job or of all."""
    brief: Brief = application("brief", app)  # type: ignore[assignment]
    rows = brief.tables.read("runs.list", job_name=job_name, limit=min(limit, MOST_RUNS))
    return [ScheduleRun.of(row) for row in rows]


def claim_slot(app: Haulwright, job_name: str, scheduled_for: datetime, *, actor: str = "app") -> str | None:
    """Claim a slot by hand and return its job, which a worker runs; None where somebody has claimed it."""
    if job_name not in JOBS:
        raise InvalidValue("job_name", job_name, "is no job of the brief", hint=f"There are: {', '.join(JOBS)}.")
    if scheduled_for.tzinfo is None:
        raise InvalidValue("scheduled_for", scheduled_for, "has no time zone", hint="Slots are in UTC.")
    application("brief", app)
    app.declare_schedules()
    slot = (scheduled_for - _EPOCH) // timedelta(microseconds=1)
    try:
        return app.store.schedules.trigger(job_name, slot, tenant=None, actor=actor)
    except SlotTaken:
        return None


def _moment(value: datetime | str | None) -> datetime | None:
    """SQLite has times as text, PostgreSQL as what they are."""
    if value is None or isinstance(value, datetime):
        return value if value is None else value.astimezone(UTC)
    return datetime.fromisoformat(value).replace(tzinfo=UTC)
