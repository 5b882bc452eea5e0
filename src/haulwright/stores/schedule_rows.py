"""A schedule as a row: what was declared, and how far its slots have been opened."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from haulwright.clock import SECOND, Instant
from haulwright.engine.job import NewJob, Unique
from haulwright.engine.schedule import ScheduleSpec, check_times
from haulwright.errors import InvalidValue, UnreadableRow
from haulwright.stores.connection import Row
from haulwright.stores.stored_fields import check_fields, fields_of


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
    pruned_from: Instant | None
    pruned_until: Instant | None
    """The range in which records of slots were pruned: an absent one may have had its job."""
    unreadable: str | None = None
    """What of its row this version cannot read: then only its columns are known, and none of its slots is opened."""

    def may_have_forgotten(self, slot: Instant) -> bool:
        """Whether the record of a slot may have been pruned."""
        return self.pruned_from is not None and self.pruned_from <= slot <= (self.pruned_until or slot)

    def require_readable(self) -> ScheduleRow:
        """The same, or UnreadableRow."""
        if self.unreadable is not None:
            raise UnreadableRow("schedule", self.spec.name, self.unreadable)
        return self


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
    unreadable: str | None = None
    try:
        check_times(cron, tz, overlap)
        job = _template(template)
    except ValueError as error:
        unreadable = error.why if isinstance(error, InvalidValue) else str(error)
        job = NewJob("", task, "{}", tenant)
    spec = ScheduleSpec(
        name=name, cron=cron, task=task, tz=tz, coalesce=bool(coalesce), misfire_grace_seconds=_seconds(grace_us),
        overlap=overlap, max_runtime_seconds=_seconds(runtime_us), attempts=job.max_attempts, tenant=tenant,
        args=job.args,
    )  # fmt: skip
    return ScheduleRow(spec, job, *(*rest, unreadable))


def _template(text: str) -> NewJob:
    """The job that a slot makes; ValueError where this version cannot make it."""
    job = fields_of("its template", text, NewJob._fields, required=("id", "task", "args"))
    unique = job.pop("unique", None)
    if unique is not None:
        names = [field.name for field in fields(Unique)]
        unique = Unique(**check_fields("the unique key of its template", unique, names, required=("key",)))
    return NewJob(**job, unique=unique)


def _us(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * SECOND)


def _seconds(us: int | None) -> float | None:
    return None if us is None else us / SECOND
