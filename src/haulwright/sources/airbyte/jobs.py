"""Sync jobs and connections as values, read so that what Airbyte adds tomorrow does no harm."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Self

from haulwright.sources.vendor import RemoteRun, moment, number, whole

SUCCEEDED: Final = "succeeded"
TERMINAL: Final = frozenset({SUCCEEDED, "failed", "cancelled"})
"""Every other status means that the job goes on: `incomplete` is a failed attempt that Airbyte itself repeats."""

LONGEST_STATUS_CHARS: Final = 60
LONGEST_NUMBER_CHARS: Final = 30
LARGEST: Final = 2**63 - 1
"""What every database can keep as a number."""

_DURATION: Final = re.compile(
    r"(?P<sign>-)?P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)
_UNITS: Final = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}


@dataclass(frozen=True, slots=True)
class SyncJob(RemoteRun):
    """One job of a connection, as it stood when it was looked at."""

    success_status = SUCCEEDED
    terminal_statuses = TERMINAL

    id: int
    connection_id: str
    status: str
    job_type: str = "sync"
    started_at: datetime | None = None
    updated_at: datetime | None = None
    """When it ended; Airbyte gives it only then."""
    records: int | None = None
    """Rows that are committed so far."""
    bytes: int | None = None
    duration_seconds: float | None = None
    adopted: bool = False
    """It was running already, or was found after its start was interrupted."""

    @classmethod
    def parse(cls, document: Any) -> Self:
        """Read a job; ValueError where it has no number or no status."""
        number = _job_number(document.get("jobId")) if isinstance(document, Mapping) else None
        if number is None or not isinstance(document.get("status"), str):
            raise ValueError("a job has a number and a status")
        return cls(
            id=number,
            connection_id=str(document.get("connectionId") or ""),
            status=document["status"].strip().lower()[:LONGEST_STATUS_CHARS],
            job_type=str(document.get("jobType") or "sync"),
            started_at=moment(document.get("startTime")),
            updated_at=moment(document.get("lastUpdatedAt")),
            records=_count(document.get("rowsSynced")),
            bytes=_count(document.get("bytesSynced")),
            duration_seconds=iso_duration(document.get("duration")),
        )


@dataclass(frozen=True, slots=True)
class AirbyteConnection:
    """From where to where Airbyte syncs."""

    id: str
    name: str
    workspace_id: str
    status: str
    schedule_type: str
    """`manual` where nobody but us starts syncs."""

    @property
    def is_active(self) -> bool:
        """Whether it can be synced now."""
        return self.status == "active"

    @classmethod
    def parse(cls, document: Any) -> Self:
        """Read a connection; ValueError where it has no id or no status."""
        if (
            not isinstance(document, Mapping)
            or not document.get("connectionId")
            or not isinstance(document.get("status"), str)
        ):
            raise ValueError("a connection has an id and a status")
        schedule = document.get("schedule")
        return cls(
            id=str(document["connectionId"]),
            name=str(document.get("name") or ""),
            workspace_id=str(document.get("workspaceId") or ""),
            status=document["status"],
            schedule_type=str(schedule.get("scheduleType") or "") if isinstance(schedule, Mapping) else "",
        )


def iso_duration(value: object) -> float | None:
    """The seconds of a length of time such as `PT8H6M12S`; None for anything else."""
    parts = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if parts is None or not any(parts[unit] for unit in _UNITS):
        return None
    length = sum(float(parts[unit] or 0) * size for unit, size in _UNITS.items())
    if not math.isfinite(length):
        return None
    return -length if parts["sign"] else length


def _job_number(value: object) -> int | None:
    """The number of a job, also where it is written as text; None for what is no number of anything."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdecimal():
        value = int(value) if len(value) <= LONGEST_NUMBER_CHARS else None
    figure = number(value)
    return int(figure) if figure is not None and figure == int(figure) and 0 < figure <= LARGEST else None


def _count(value: object) -> int | None:
    """How many; None for anything that is no count that could be kept."""
    figure = whole(value)
    return figure if figure is not None and 0 <= figure <= LARGEST else None
