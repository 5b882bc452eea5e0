"""What observers of a worker are given: the values of `runtime/observer.py`.

The values are small, frozen, and carry neither the arguments nor the result of a job; error messages are redacted.
New fields may be added to them; none is removed or renamed without notice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from haulwright.engine.outcome import Failure
    from haulwright.engine.transitions import State

RunOutcome = Literal["done", "retry", "snooze", "skip", "cancel", "bury", "died", "not_started", "lost"]
"""How a run ended; `died` with its process, `not_started` where its child process could not begin it, `lost` without
a right to an outcome, for its lease was gone."""
SettledAs = Literal["succeeded", "skipped", "cancelled", "dead", "retry", "snooze", "reap"]
"""What became of the job: a final state, or the verb that queued it again (`reap`: its process died under it)."""
ReleaseReason = Literal["worker_stopping", "prefetched", "unknown_task", "reply_lost"]
"""Why a lease was given back: its worker stops, others could run it sooner, its task is unknown here, or a reply of the
database was lost and nobody here knew of the lease."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStarted:
    """A worker begins."""

    worker: str
    queues: tuple[str, ...]
    concurrency: int
    database: str
    """Its address, without a password."""
    tasks: tuple[str, ...]
    schedules: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStopped:
    """A worker has ended in order."""

    worker: str
    runs: int
    """The jobs that it took."""
    refused: int
    """Its writes that came too late and changed nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnqueued:
    """A job was written, or one that exists already stood for it."""

    job_id: str
    task: str
    queue: str
    tenant: str
    max_attempts: int
    correlation_id: str | None
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What the job carries along, such as a trace context."""
    created: bool
    """False where a job with the same key existed: `job_id` is that one's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """One run of one job, under one lease. The pair of `job_id` and `fence` tells it from every other."""

    worker: str
    job_id: str
    fence: int
    task: str
    queue: str
    tenant: str
    attempt: int
    max_attempts: int
    correlation_id: str | None
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What the job carries along, such as a trace context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """The function of a run returned, raised or was ended. Nothing of it is on disk yet."""

    run: JobRun
    seconds: float
    outcome: RunOutcome
    failure: Failure | None
    """Class, code and redacted message, where the run failed."""
    exception: BaseException | None = field(default=None, repr=False, compare=False)
    """What the function raised, for error trackers. Its traceback reaches the variables of the task: redact them. None
    where the run was in a process of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNotStarted:
    """There was no thread or child process for a run. Its job goes back without burning an attempt."""

    run: JobRun
    failure: Failure
    """What was not to be had, and why."""
    retry_seconds: float
    """How long the job waits at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettled:
    """The outcome of a run is on disk."""

    run: JobRun
    seconds: float
    settled_as: SettledAs
    reason: str | None = None
    delay_seconds: float | None = None
    """Where the job is queued again: how long it waits at least."""
    gate: str | None = None
    """Where it was snoozed: what it waits for."""
    failure: Failure | None = None
    event_fields: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Where it succeeded: the fields of its arguments and result that its task declares, such as rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLost:
    """A write of a run was refused, for its lease is somebody else's by now. Nothing was changed."""

    run: JobRun
    seconds: float
    verb: str
    """`settle`, or `outcome` where nothing was even written, for the worker knew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobReleased:
    """A lease was given back without burning an attempt."""

    worker: str
    job_id: str
    reason: ReleaseReason
    run: JobRun | None = None
    """None where the reply to its claim was lost: only the id is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceUnused:
    """A run of a task with a source succeeded, and asked no source for anything."""

    run: JobRun
    source: str
    """The source of its job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseReaped:
    """A lease was taken back from a worker that is gone, by the worker that tells of it."""

    worker: str
    job_id: str
    tenant: str
    fence: int
    held_by: str
    """The id of the worker that had it."""
    held_by_name: str
    """What that worker is called."""
    state: State
    """Where the job is now."""
    reason: Literal["sweep", "worker_startup_recovery"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobExpired:
    """A job waited past its deadline and is dead now, with the reason `deadline`."""

    worker: str
    job_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotsOpened:
    """Slots of a schedule were given their disposition."""

    worker: str
    schedule: str
    slots: int
    job_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What was older than it is kept was removed: a round of retention is over."""

    worker: str
    removed: Mapping[str, int] = field(hash=False)
    """How many rows of each kind, such as `succeeded jobs`, `events` or `slots`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseTrouble:
    """The database did not answer. The worker goes on trying."""

    worker: str
    where: str
    """The part of the worker: `claim`, `settle`, `heartbeat`, `maintenance` ..."""
    error: str
    """Redacted."""
    retry_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopFailed:
    """A loop of the worker failed, for a reason of its own, and goes on after a pause."""

    worker: str
    loop: str
    """`claim`, `settle`, `heartbeat`, `watchdog`, `maintenance`, `listener`, `run` (a thread of it), `loop`, `lane`."""
    error: str
    """Class and message, redacted."""
    retry_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopStuck:
    """A loop did nothing but fail: the worker cannot keep its promises, gives back what it holds, and ends."""

    worker: str
    loop: str
    error: str
    """The last one; class and message, redacted."""
    failures: int
    seconds: float
    """Since the first of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabasePutBack:
    """The database is older than this worker remembers it: a replica that was behind took over, or it was restored.

    What was acknowledged in between is gone. The worker goes on; leases that are not in the database are lost.
    """

    worker: str
    beats: int
    """How often the database remembers to have seen this worker."""
    remembered: int
    """How often it had said so before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseLoss:
    """The database is not the one any more that this worker used, or is damaged. The worker ends at once."""

    worker: str
    error: str
    """What happened."""
    hint: str
    """What to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowAside:
    """A row that this worker cannot read or use, and therefore leaves alone: all others go on."""

    worker: str
    noun: str
    """`schedule`, `source` or `worker`."""
    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewalsLag:
    """Leases of this worker have not been renewed for more than half of their length. Told once, until they are."""

    worker: str
    runs: tuple[JobRun, ...]
    """The runs under these leases, the longest without a renewal first."""
    seconds: float
    """Since the renewal that is longest ago."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostThread:
    """The thread of a run that did not return in time, and how many of its worker are held like this."""

    run: JobRun
    seconds: float
    lost_threads: int
    concurrency: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadsExhausted:
    """Half of a worker's threads are held by runs that never return: it drains, for another to take its place."""

    worker: str
    lost_threads: int
    concurrency: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOutdated:
    """The schema became newer than the code of a worker: it finishes what it holds, and ends."""

    worker: str
    held: int
    """Jobs in its hands."""
    reason: str
    """Both versions, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildDied:
    """A child process died, of its own accord or by somebody's hand, but not by its worker's."""

    run: JobRun
    phase: Literal["start", "run"]
    """Before it could take the job, which then waits without burning an attempt; or under it, which is a loss."""
    exit_code: int | None
    """Negative where a signal killed it."""
    death: str
    """The same in words."""
