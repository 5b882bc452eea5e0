"""The one place that turns what workers do into lines. The acts themselves do not log."""

from __future__ import annotations

import json
import logging
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from haulwright.engine.outcome import frame_lines
from haulwright.redaction import MASK, is_secret_name, redact
from haulwright.runtime.observer import Observer
from haulwright.visible import visible, visible_line

if TYPE_CHECKING:
    from haulwright.runtime.observed import (
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

client_log = logging.getLogger("haulwright.client")
supervisor_log = logging.getLogger("haulwright.supervisor")
log = logging.getLogger("haulwright.worker")

STORM_SECONDS = 60.0
"""How often it is told that runs cannot be started, or that a loop fails: what follows the first line is counted."""
FRAMES = "frames"
"""The fact of a line that has lines of its own: where an error came from."""
_UNQUOTED = re.compile(r"""[^\s"']+""")
"""What a line shows as it is: one word, whose end a reader sees."""
ERROR_LIMIT_CHARS = 200
"""Error texts in lines are cut here; the row has the rest."""

_OF_EVERY_RUN = frozenset({"worker", "job", "task", "tenant", "attempt", "fence", "correlation", "level", "message"})
"""What a line says of every run: no field of a result stands in its place."""
_RELEASED = {
    "worker_stopping": (logging.DEBUG, "job released: the worker stops"),
    "prefetched": (logging.DEBUG, "job released: others can run it sooner"),
    "unknown_task": (logging.WARNING, "job given back: its task is unknown here"),
    "reply_lost": (logging.WARNING, "lease given back: the reply to its claim was lost"),
}


@dataclass(slots=True)
class _Storm:
    """How many of a kind came since the last line about it."""

    count: int = 0
    told_at: float = float("-inf")


class LogLines(Observer):
    """What a worker does, as log records: a message, and what it is about in `record.facts`."""

    _LEVELS: ClassVar = {
        "started": logging.DEBUG,
        "ended": logging.DEBUG,
        "settled": logging.INFO,
        "released": logging.WARNING,
    }
    """The least level of the calls that a worker makes for every job; they are not made while it is off."""

    def calls_on(self) -> frozenset[str]:
        """Those calls that would make a line now."""
        return frozenset(call for call, level in self._LEVELS.items() if log.isEnabledFor(level))

    def tells_of_enqueues(self) -> bool:
        """Whether an enqueue would make a line now."""
        return client_log.isEnabledFor(logging.DEBUG)

    def __init__(self) -> None:
        self._storms: dict[tuple[str, ...], _Storm] = {}
        """What comes by the hundred: one line a minute of each kind."""

    def worker_started(self, event: WorkerStarted, /) -> None:
        """One line."""
        facts = {"database": event.database, "queues": list(event.queues), "concurrency": event.concurrency}
        facts |= {"tasks": list(event.tasks), "schedules": list(event.schedules)}
        _line(log, logging.INFO, "worker started", worker=event.worker, **facts)

    def worker_stopped(self, event: WorkerStopped, /) -> None:
        """One line."""
        _line(log, logging.INFO, "worker stopped", worker=event.worker, runs=event.runs, refused=event.refused)

    def enqueued(self, event: JobEnqueued, /) -> None:
        """One line, for whoever looks closely."""
        message = "job enqueued" if event.created else "job not enqueued: it exists"
        facts = {"task": event.task, "tenant": event.tenant, "attempt": f"0/{event.max_attempts}"}
        _line(client_log, logging.DEBUG, message, job=event.job_id, **facts, correlation=event.correlation_id)

    def started(self, run: JobRun, /) -> None:
        """One line, for whoever looks closely."""
        _run_line(logging.DEBUG, "job started", run)

    def not_started(self, event: RunNotStarted, /) -> None:
        """One line a minute: where one cannot be started the others mostly cannot, and each has it in its row."""
        runs = self._count("not_started")
        if runs:
            facts: dict[str, Any] = {"error": event.failure.message[:ERROR_LIMIT_CHARS], "runs": runs}
            facts |= {"error_class": event.failure.error_class, "retry_seconds": event.retry_seconds}
            _run_line(logging.ERROR, "a run could not be started: its job is given back", event.run, **facts)

    def ended(self, event: RunEnded, /) -> None:
        """The traceback of a failure, for whoever looks closely."""
        if event.exception is not None and event.failure is not None:
            log.debug("the traceback of job %s", event.run.job_id, exc_info=event.exception)

    def settled(self, event: RunSettled, /) -> None:
        """One line: louder where the run failed, loudest where the job is dead."""
        facts = {name: value for name, value in event.event_fields.items() if name not in _OF_EVERY_RUN}
        facts |= {"reason": event.reason, "delay_seconds": event.delay_seconds, "gate": event.gate}
        facts["seconds"] = round(event.seconds, 3)
        if event.failure is not None and event.settled_as != "snooze":
            facts |= {"error": event.failure.message[:ERROR_LIMIT_CHARS], "error_class": event.failure.error_class}
            facts |= {"code": event.failure.code, FRAMES: event.failure.frames or None}
        level = logging.INFO if event.failure is None or event.settled_as == "snooze" else logging.WARNING
        _run_line(logging.ERROR if event.settled_as == "dead" else level, f"job {event.settled_as}", event.run, **facts)

    def lost(self, event: RunLost, /) -> None:
        """One line."""
        _run_line(logging.WARNING, f"job {event.verb} refused: the lease is lost", event.run)

    def released(self, event: JobReleased, /) -> None:
        """One line; a release in order is for whoever looks closely."""
        level, message = _RELEASED[event.reason]
        if event.run is None:
            _line(log, level, message, worker=event.worker, job=event.job_id)
        else:
            _run_line(level, message, event.run)

    def reaped(self, event: LeaseReaped, /) -> None:
        """One line."""
        who = {"held_by": event.held_by_name, "holder": event.held_by}
        facts = {"job": event.job_id, **who, "now": event.state, "why": event.reason}
        _line(log, logging.WARNING, "lease taken back", worker=event.worker, **facts)

    def expired(self, event: JobExpired, /) -> None:
        """One line."""
        message = "job dead: it waited past its deadline"
        _line(log, logging.WARNING, message, worker=event.worker, job=event.job_id)

    def slots_opened(self, event: SlotsOpened, /) -> None:
        """One line, which says so where none of them has a job: they were missed, or skipped for the one before."""
        facts: dict[str, Any] = {"schedule": event.schedule, "slots": event.slots}
        if event.job_ids:
            facts["jobs"] = list(event.job_ids)
        message = "slots opened" if event.job_ids else "slots recorded without a job"
        _line(log, logging.INFO, message, worker=event.worker, **facts)

    def pruned(self, event: Pruned, /) -> None:
        """One line."""
        facts = {kind.replace(" ", "_"): count for kind, count in event.removed.items()}
        _line(log, logging.INFO, "what was older than it is kept is removed", worker=event.worker, **facts)

    def troubled(self, event: DatabaseTrouble, /) -> None:
        """One line."""
        facts = {"error": event.error, "retry_seconds": event.retry_seconds}
        _line(log, logging.WARNING, f"{event.where}: the database is in trouble", worker=event.worker, **facts)

    def loop_failed(self, event: LoopFailed, /) -> None:
        """One line a minute for each kind of error of each loop, with how many there were since the last."""
        failures = self._count("loop_failed", event.loop, event.error.partition(":")[0])
        if failures:
            facts = {"error": event.error, "failures": failures, "retry_seconds": event.retry_seconds}
            _line(log, logging.ERROR, f"{event.loop}: it failed and goes on", worker=event.worker, **facts)

    def loop_stuck(self, event: LoopStuck, /) -> None:
        """One line, as loud as there is."""
        message = f"{event.loop}: it does nothing but fail; the worker gives back what it holds and ends"
        facts = {"error": event.error, "failures": event.failures, "seconds": round(event.seconds, 3)}
        _line(log, logging.CRITICAL, message, worker=event.worker, **facts)

    def source_unused(self, event: SourceUnused, /) -> None:
        """One line, with what to do."""
        why = "a run made no request through its source, which governs only those that are"
        hint = "make them by source.get(...), or each of another client inside `with source.enter():`"
        _run_line(logging.WARNING, f"{why}; {hint}", event.run, source=event.source)

    def not_isolated(self, run: JobRun, /) -> None:
        """One line, with what to do."""
        why = "a job whose worker died under it runs in this process: no other can import the app by name"
        _run_line(logging.WARNING, f"{why}; keep it in a variable of a module", run)

    def database_put_back(self, event: DatabasePutBack, /) -> None:
        """One line, as loud as there is."""
        message = "the database was put back to an earlier time: what was acknowledged since then is gone"
        facts = {"beats": event.beats, "remembered": event.remembered}
        _line(log, logging.CRITICAL, message, worker=event.worker, **facts)

    def database_lost(self, event: DatabaseLoss, /) -> None:
        """One line, as loud as there is."""
        message = "the database is lost to this worker, which ends: no outcome of its runs can be written"
        _line(log, logging.CRITICAL, message, worker=event.worker, error=event.error, hint=event.hint)

    def put_aside(self, event: RowAside, /) -> None:
        """One line."""
        message = f"a {event.noun} is put aside: this worker cannot read or use its row"
        _line(log, logging.ERROR, message, worker=event.worker, name=event.name, reason=event.reason)

    def renewals_lag(self, event: RenewalsLag, /) -> None:
        """One line for all of them, with the job that waits longest."""
        facts = {"leases": len(event.runs), "seconds": round(event.seconds, 3), "job": event.runs[0].job_id}
        _line(log, logging.WARNING, "renewals lag", worker=event.worker, **facts)

    def thread_lost(self, event: LostThread, /) -> None:
        """One line."""
        message = "a run never returned: it is settled without its thread, which is lost"
        _run_line(logging.WARNING, message, event.run, seconds=round(event.seconds, 3), lost_threads=event.lost_threads)

    def thread_returned(self, event: LostThread, /) -> None:
        """One line."""
        message = "a run returned after it was given up: its result is discarded"
        _run_line(logging.WARNING, message, event.run, seconds=round(event.seconds, 3), lost_threads=event.lost_threads)

    def threads_exhausted(self, event: ThreadsExhausted, /) -> None:
        """One line."""
        message = "too many threads are lost: the worker drains, for another to take its place"
        facts = {"lost_threads": event.lost_threads, "concurrency": event.concurrency}
        _line(log, logging.ERROR, message, worker=event.worker, **facts)

    def outdated(self, event: WorkerOutdated, /) -> None:
        """One line, with what to do."""
        message = "the schema is newer than this worker: it claims nothing more, finishes what it holds, and ends"
        _line(log, logging.ERROR, message, worker=event.worker, held=event.held, error=event.reason)

    def _count(self, *kind: str) -> int:
        """How many of a kind a line is to tell of now: all since the last line, or 0 where it is too early for one."""
        storm = self._storms.setdefault(kind, _Storm())
        storm.count += 1
        if time.monotonic() - storm.told_at < STORM_SECONDS:
            return 0
        count, storm.count, storm.told_at = storm.count, 0, time.monotonic()
        return count


def tell_stopping(runs: int, grace_seconds: float, *, again: bool) -> None:
    """One line for whoever told a worker to stop: how long that may take, and how to shorten it."""
    if again or not runs:
        message = "stopping now: what runs is given back" if runs else "stopping: nothing runs"
        _line(log, logging.INFO, message, runs=runs)
    else:
        message = "stopping: what runs may finish; a second signal gives it back at once"
        _line(log, logging.INFO, message, runs=runs, grace_seconds=grace_seconds)


class SupervisorLines:
    """What a supervisor does, as log records. It knows no app, hence no observers."""

    def started(self, place: int, pid: int) -> None:
        """A worker was started."""
        _line(supervisor_log, logging.INFO, "started a worker", place=place, pid=pid)

    def restarting(self, place: int, pid: int, death: str, pause_seconds: float, *, in_order: bool) -> None:
        """A worker ended, and another will take its place."""
        level = logging.WARNING if in_order else logging.ERROR
        facts = {"place": place, "pid": pid, "death": death, "pause_seconds": pause_seconds}
        _line(supervisor_log, level, "a worker ended and will be started again", **facts)

    def cannot_start(self, place: int, pid: int, death: str) -> None:
        """All workers refused to start."""
        message = "no worker can start: all have refused, and so will the next ones"
        _line(supervisor_log, logging.ERROR, message, place=place, pid=pid, death=death)

    def database_lost(self, place: int, pid: int) -> None:
        """A worker lost its database."""
        message = "a worker lost its database: none is started again until a person has looked at it"
        _line(supervisor_log, logging.ERROR, message, place=place, pid=pid)

    def stopping(self, signal: str, workers: int) -> None:
        """The workers were told to stop."""
        _line(supervisor_log, logging.INFO, "told the workers to stop", signal=signal, workers=workers)

    def stopped(self, code: int, restarts: int) -> None:
        """The supervisor ends."""
        _line(supervisor_log, logging.INFO, "supervisor stopped", code=code, restarts=restarts)


def _run_line(level: int, message: str, run: JobRun, **facts: Any) -> None:
    _line(
        log,
        level,
        message,
        worker=run.worker,
        job=run.job_id,
        task=run.task,
        tenant=run.tenant,
        attempt=f"{run.attempt}/{run.max_attempts}",
        fence=run.fence,
        correlation=run.correlation_id,
        **facts,
    )


def _line(logger: logging.Logger, level: int, message: str, **facts: Any) -> None:
    if logger.isEnabledFor(level):
        present = {name: value for name, value in facts.items() if value is not None}
        logger.log(level, "%s", message, extra={"facts": present})


class TextFormatter(logging.Formatter):
    """Lines for people: the message, then what it is about."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; under that of a failure the lines of the user's code that it came through."""
        facts = getattr(record, "facts", {})
        words = " ".join(f"{name}={_word(value)}" for name, value in facts.items() if name != FRAMES)
        line = f"{self.formatTime(record, '%H:%M:%S')} {record.levelname.lower():7} {record.getMessage()}"
        line = visible_line(redact(f"{line}  {words}" if words else line))
        lines = [line, *(f"    {visible_line(redact(each))}" for each in frame_lines(facts.get(FRAMES, ())))]
        if record.exc_info:
            lines.append(visible(redact(self.formatException(record.exc_info))))
        return "\n".join(lines)


class JsonFormatter(logging.Formatter):
    """Lines for programs: one JSON object each, with times in UTC."""

    converter = staticmethod(time.gmtime)

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line = {
            "at": f"{self.formatTime(record, '%Y-%m-%dT%H:%M:%S')}.{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **_plain(getattr(record, "facts", {})),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(_redacted(line))


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    """Facts as JSON has them: a frame is an object."""
    if FRAMES not in facts:
        return facts
    return facts | {FRAMES: [frame._asdict() for frame in facts[FRAMES]]}


def _redacted(value: Any) -> Any:
    """The same value without secrets: text by text, so that what comes out is still JSON."""
    if isinstance(value, dict):
        return {name: MASK if _is_secret(name, item) else _redacted(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(item) for item in value]
    return value if value is None or isinstance(value, int | float) else redact(str(value))


def _is_secret(name: object, value: object) -> bool:
    return isinstance(value, str) and is_secret_name(str(name))


def _word(value: object) -> str:
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if text.isprintable() and _UNQUOTED.fullmatch(text) else json.dumps(text)
