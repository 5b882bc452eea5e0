"""One place turns what a worker does into lines. The acts themselves do not log."""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING, Any

from penstock.engine.settlement import Finish, PutBack, Step
from penstock.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from penstock.engine.job import Lease
    from penstock.runtime.execution import Run
    from penstock.stores.leases import Reaped

log = logging.getLogger("penstock.worker")

LINE_LIMIT_CHARS = 200
"""Error texts in lines are cut here; the row has the rest."""


class Report:
    """Tells of one worker."""

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self.refused = 0
        """Writes that came too late and changed nothing."""
        self.troubled_at = float("-inf")
        """When the database was last in trouble, on the monotonic clock."""

    def started(self, queues: Sequence[str], concurrency: int) -> None:
        """The worker begins."""
        self._line(logging.INFO, "worker started", queues=list(queues), concurrency=concurrency)

    def stopped(self, runs: int) -> None:
        """The worker ends."""
        self._line(logging.INFO, "worker stopped", runs=runs, refused=self.refused)

    def claimed(self, leases: Sequence[Lease]) -> None:
        """Jobs are in our hands."""
        if log.isEnabledFor(logging.DEBUG):
            for lease in leases:
                self._job(logging.DEBUG, "job started", lease)

    def settled(self, run: Run, step: Step) -> None:
        """A run ended and its outcome is on disk."""
        if not log.isEnabledFor(logging.INFO):
            return
        facts: dict[str, Any] = {"seconds": round(run.seconds, 3)}
        if step.failure is not None:
            facts |= {"error": step.failure.message[:LINE_LIMIT_CHARS], "code": step.failure.code}
        match step:
            case Finish():
                level = logging.ERROR if step.state == "dead" else logging.INFO
                self._job(level, f"job {step.state}", run.lease, reason=step.reason, **facts)
            case PutBack():
                level = logging.WARNING if step.failure is not None else logging.INFO
                delay = step.delay_us / 1_000_000
                self._job(level, f"job {step.verb}", run.lease, delay_seconds=delay, gate=step.waiting_on, **facts)
        if run.error is not None and step.failure is not None:
            log.debug("the traceback of job %s", run.lease.id, exc_info=run.error)

    def lost(self, lease: Lease, verb: str) -> None:
        """A write came too late: the lease is somebody else's, and nothing was changed."""
        self.refused += 1
        self._job(logging.WARNING, f"job {verb} refused: the lease is lost", lease)

    def reaped(self, taken: Sequence[Reaped], why: str) -> None:
        """Leases were taken back from workers that are gone."""
        for one in taken:
            self._line(logging.WARNING, "lease taken back", job=one.id, held_by=one.worker_id, now=one.state, why=why)

    def given_back(self, jobs: Collection[str]) -> None:
        """A claim broke off and had taken leases all the same: they are given back."""
        for job in sorted(jobs):
            self._line(logging.WARNING, "lease given back: the reply to its claim was lost", job=job)

    def opened(self, schedule: str, slots: int, jobs: Sequence[str]) -> None:
        """Slots of a schedule were opened."""
        self._line(logging.INFO, "slots opened", schedule=schedule, slots=slots, jobs=list(jobs))

    def troubled(self, where: str, error: BaseException, retry_seconds: float) -> None:
        """The database did not answer; we go on trying."""
        self.troubled_at = time.monotonic()
        told = redact(str(error))[:LINE_LIMIT_CHARS]
        self._line(logging.WARNING, f"{where}: the database is in trouble", error=told, retry_seconds=retry_seconds)

    def unknown(self, lease: Lease) -> None:
        """A job came whose task this worker does not have."""
        self._job(logging.WARNING, "job given back: its task is unknown here", lease)

    def _job(self, level: int, message: str, lease: Lease, **facts: Any) -> None:
        self._line(
            level,
            message,
            job=lease.id,
            task=lease.task,
            tenant=lease.tenant,
            attempt=f"{lease.attempts}/{lease.max_attempts}",
            fence=lease.fence,
            correlation=lease.correlation_id,
            **facts,
        )

    def _line(self, level: int, message: str, **facts: Any) -> None:
        if log.isEnabledFor(level):
            told = {name: value for name, value in facts.items() if value is not None}
            log.log(level, "%s", message, extra={"facts": {"worker": self._worker, **told}})


class TextFormatter(logging.Formatter):
    """Lines for people: the message, then what it is about."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        facts = getattr(record, "facts", {})
        told = " ".join(f"{name}={_word(value)}" for name, value in facts.items())
        line = f"{self.formatTime(record, '%H:%M:%S')} {record.levelname.lower():7} {record.getMessage()}"
        line = redact(f"{line}  {told}" if told else line)
        return f"{line}\n{redact(self.formatException(record.exc_info))}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """Lines for programs: one JSON object each, with times in UTC."""

    converter = staticmethod(time.gmtime)

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line = {
            "at": f"{self.formatTime(record, '%Y-%m-%dT%H:%M:%S')}.{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(_redacted(line))


def _redacted(value: Any) -> Any:
    """The same value without secrets: text by text, so that what comes out is still JSON."""
    if isinstance(value, dict):
        return {name: _redacted(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(item) for item in value]
    return value if value is None or isinstance(value, int | float) else redact(str(value))


def _word(value: object) -> str:
    text = str(value)
    return json.dumps(text) if not text or any(c.isspace() or c in "\"'" or not c.isprintable() for c in text) else text
