"""A schedule as a row: what was declared, and how far its slots have been opened."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from haulwright.clock import SECOND, Instant
from haulwright.engine.job import NewJob, Unique
from haulwright.engine.schedule import ScheduleSpec
from haulwright.stores.connection import Row


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """A schedule as it stands in the database."""

    spec: ScheduleSpec
    template: NewJob
    revision: int
    paused_at: Instant | None
    paused_by: str | None
    opened_until: Instant
    """Every slot up to here has its disposition."""
    next_at: Instant | None


def columns_of(spec: ScheduleSpec, template: NewJob) -> dict[str, Any]:
    """What a declaration writes."""
    job = {**template._asdict(), "id": "", "unique": template.unique and asdict(template.unique)}
    return {
        "name": spec.name,
        "tenant": spec.tenant,
        "task": spec.task,
        "cron": spec.cron,
        "tz": spec.tz,
        "coalesce": spec.coalesce,
        "misfire_grace_us": _us(spec.misfire_grace_seconds),
        "overlap": spec.overlap,
        "max_runtime_us": _us(spec.max_runtime_seconds),
        "template": json.dumps(job, sort_keys=True),
    }


def schedule_of(row: Row) -> ScheduleRow:
    """What a declaration wrote."""
    name, tenant, task, cron, tz, coalesce, grace_us, overlap, runtime_us, template, *rest = row
    stored = json.loads(template)
    unique = stored.pop("unique")
    job = NewJob(**stored, unique=unique and Unique(**unique))
    spec = ScheduleSpec(
        name=name, cron=cron, task=task, tz=tz, coalesce=bool(coalesce), misfire_grace_seconds=_seconds(grace_us),
        overlap=overlap, max_runtime_seconds=_seconds(runtime_us), attempts=job.max_attempts, tenant=tenant,
        args=job.args,
    )  # fmt: skip
    return ScheduleRow(spec, job, *rest)


def _us(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * SECOND)


def _seconds(us: int | None) -> float | None:
    return None if us is None else us / SECOND
