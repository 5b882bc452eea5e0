"""Hands what happens in a worker to everybody who observes it. What nobody listens to is not even built."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from haulwright.engine.headers import parse_headers
from haulwright.engine.names import declared_names
from haulwright.engine.outcome import Bury, Cancel, Died, Done, Failure, NotStarted, Outcome, RetryLater, Skip, Snooze
from haulwright.engine.settlement import PutBack, Step
from haulwright.errors import DatabaseLost
from haulwright.redaction import redact
from haulwright.runtime.log_lines import ERROR_LIMIT_CHARS, LogLines
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
    ReleaseReason,
    RenewalsLag,
    RowAside,
    RunEnded,
    RunLost,
    RunNotStarted,
    RunOutcome,
    RunSettled,
    SlotsOpened,
    SourceUnused,
    ThreadsExhausted,
    WorkerOutdated,
    WorkerStarted,
    WorkerStopped,
)
from haulwright.runtime.observer import Observer
from haulwright.stores.error_kinds import is_of_database

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.engine.job import Enqueued, Lease, NewJob
    from haulwright.runtime.execution import Run
    from haulwright.runtime.options import WorkerOptions
    from haulwright.stores.recovery import Reaped

log = logging.getLogger("haulwright.observer")

CALLS = tuple(name for name in vars(Observer) if not name.startswith("_"))
"""Everything that may be observed: a closed set."""
_OUTCOMES: dict[type[Outcome], RunOutcome] = {
    Done: "done", RetryLater: "retry", Snooze: "snooze", Skip: "skip", Cancel: "cancel", Bury: "bury", Died: "died",
    NotStarted: "not_started",
}  # fmt: skip


class Tally(Observer):
    """What a worker has to know of itself."""

    def __init__(self) -> None:
        self.refused = 0
        """Writes that came too late and changed nothing."""
        self.lost_database: DatabaseLost | None = None
        """Why the worker ends, where its database is not there any more."""
        self.on_lost_database: Callable[[], None] = lambda: None
        """What the worker does then: without a database nothing can be finished, nor given back."""
        self.on_stuck: Callable[[LoopStuck], None] = lambda _event: None
        """What the worker does where it cannot keep its promises."""

    def lost(self, _event: RunLost, /) -> None:
        """Count it."""
        self.refused += 1

    def database_lost(self, _event: DatabaseLoss, /) -> None:
        """Have the worker end at once."""
        self.on_lost_database()

    def loop_stuck(self, event: LoopStuck, /) -> None:
        """Have the worker end."""
        self.on_stuck(event)


class Observers:
    """All who observe one worker, called in order: its own tally, the log, then those that the app was given."""

    def __init__(self, worker: str, observers: Iterable[Observer] = (), *, lines: LogLines | None = None) -> None:
        self.worker = worker
        self.tally = Tally()
        self._lines = lines
        everybody = (self.tally, *([] if lines is None else [lines]), *observers)
        self._watching = {call: [each for each in everybody if _overrides(each, call)] for call in CALLS}
        self._always = frozenset(
            call for call, watching in self._watching.items() if any(each is not lines for each in watching)
        )
        """Calls that somebody listens to besides the log."""
        self._watched = self._look_who_watches()
        self._failed: set[tuple[int, str]] = set()
        self._tasks_seen: set[str] = set()
        """Tasks of which it is known whether they ask their source."""

    @classmethod
    def logged(cls, worker: str, observers: Iterable[Observer] = ()) -> Observers:
        """Those of a worker, or of a process that enqueues: the log is among them."""
        return cls(worker, observers, lines=LogLines())

    def worker_started(self, app: Haulwright, options: WorkerOptions) -> None:
        """The worker begins."""
        event = WorkerStarted(
            worker=self.worker, queues=tuple(options.queues), concurrency=options.concurrency,
            database=redact(app.database_url.split("?", 1)[0]), tasks=declared_names(app.tasks),
            schedules=tuple(sorted(app.schedules)),
        )  # fmt: skip
        self._call("worker_started", event)

    def worker_stopped(self, runs: int) -> None:
        """The worker ends."""
        self._call("worker_stopped", WorkerStopped(worker=self.worker, runs=runs, refused=self.tally.refused))

    def enqueued(self, jobs: Sequence[NewJob], enqueued: Sequence[Enqueued]) -> None:
        """Jobs were written, or others stood for them."""
        if "enqueued" not in self._always and (self._lines is None or not self._lines.tells_of_enqueues()):
            return
        with suppress(Exception):  # such as a handler of the log that raises: the jobs are written, and stay so
            for job, entry in zip(jobs, enqueued, strict=True):
                event = JobEnqueued(
                    job_id=entry.id, task=job.task, queue=job.queue, tenant=job.tenant, max_attempts=job.max_attempts,
                    correlation_id=job.correlation_id, headers=parse_headers(job.headers), created=entry.created,
                )  # fmt: skip
                self._call("enqueued", event)

    def claimed(self, leases: Iterable[Lease]) -> None:
        """Jobs are in our hands."""
        self._watched = self._look_who_watches()
        if "claimed" in self._watched:
            for lease in leases:
                self._call("claimed", self._job_run(lease))

    def started(self, run: Run) -> None:
        """The function of a run is about to be called."""
        if "started" in self._watched:
            self._call("started", self._job_run(run.lease))

    def not_started(self, run: Run, outcome: NotStarted) -> None:
        """A run could not be started."""
        event = RunNotStarted(run=self._job_run(run.lease), failure=outcome.failure, retry_seconds=outcome.seconds)
        self._call("not_started", event)

    def ended(self, run: Run) -> None:
        """The function of a run is over."""
        if run.lease.source is not None:
            self._look_for_requests(run)
        if "ended" in self._watched:
            event = RunEnded(
                run=self._job_run(run.lease),
                seconds=run.seconds,
                outcome=_word_of(run),
                failure=_failure_of(run.outcome),
                exception=run.error,
            )
            self._call("ended", event)

    def settled(self, run: Run, step: Step) -> None:
        """The outcome of a run is on disk."""
        if "settled" not in self._watched:
            return
        result: dict[str, Any]
        if isinstance(step, PutBack):
            result = {"settled_as": step.verb, "delay_seconds": step.delay_us / 1_000_000, "gate": step.waiting_on}
        else:
            result = {"settled_as": str(step.state), "reason": step.reason}
            result["event_fields"] = json.loads(step.event_fields) if step.event_fields else {}
        event = RunSettled(run=self._job_run(run.lease), seconds=run.seconds, failure=step.failure, **result)
        self._call("settled", event)

    def lost(self, run: Run, verb: str) -> None:
        """A write came too late: the lease is somebody else's."""
        self._call("lost", RunLost(run=self._job_run(run.lease), seconds=run.seconds, verb=verb))

    def released(self, leases: Iterable[Lease], reason: ReleaseReason) -> None:
        """Leases were given back."""
        if "released" in self._watched:
            for lease in leases:
                run = self._job_run(lease)
                self._call("released", JobReleased(worker=self.worker, job_id=lease.id, reason=reason, run=run))

    def released_unknown(self, job_ids: Collection[str]) -> None:
        """Leases were given back that nobody here knew of, for the reply to their claim was lost."""
        for job_id in sorted(job_ids):
            self._call("released", JobReleased(worker=self.worker, job_id=job_id, reason="reply_lost"))

    def reaped(self, reaped: Iterable[Reaped], reason: Literal["sweep", "worker_startup_recovery"]) -> None:
        """Leases were taken back from workers that are gone."""
        for row in reaped:
            event = LeaseReaped(
                worker=self.worker, job_id=row.id, tenant=row.tenant, fence=row.fence, held_by=row.worker_id,
                held_by_name=row.worker_name, state=row.state, reason=reason,
            )  # fmt: skip
            self._call("reaped", event)

    def expired(self, job_ids: Iterable[str]) -> None:
        """Jobs were buried that had waited past their deadline."""
        for job_id in job_ids:
            self._call("expired", JobExpired(worker=self.worker, job_id=job_id))

    def slots_opened(self, schedule: str, slots: int, job_ids: Sequence[str]) -> None:
        """Slots of a schedule were opened."""
        event = SlotsOpened(worker=self.worker, schedule=schedule, slots=slots, job_ids=tuple(job_ids))
        self._call("slots_opened", event)

    def pruned(self, removed: Mapping[str, int]) -> None:
        """A round of retention removed something."""
        self._call("pruned", Pruned(worker=self.worker, removed=removed))

    def troubled(self, where: str, error: BaseException, retry_seconds: float) -> None:
        """The database did not answer; we go on trying, unless it is lost."""
        if isinstance(error, DatabaseLost):
            self.database_lost(error)
            return
        text = redact(str(error))[:ERROR_LIMIT_CHARS]
        event = DatabaseTrouble(worker=self.worker, where=where, error=text, retry_seconds=retry_seconds)
        self._call("troubled", event)

    def failed(self, where: str, error: BaseException, retry_seconds: float) -> None:
        """A part of the worker failed, and goes on: the database's matter, or its own."""
        (self.troubled if is_of_database(error) else self.loop_failed)(where, error, retry_seconds)

    def loop_failed(self, loop: str, error: BaseException, retry_seconds: float) -> None:
        """A loop of the worker failed, and goes on."""
        event = LoopFailed(worker=self.worker, loop=loop, error=_words_of(error), retry_seconds=retry_seconds)
        self._call("loop_failed", event)

    def loop_stuck(self, loop: str, error: BaseException, failures: int, seconds: float) -> None:
        """A loop does nothing but fail: the worker ends."""
        event = LoopStuck(
            worker=self.worker, loop=loop, error=_words_of(error), failures=failures, seconds=seconds
        )  # fmt: skip
        self._call("loop_stuck", event)

    def not_isolated(self, run: Run) -> None:
        """A suspect runs in this process, for no other finds the app."""
        self._call("not_isolated", self._job_run(run.lease))

    def database_put_back(self, beats: int, remembered: int) -> None:
        """The database is older than we remember it."""
        self._call("database_put_back", DatabasePutBack(worker=self.worker, beats=beats, remembered=remembered))

    def database_lost(self, error: DatabaseLost) -> None:
        """The database is not there any more: told by the first who meets it, for all others will."""
        if self.tally.lost_database is None:
            self.tally.lost_database = error
            self._call("database_lost", DatabaseLoss(worker=self.worker, error=error.message, hint=error.hint))

    def put_aside(self, noun: str, name: str, reason: str) -> None:
        """A row is left alone."""
        self._call("put_aside", RowAside(worker=self.worker, noun=noun, name=name, reason=reason))

    def renewals_lag(self, runs: Sequence[Run], seconds: float) -> None:
        """Leases are not renewed in time."""
        facts = tuple(self._job_run(run.lease) for run in runs)
        self._call("renewals_lag", RenewalsLag(worker=self.worker, runs=facts, seconds=seconds))

    def thread_lost(self, run: Run, lost_threads: int, concurrency: int) -> None:
        """A run is settled without its thread."""
        self._call("thread_lost", self._lost_thread(run, lost_threads, concurrency))

    def thread_returned(self, run: Run, lost_threads: int, concurrency: int) -> None:
        """A run returned after it was given up."""
        self._call("thread_returned", self._lost_thread(run, lost_threads, concurrency))

    def threads_exhausted(self, lost_threads: int, concurrency: int) -> None:
        """The worker drains, for too many of its threads are lost."""
        self._call(
            "threads_exhausted",
            ThreadsExhausted(worker=self.worker, lost_threads=lost_threads, concurrency=concurrency),
        )

    def outdated(self, mismatch: Exception, held: int) -> None:
        """The schema became newer than this code."""
        self._call("outdated", WorkerOutdated(worker=self.worker, held=held, reason=redact(str(mismatch))))

    def child_died(self, run: Run, phase: Literal["start", "run"], exit_code: int | None, death: str) -> None:
        """A child process died."""
        event = ChildDied(run=self._job_run(run.lease), phase=phase, exit_code=exit_code, death=death)
        self._call("child_died", event)

    def _look_for_requests(self, run: Run) -> None:
        """Tell once of a task whose runs succeed and never ask their source. What a later run does may be on record."""
        if run.context.signals.has_asked_source:
            self._tasks_seen.add(run.lease.task)
        elif run.lease.fence == 1 and _word_of(run) == "done" and run.lease.task not in self._tasks_seen:
            self._tasks_seen.add(run.lease.task)
            self._call("source_unused", SourceUnused(run=self._job_run(run.lease), source=run.lease.source or ""))

    def _look_who_watches(self) -> frozenset[str]:
        """The calls that somebody listens to now. The level of the log may change: it is looked up for every batch."""
        return self._always if self._lines is None else self._always | self._lines.calls_on()

    def _call(self, call: str, event: object) -> None:
        for observer in self._watching[call]:
            try:
                getattr(observer, call)(event)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is not the job's fault
                self._note_failure(observer, call, error)

    def _note_failure(self, observer: Observer, call: str, error: BaseException) -> None:
        """Log the first failure of a call; a storm of them is one line."""
        if (id(observer), call) in self._failed:
            return
        self._failed.add((id(observer), call))
        name = f"{type(observer).__name__}.{call}"
        facts = {"observer": name, "error": _words_of(error)}
        message = "an observer failed; further failures of this call are not told"
        log.error("%s", message, extra={"facts": facts})
        log.debug("the traceback of observer %s", name, exc_info=error)

    def _job_run(self, lease: Lease) -> JobRun:
        return JobRun(
            worker=self.worker,
            job_id=lease.id,
            fence=lease.fence,
            task=lease.task,
            queue=lease.queue,
            tenant=lease.tenant,
            attempt=lease.attempts,
            max_attempts=lease.max_attempts,
            correlation_id=lease.correlation_id,
            headers=parse_headers(lease.headers),
        )

    def _lost_thread(self, run: Run, lost_threads: int, concurrency: int) -> LostThread:
        return LostThread(
            run=self._job_run(run.lease), seconds=run.seconds, lost_threads=lost_threads, concurrency=concurrency
        )


def _words_of(error: BaseException) -> str:
    return redact(f"{type(error).__name__}: {error}")[:ERROR_LIMIT_CHARS]


def _overrides(observer: Observer, call: str) -> bool:
    return getattr(type(observer), call) is not getattr(Observer, call)


def _word_of(run: Run) -> RunOutcome:
    if run.outcome is not None:
        return _OUTCOMES[type(run.outcome)]
    return "done" if run.context.settled else "lost"


def _failure_of(outcome: Outcome | None) -> Failure | None:
    return outcome.failure if isinstance(outcome, RetryLater | Bury | Died | NotStarted) else None


SILENT = Observers("")
"""For runs in a child process: their parent tells of them."""
