"""Schedules and their slots: look, trigger, backfill, pause and resume."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import AwareDatetime, Field

from haulwright.api.kit.call import Caller
from haulwright.api.kit.params import Cursor, Limit, Name, ReasonOnlyBody
from haulwright.api.kit.routes import ApiRoutes
from haulwright.operations.times import instant_of
from haulwright.operations.views.pauses import PauseView, pause_view
from haulwright.operations.views.schedules import (
    BackfillPreviewView,
    BackfillView,
    SchedulesView,
    ScheduleWithSlotsView,
    SlotPageView,
    TriggeredView,
    UpcomingSlotsView,
    backfill_preview_view,
    backfill_view,
    schedule_with_slots_view,
    schedules_view,
    slots_view,
    triggered_view,
    upcoming_slots_view,
)

routes = ApiRoutes("schedules", prefix="/schedules")

SLOTS_SHOWN = 20
"""Of one schedule, beside itself; the others are pages of their own."""
MOST_SLOTS = 1000
"""Slots that one request opens, or foretells, at most."""


class TriggerBody(ReasonOnlyBody):
    """Which slot is opened by hand."""

    scheduled_for: Annotated[AwareDatetime, Field(description="The moment of the slot, with its zone.")]


class BackfillBody(ReasonOnlyBody):
    """The range of a backfill, both ends included."""

    first: Annotated[AwareDatetime, Field(description="The first moment, with its zone.")]
    last: Annotated[AwareDatetime, Field(description="The last moment, not in the future.")]
    limit: Annotated[int, Field(ge=1, le=MOST_SLOTS, description="A range with more slots is refused.")] = MOST_SLOTS
    preview: Annotated[bool, Field(description="Say which slots the range has, and change nothing.")] = False


@routes.get("", SchedulesView)
def list_(call: Caller, cursor: Cursor = None, limit: Limit = 50) -> SchedulesView:
    """List the schedules by name: those of the database, and those of the app that no worker declared yet."""
    cursors = call.cursors()
    view = schedules_view(call.operations.schedules.page(after=cursors.unwrap(cursor), limit=limit))
    return {**view, "next": cursors.wrap(view["next"])}


@routes.get("/{name:path}/slots", SlotPageView, missing=True)
def slots(call: Caller, name: Name, cursor: Cursor = None, limit: Limit = 50) -> SlotPageView:
    """List the slots of a schedule and what became of them, the newest first."""
    cursors = call.cursors(name)
    view = slots_view(call.operations.schedules.slots(name, after=cursors.unwrap(cursor), limit=limit))
    return {**view, "next": cursors.wrap(view["next"])}


@routes.get("/{name:path}/upcoming", UpcomingSlotsView, missing=True)
def upcoming(
    call: Caller,
    name: Name,
    count: Annotated[int, Query(ge=1, le=MOST_SLOTS, description="So many slots.")] = 5,
) -> UpcomingSlotsView:
    """Foretell the next slots of a schedule, in its own zone and in UTC. Nothing is opened."""
    return upcoming_slots_view(call.operations.schedules.upcoming(name, count=count))


@routes.get("/{name:path}", ScheduleWithSlotsView, missing=True)
def show(call: Caller, name: Name) -> ScheduleWithSlotsView:
    """Show one schedule with its newest slots; `next` goes on at its `/slots`."""
    schedules = call.operations.schedules
    view = schedule_with_slots_view(schedules.get(name), schedules.slots(name, limit=SLOTS_SHOWN))
    return {**view, "next": call.cursors(name, below="/slots").wrap(view["next"])}


@routes.post("/{name:path}/trigger", TriggeredView, missing=True, conflict=True, keyed=True)
def trigger(call: Caller, name: Name, body: TriggerBody) -> TriggeredView:
    """Open one slot by hand, also one that was missed or skipped. A taken one is refused."""
    moment = instant_of(body.scheduled_for.isoformat(), what="scheduled_for")
    return triggered_view(name, moment, call.because(body.reason).schedules.trigger(name, moment))


@routes.post("/{name:path}/backfill", BackfillView | BackfillPreviewView, missing=True, conflict=True)
def backfill(call: Caller, name: Name, body: BackfillBody) -> BackfillView | BackfillPreviewView:
    """Open the slots of a past range that made no job, each with its job. Taken ones are left alone."""
    schedules = call.because(body.reason).schedules
    first, last = (instant_of(moment.isoformat(), what="the range") for moment in (body.first, body.last))
    if body.preview:
        return backfill_preview_view(schedules.backfill_preview(name, first, last, limit=body.limit))
    batches = schedules.backfill(name, first, last, limit=body.limit)
    return backfill_view(slot for batch in batches for slot in batch)


@routes.post("/{name:path}/pause", PauseView, missing=True)
def pause(call: Caller, name: Name, body: ReasonOnlyBody) -> PauseView:
    """Stop firing: slots that come due are recorded as skipped."""
    return pause_view(name, paused=True, changed=call.because(body.reason).schedules.pause(name))


@routes.post("/{name:path}/resume", PauseView, missing=True)
def resume(call: Caller, name: Name, body: ReasonOnlyBody) -> PauseView:
    """Fire again, from now on. The slots of the pause stay skipped."""
    return pause_view(name, paused=False, changed=call.because(body.reason).schedules.resume(name))
