"""Sync jobs and connections as values, read so that what Airbyte adds tomorrow does no harm."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Self

SUCCEEDED: Final = "succeeded"
TERMINAL: Final = frozenset({SUCCEEDED, "failed", "cancelled"})
"""Every other status means that the job goes on: `incomplete` is a failed attempt that Airbyte itself repeats."""

_DURATION: Final = re.compile(
    r"(?P<sign>-)?P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)
_UNITS: Final = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}


@dataclass(frozen=True, slots=True)
class SyncJob:
    """One job of a connection, as it stood when it was looked at."""

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

    @property
    def is_terminal(self) -> bool:
        """Whether nothing more will happen."""
        return self.status in TERMINAL

    @property
    def is_success(self) -> bool:
        """Whether all was synced."""
        return self.status == SUCCEEDED

    @classmethod
    def parse(cls, said: Any) -> Self:
        """Read a job; ValueError where it has no number or no status."""
        number = _whole(said.get("jobId")) if isinstance(said, Mapping) else None
        if number is None or not isinstance(said.get("status"), str):
            raise ValueError("a job has a number and a status")
        return cls(
            id=number,
            connection_id=str(said.get("connectionId") or ""),
            status=said["status"],
            job_type=str(said.get("jobType") or "sync"),
            started_at=offset_date_time(said.get("startTime")),
            updated_at=offset_date_time(said.get("lastUpdatedAt")),
            records=_whole(said.get("rowsSynced")),
            bytes=_whole(said.get("bytesSynced")),
            duration_seconds=iso_duration(said.get("duration")),
        )


@dataclass(frozen=True, slots=True)
class Connection:
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
    def parse(cls, said: Any) -> Self:
        """Read a connection; ValueError where it has no id or no status."""
        if not isinstance(said, Mapping) or not said.get("connectionId") or not isinstance(said.get("status"), str):
            raise ValueError("a connection has an id and a status")
        schedule = said.get("schedule")
        return cls(
            id=str(said["connectionId"]),
            name=str(said.get("name") or ""),
            workspace_id=str(said.get("workspaceId") or ""),
            status=said["status"],
            schedule_type=str(schedule.get("scheduleType") or "") if isinstance(schedule, Mapping) else "",
        )


def offset_date_time(said: object) -> datetime | None:
    """A moment as Java writes it, where seconds that are zero are left out; None for anything else."""
    try:
        moment = datetime.fromisoformat(said) if isinstance(said, str) else None
    except ValueError:
        return None
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)


def iso_duration(said: object) -> float | None:
    """The seconds of a length of time such as `PT8H6M12S`; None for anything else."""
    found = _DURATION.fullmatch(said) if isinstance(said, str) else None
    if found is None or not any(found[unit] for unit in _UNITS):
        return None
    length = sum(float(found[unit] or 0) * size for unit, size in _UNITS.items())
    return -length if found["sign"] else length


def _whole(said: object) -> int | None:
    return int(said) if isinstance(said, int | float) and not isinstance(said, bool) else None
