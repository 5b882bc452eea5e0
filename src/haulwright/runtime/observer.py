"""The seam for what happens in a worker: calls that anybody may listen to. Log lines are one listener, metrics another.

The values are small, frozen, and carry neither the arguments nor the result of a job; error messages are redacted.
New fields may be added to them; none is removed or renamed without notice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

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
class LeaseReaped:
    """A lease was taken back from a worker that is gone, by the worker that tells of it."""

    worker: str
    job_id: str
    tenant: str
    fence: int
    held_by: str
    """The id of the worker that had it."""
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
class ChildDied:
    """A child process died, of its own accord or by somebody's hand, but not by its worker's."""

    run: JobRun
    phase: Literal["start", "run"]
    """Before it could take the job, which then waits without burning an attempt; or under it, which is a loss."""
    exit_code: int | None
    """Negative where a signal killed it."""
    death: str
    """The same in words."""


class Observer:
    """What happens in a worker, as calls: override those that you care for, and give an instance to `app.observe`.

    A call is made on the thread where the thing happens, several at once, and the worker waits for it: be quick, be
    safe for threads, and hand slow work over to a thread of your own. What a call raises is logged once and hurts
    nobody. `started` and `ended` are made on the thread, and in the context variables, in which the function runs.

    A run in a child process is observed in the parent. The child has observers of its own, since it imports the app:
    they hear `enqueued` of what the job enqueues there, and nothing else.
    """

    def worker_started(self, event: WorkerStarted, /) -> None:
        """A worker begins; its first claim follows."""

    def worker_stopped(self, event: WorkerStopped, /) -> None:
        """A worker has ended in order; nothing follows but runs that were given up and return late."""

    def enqueued(self, event: JobEnqueued, /) -> None:
        """A job was enqueued by this process, in a worker or not.

        On a connection of yours it is written, and not yet committed. Jobs that `tx.enqueue` writes are not told here,
        nor are those of schedules: see `slots_opened`.
        """

    def claimed(self, run: JobRun, /) -> None:
        """A job was claimed; it may wait here for its turn. Then follow `started`, `ended` and `settled`, or `lost`.

        Instead of any of them `released` may follow.
        """

    def started(self, run: JobRun, /) -> None:
        """The function of a run is about to be called, or its job handed to a child process."""

    def not_started(self, event: RunNotStarted, /) -> None:
        """A run could not be started; `settled` follows. `started` and `ended` come only where a child has said so."""

    def ended(self, event: RunEnded, /) -> None:
        """The function of a run is over. Whether its outcome counts is not known yet."""

    def settled(self, event: RunSettled, /) -> None:
        """The outcome of a run is on disk, written by the worker or by a commit of the run itself."""

    def lost(self, event: RunLost, /) -> None:
        """The outcome of a run was discarded: its lease is lost. Nothing was changed."""

    def released(self, event: JobReleased, /) -> None:
        """A lease was given back, no attempt burnt. If its function still runs, that ends as `lost`."""

    def reaped(self, event: LeaseReaped, /) -> None:
        """This worker took back a lease of a worker that is gone."""

    def expired(self, event: JobExpired, /) -> None:
        """This worker buried a job that had waited past its deadline; it never ran here."""

    def slots_opened(self, event: SlotsOpened, /) -> None:
        """Slots of a schedule were opened by this worker."""

    def pruned(self, event: Pruned, /) -> None:
        """This worker removed what was older than it is kept."""

    def troubled(self, event: DatabaseTrouble, /) -> None:
        """The database did not answer, or refused what it should not refuse."""

    def database_put_back(self, event: DatabasePutBack, /) -> None:
        """The database was put back to an earlier time under this worker: what was acknowledged since then is gone."""

    def put_aside(self, event: RowAside, /) -> None:
        """A row cannot be read by this version, or its slots cannot be opened; told once by each worker."""

    def renewals_lag(self, event: RenewalsLag, /) -> None:
        """Leases are not renewed in time: the database is away or slow, or a commit of a run lasts.

        A run whose lease cannot be renewed for twice its length is ended: it hears that its lease is lost.
        """

    def thread_lost(self, event: LostThread, /) -> None:
        """A run did not return: it is settled as timed out without its thread, which is held until it does, if ever."""

    def thread_returned(self, event: LostThread, /) -> None:
        """A run returned after it was given up: its result is discarded, and the thread works again."""

    def threads_exhausted(self, event: ThreadsExhausted, /) -> None:
        """Too many threads are lost: the worker drains and ends."""

    def child_died(self, event: ChildDied, /) -> None:
        """A child process died while it started, or under its run."""
