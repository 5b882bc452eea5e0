"""The JSON of a schedule, and of its slots."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from typing_extensions import TypedDict

from haulwright.clock import SECOND
from haulwright.operations.times import iso
from haulwright.operations.views.columns import Column
from haulwright.operations.views.json_text import json_value
from haulwright.stores.slots import utc_text

if TYPE_CHECKING:
    from haulwright.clock import Instant
    from haulwright.operations.schedules import ScheduleStatus, UpcomingSlot
    from haulwright.stores.paging import Page
    from haulwright.stores.slots import Slot


class ScheduleView(TypedDict):
    """A schedule. What only the database knows is null for one that no worker has declared yet."""

    name: str
    tenant: str
    task: str
    cron: str
    tz: str
    coalesce: bool
    misfire_grace_seconds: float | None
    overlap: str
    max_runtime_seconds: float | None
    attempts: int | None
    args: Any
    declared: bool
    revision: int | None
    paused_at: str | None
    paused_by: str | None
    opened_until: str | None
    next_at: str | None
    unreadable: str | None


class SlotView(TypedDict):
    """A slot and what became of it."""

    schedule: str
    scheduled_for: str | None
    disposition: str
    job_id: str | None
    merged_into: str | None
    revision: int
    actor: str
    opened_at: str | None


class SchedulesView(TypedDict):
    """A page of schedules, and where the next one starts."""

    schedules: list[ScheduleView]
    next: str | None


class SlotPageView(TypedDict):
    """A page of slots, the newest first, and where the next one starts."""

    slots: list[SlotView]
    next: str | None


class ScheduleWithSlotsView(ScheduleView):
    """A schedule, a page of its slots, the newest first, and where the next one starts."""

    slots: list[SlotView]
    next: str | None


class UpcomingSlotView(TypedDict):
    """A moment that a schedule is going to owe, in its own zone and in UTC."""

    schedule: str
    local: str
    utc: str | None


class UpcomingSlotsView(TypedDict):
    """The moments that schedules are going to owe, the first first."""

    slots: list[UpcomingSlotView]


class TriggeredView(TypedDict):
    """The slot that was opened by hand, and its job."""

    schedule: str
    scheduled_for: str | None
    job_id: str


class BackfillPreviewView(TypedDict):
    """The slots that a past range has, taken or not."""

    slots: list[str]


class BackfillView(TypedDict):
    """The slots that a backfill opened."""

    opened: list[SlotView]


def schedule_view(schedule: ScheduleStatus) -> ScheduleView:
    """A schedule."""
    spec, row = schedule.spec, schedule.row
    return {
        "name": spec.name,
        "tenant": spec.tenant,
        "task": spec.task,
        "cron": spec.cron,
        "tz": spec.tz,
        "coalesce": spec.coalesce,
        "misfire_grace_seconds": spec.misfire_grace_seconds,
        "overlap": spec.overlap,
        "max_runtime_seconds": spec.max_runtime_seconds,
        "attempts": spec.attempts,
        "args": json_value(spec.args),
        "declared": row is not None,
        "revision": row.revision if row else None,
        "paused_at": iso(row.paused_at) if row else None,
        "paused_by": row.paused_by if row else None,
        "opened_until": iso(row.opened_until) if row else None,
        "next_at": iso(row.next_at) if row else None,
        "unreadable": schedule.unreadable,
    }


def schedules_view(page: Page[ScheduleStatus]) -> SchedulesView:
    """A page of schedules."""
    return {"schedules": [schedule_view(schedule) for schedule in page.rows], "next": page.next}


def schedule_with_slots_view(schedule: ScheduleStatus, slots: Page[Slot]) -> ScheduleWithSlotsView:
    """A schedule with a page of its slots."""
    return {**schedule_view(schedule), "slots": [slot_view(slot) for slot in slots.rows], "next": slots.next}


def slot_view(slot: Slot) -> SlotView:
    """A slot."""
    return {
        "schedule": slot.schedule,
        "scheduled_for": iso(slot.scheduled_for),
        "disposition": slot.disposition,
        "job_id": slot.job_id,
        "merged_into": iso(slot.merged_into),
        "revision": slot.revision,
        "actor": slot.actor,
        "opened_at": iso(slot.opened_at) if slot.opened_at else None,
    }


def slots_view(page: Page[Slot]) -> SlotPageView:
    """A page of slots."""
    return {"slots": [slot_view(slot) for slot in page.rows], "next": page.next}


def upcoming_view(slot: UpcomingSlot) -> UpcomingSlotView:
    """A moment that a schedule is going to owe."""
    moment = datetime.fromtimestamp(slot.scheduled_for // SECOND, UTC)
    local = moment.astimezone(ZoneInfo(slot.spec.tz)).isoformat()
    return {"schedule": slot.spec.name, "local": local, "utc": iso(slot.scheduled_for)}


def upcoming_slots_view(slots: Iterable[UpcomingSlot]) -> UpcomingSlotsView:
    """The moments that schedules are going to owe."""
    return {"slots": [upcoming_view(slot) for slot in slots]}


def triggered_view(name: str, scheduled_for: Instant | None, job_id: str) -> TriggeredView:
    """The slot that was opened by hand."""
    return {"schedule": name, "scheduled_for": iso(scheduled_for), "job_id": job_id}


def backfill_preview_view(slots: Iterable[Instant]) -> BackfillPreviewView:
    """The slots that a past range has."""
    return {"slots": [utc_text(slot) for slot in slots]}


def backfill_view(slots: Iterable[Slot]) -> BackfillView:
    """The slots that a backfill opened."""
    return {"opened": [slot_view(slot) for slot in slots]}


def _status(schedule: ScheduleStatus) -> str:
    if schedule.row is None:
        return "not declared yet: start a worker"
    if schedule.unreadable:
        return f"cannot be read by this version: {schedule.unreadable}"
    return f"paused by {schedule.row.paused_by}" if schedule.row.paused_at else "on"


SCHEDULE_COLUMNS: Final[tuple[Column[ScheduleStatus], ...]] = (
    Column("schedule", lambda schedule: schedule.spec.name),
    Column("cron", lambda schedule: schedule.spec.cron),
    Column("zone", lambda schedule: schedule.spec.tz, optional=3),
    Column("task", lambda schedule: schedule.spec.task, optional=2),
    Column("tenant", lambda schedule: schedule.spec.tenant, optional=1),
    Column("next", lambda schedule: schedule.next_slot, moment=True),
    Column("status", _status),
)
SLOT_COLUMNS: Final[tuple[Column[Slot], ...]] = (
    Column("slot", lambda slot: iso(slot.scheduled_for)),
    Column("became", lambda slot: slot.disposition),
    Column("job", lambda slot: slot.job_id or ""),
    Column("by", lambda slot: slot.actor),
)
UPCOMING_COLUMNS: Final[tuple[Column[UpcomingSlotView], ...]] = (
    Column("schedule", lambda slot: slot["schedule"]),
    Column("local", lambda slot: slot["local"]),
    Column("UTC", lambda slot: slot["utc"]),
)
