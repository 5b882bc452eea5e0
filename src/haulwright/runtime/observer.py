"""The seam for what happens in a worker: calls that anybody may listen to. Log lines are one listener of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from haulwright.runtime.observed import (
        ChildDied,
        DatabaseLoss,
        DatabasePutBack,
        DatabaseTrouble,
        JobEnqueued,
        JobExpired,
        JobReleased,
        JobRun,
        LeaseReaped,
        LoopFailed,
        LoopStuck,
        LostThread,
        Pruned,
        RenewalsLag,
        RowAside,
        RunEnded,
        RunLost,
        RunNotStarted,
        RunSettled,
        SlotsOpened,
        SourceUnused,
        ThreadsExhausted,
        WorkerOutdated,
        WorkerStarted,
        WorkerStopped,
    )


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

    def loop_failed(self, event: LoopFailed, /) -> None:
        """A loop of the worker failed, and goes on. Told each time; the log has one line a minute of each kind."""

    def loop_stuck(self, event: LoopStuck, /) -> None:
        """A loop fails without a break: the worker drains and ends."""

    def source_unused(self, event: SourceUnused, /) -> None:
        """A run of a task with `source=` sent nothing through it, as a client of its own would; told once a task."""

    def not_isolated(self, run: JobRun, /) -> None:
        """A job whose worker died under it runs in this process, for no other finds the app by name; told once."""

    def database_put_back(self, event: DatabasePutBack, /) -> None:
        """The database was put back to an earlier time under this worker: what was acknowledged since then is gone."""

    def database_lost(self, event: DatabaseLoss, /) -> None:
        """The file of the database was replaced, deleted or damaged under this worker, which ends. Told once."""

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

    def outdated(self, event: WorkerOutdated, /) -> None:
        """The schema is newer than this worker: it claims nothing more, finishes what it holds, and ends."""

    def child_died(self, event: ChildDied, /) -> None:
        """A child process died while it started, or under its run."""
