"""What the document's functions hand back, under its names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Self

from haulwright import Job, State
from haulwright.apps.brands.compile_status import status_of
from haulwright.apps.brands.rows import CompileRun
from haulwright.clock import Instant
from haulwright.engine.outcome import REASON_LEASE
from haulwright.engine.settlement import LEASE_EXPIRED

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class BrandBrainJobStatus:
    """The status of a job: PENDING, RUNNING, then SUCCEEDED or FAILED."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class BrandBrainJob:
    """The job of a compile with the columns of the document; the same as a row of the view `brandbrain_job`."""

    id: str
    brand_id: str
    compile_run_id: str
    status: str
    attempts: int
    max_attempts: int
    last_error: str | None
    locked_at: datetime | None
    locked_by: str | None
    """The name of the worker."""
    available_at: datetime
    params_json: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    tenant: str
    job_type: str = "compile"

    @classmethod
    def of(cls, job: Job, run: CompileRun) -> Self:
        """A job of the engine with the compile that it is about."""
        is_locked = job.state is State.RUNNING
        params = {"force_refresh": run.force_refresh, "prompt_version": run.prompt_version, "model": run.model}
        return cls(
            job.id, run.brand_id, run.id, status_of(job.state, job.waiting_on), job.attempts, job.max_attempts,
            last_error(job), _moment(job.leased_at) if is_locked else None, job.lease_owner if is_locked else None,
            _EPOCH + timedelta(microseconds=job.run_at), params,
            _EPOCH + timedelta(microseconds=job.created_at), _EPOCH + timedelta(microseconds=job.updated_at),
            _moment(job.finished_at), job.tenant,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class EnqueueResult:
    """What an enqueue made."""

    job_id: str
    compile_run_id: str


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """What a claim got, or why it got nothing."""

    job: BrandBrainJob | None
    claimed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class IngestionResult:
    """What bringing a source in came to."""

    source_connection_id: str
    success: bool
    error: str | None = None
    apify_run_id: str | None = None
    """Of our own table: it names the row that has everything else."""
    apify_run_status: str | None = None
    raw_items_count: int = 0
    normalized_items_created: int = 0
    normalized_items_updated: int = 0


def last_error(job: Job) -> str | None:
    """What went wrong last, a lost lease in the words of the document."""
    if job.reason == REASON_LEASE:
        return f"Stale lock after {job.attempts} attempts"
    if job.error_code == LEASE_EXPIRED:
        return "Released from stale lock"
    return job.error_message or job.reason


def _moment(at: Instant | None) -> datetime | None:
    return None if at is None else _EPOCH + timedelta(microseconds=at)
