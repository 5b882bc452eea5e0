"""A sync, and how it stands at a moment."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

Ending = Literal["succeeded", "failed", "cancelled", "never"]
TERMINAL = frozenset({"succeeded", "failed", "cancelled"})
JOB_TYPES = ("sync", "reset", "refresh", "clear")
PENDING_SHARE = 0.1
INCOMPLETE_FROM, INCOMPLETE_TO = 0.5, 0.6
"""The part of its time during which a job shows that an attempt failed."""
ROW_BYTES = 412


@dataclass(frozen=True, slots=True)
class JobScript:
    """How the next jobs go."""

    connection: str = "*"
    times: int | None = 1
    """How many jobs; None is every one."""
    ending: Ending = "succeeded"
    duration_seconds: float = 30.0
    rows: int | None = None
    attempt_fails: bool = False
    """One attempt fails on the way: the job shows `incomplete` for a while, which is no end."""
    status: str = ""
    """Shown instead of the true one as long as the job is not over: `queued`, or a word that nobody knows yet."""

    def __post_init__(self) -> None:
        if self.ending not in {*TERMINAL, "never"}:
            raise ValueError(f"a job cannot end {self.ending!r}; it can end: {', '.join(sorted(TERMINAL))}, never")


@dataclass(slots=True)
class SandboxSyncJob:
    """One job of a connection."""

    id: int
    connection: str
    workspace: str
    kind: str
    started: float
    rows: int
    script: JobScript
    cancelled: float | None = None

    @property
    def finishes(self) -> float:
        """When it ends, as things are."""
        own = math.inf if self.script.ending == "never" else self.started + self.script.duration_seconds
        return own if self.cancelled is None else min(own, self.cancelled)

    def is_over(self, now: float) -> bool:
        """Whether nothing more will happen."""
        return now >= self.finishes

    def status(self, now: float) -> str:
        """Where it stands."""
        if self.is_over(now):
            return "cancelled" if self.cancelled == self.finishes else self.script.ending
        if self.script.status:
            return self.script.status
        share = self._share(now)
        if share < PENDING_SHARE:
            return "pending"
        failed = self.script.attempt_fails and INCOMPLETE_FROM <= share < INCOMPLETE_TO
        return "incomplete" if failed else "running"

    def updated(self, now: float) -> float:
        """When it last changed."""
        return min(now, self.finishes)

    def shape(self, now: float) -> dict[str, Any]:
        """The job as Airbyte writes it."""
        status = self.status(now)
        document: dict[str, Any] = {
            "jobId": self.id,
            "status": status,
            "jobType": self.kind,
            "startTime": offset_date_time(self.started),
            "connectionId": self.connection,
        }
        if self.is_over(now):
            document["lastUpdatedAt"] = offset_date_time(self.finishes)
        if status not in {"pending", "queued"}:
            document["duration"] = iso_duration(self.updated(now) - self.started)
            rows = int(self.rows * (1.0 if status == "succeeded" else self._share(now)))
            document |= {"rowsSynced": rows, "bytesSynced": rows * ROW_BYTES}
        return document

    def _share(self, now: float) -> float:
        whole = self.script.duration_seconds
        return min(1.0, (self.updated(now) - self.started) / whole) if whole else 1.0


def offset_date_time(instant: float) -> str:
    """A moment as Java writes it: seconds that are zero are left out."""
    moment = datetime.fromtimestamp(int(instant), UTC)
    return moment.strftime("%Y-%m-%dT%H:%MZ" if not moment.second else "%Y-%m-%dT%H:%M:%SZ")


def iso_duration(seconds: float) -> str:
    """A length of time as Java writes it."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    pieces = ((hours, "H"), (minutes, "M"), (rest, "S"))
    return "PT" + ("".join(f"{count}{unit}" for count, unit in pieces if count) or "0S")
