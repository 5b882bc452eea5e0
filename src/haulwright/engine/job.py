"""What a job is: the row to write, the row to read, and the right to run it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from haulwright.clock import Instant
from haulwright.engine.transitions import State

DEFAULT_TENANT = "default"
DEFAULT_QUEUE = "default"
DEFAULT_LEASE_SECONDS = 120.0
DEFAULT_DEADLINE_SECONDS = 7 * 24 * 3600.0
PRIORITY_LIMIT = 100
"""Priorities go from minus this to plus this; higher runs first."""


@dataclass(frozen=True, slots=True)
class Unique:
    """What may exist only once, and for how long."""

    key: str
    scope: str = "while_active"
    """`while_active`, `forever`, or `period`."""
    period_us: int | None = None
    """With `period`: how long the key is kept after the enqueue."""


class NewJob(NamedTuple):
    """A job to enqueue, complete and checked. A tuple, as a lease is, for the same reason."""

    id: str
    task: str
    args: str
    """Canonical JSON."""
    tenant: str = DEFAULT_TENANT
    queue: str = DEFAULT_QUEUE
    priority: int = 0
    delay_us: int = 0
    """How long from now it may first run; ignored when `run_at` is given."""
    run_at: Instant | None = None
    max_attempts: int = 5
    lease_us: int = int(DEFAULT_LEASE_SECONDS * 1_000_000)
    timeout_us: int | None = None
    """How long one run may take, if not as long as its task says."""
    deadline_us: int | None = int(DEFAULT_DEADLINE_SECONDS * 1_000_000)
    """How long after its first `run_at` it may wait, or None."""
    job_key: str | None = None
    """Given at planning: a second job with this key is not made. None takes a fresh one."""
    unique: Unique | None = None
    concurrency_key: str | None = None
    concurrency_limit: int | None = None
    source: str | None = None
    correlation_id: str | None = None
    tags: str = "[]"
    event_fields: str | None = None
    """What its events carry, as JSON."""
    headers: str | None = None
    """What travels with it and with the jobs that it enqueues, such as a trace context: text to text, as JSON."""
    audited: bool = False
    """Whether each of its events is written when it happens."""


class Enqueued(NamedTuple):
    """What an enqueue did: the job that now stands for the request, and whether it is new."""

    id: str
    created: bool


class LeaseKey(NamedTuple):
    """The right to write under a lease. A worker may hold an old and a new one of the same job: their fences differ.

    The number alone is not enough: a database that was put back (a fail-over to a replica that missed the claim, a
    restored backup) gives the same number out again, to somebody else. So who holds it is a part of the right.
    """

    id: str
    fence: int
    worker_id: str | None
    """The boot identity of the worker that holds it; None for a job that waits, which nobody holds."""


class HeldLease(Protocol):
    """A lease as far as its end needs it: a whole one of a run, or what a sweep reads of one that ran out."""

    @property
    def key(self) -> LeaseKey:
        """Its id, fence and holder, which every write under it carries."""

    @property
    def id(self) -> str:
        """The job."""

    @property
    def fence(self) -> int:
        """The number of the right."""

    @property
    def tenant(self) -> str:
        """Whose job it is."""

    @property
    def attempts(self) -> int:
        """Counted runs, this one among them."""

    @property
    def max_attempts(self) -> int:
        """How many there may be."""

    @property
    def losses(self) -> int:
        """Leases that ran out under the job before this one."""

    @property
    def leased_at(self) -> Instant:
        """When it was claimed."""

    @property
    def worker_id(self) -> str:
        """Who holds it."""

    @property
    def concurrency_key(self) -> str | None:
        """The key of its permit, where it has one."""

    @property
    def source(self) -> str | None:
        """The source whose gate its claim passed."""

    @property
    def event_fields(self) -> str | None:
        """What the events of the job carry, as JSON."""

    @property
    def audited(self) -> bool:
        """Whether its start was written when it was claimed."""


class Lease(NamedTuple):
    """The right to run one job, and what is needed to run it. Every write under it carries its `key`.

    A tuple, for it is made straight from a row, thousands of times a second.
    """

    id: str
    fence: int
    tenant: str
    task: str
    queue: str
    args: str
    attempts: int
    max_attempts: int
    losses: int
    deferrals: int
    job_key: str
    priority: int
    run_at: Instant
    created_at: Instant
    leased_at: Instant
    lease_us: int
    timeout_us: int | None
    deadline_at: Instant | None
    concurrency_key: str | None
    concurrency_limit: int | None
    source: str | None
    correlation_id: str | None
    tags: str
    requeued_from: str | None
    event_fields: str | None
    headers: str | None
    worker_id: str
    payload_bytes: int | None = None
    """How large the arguments are, where they are large."""
    audited: bool = False
    """Whether each of its events is written when it happens."""

    @property
    def key(self) -> LeaseKey:
        """Its id, its fence and its holder."""
        return LeaseKey(self.id, self.fence, self.worker_id)


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it stands in the database, whether it waits, runs or is finished."""

    id: str
    tenant: str
    task: str
    queue: str
    state: State
    reason: str | None
    """Why it is dead, cancelled or skipped."""
    priority: int
    args: str
    attempts: int
    max_attempts: int
    deferrals: int
    losses: int
    fence: int
    job_key: str
    source: str | None
    waiting_on: str | None
    """The closed gate it waits for, if any."""
    unique_key: str | None
    unique_scope: str | None
    concurrency_key: str | None
    correlation_id: str | None
    tags: str
    event_fields: str | None
    headers: str | None
    requeued_from: str | None
    requeued_to: str | None
    stage: str | None
    progress: str | None
    run_at: Instant
    deadline_at: Instant | None
    worker_id: str | None
    lease_owner: str | None
    """The name of the worker that has, or last had, the lease."""
    leased_at: Instant | None
    heartbeat_at: Instant | None
    lease_expires_at: Instant | None
    cancel_reason: str | None
    error_class: str | None
    error_code: str | None
    error_message: str | None
    error_frames: str | None
    """Where its last error came from, as JSON: see `engine.outcome.read_frames`."""
    result: str | None
    created_at: Instant
    updated_at: Instant
    started_at: Instant | None
    """When its first attempt began."""
    finished_at: Instant | None
    audited: bool
    """Whether each of its events is written when it happens."""
