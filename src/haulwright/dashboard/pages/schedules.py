"""Schedules: what they owe next, what became of their slots, and the slots that people open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final

from typing_extensions import TypedDict

from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.forms import Form
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import ActionDone, PageRoutes
from haulwright.dashboard.kit.queries import jobs_query
from haulwright.dashboard.kit.turns import PAGED, Turns
from haulwright.dashboard.pages.local_times import moment_in, wall_clock
from haulwright.engine.schedule import MENDABLE
from haulwright.operations.schedules import UpcomingSlot
from haulwright.operations.views.schedules import (
    ScheduleView,
    SlotView,
    UpcomingSlotView,
    schedule_view,
    slot_view,
    upcoming_view,
)

if TYPE_CHECKING:
    from haulwright.stores.slots import Slot

pages = PageRoutes("schedules")

UPCOMING: Final = 5
"""So many moments are foretold on the page of a schedule."""


class ScheduleLine(TypedDict):
    """A schedule, and when it is due next, in its own zone."""

    schedule: ScheduleView
    next: UpcomingSlotView | None


@dataclass(frozen=True, slots=True)
class SchedulesPage:
    """The schedules by name."""

    schedules: list[ScheduleLine]
    turns: Turns


class SlotLine(TypedDict):
    """A slot, and its moment as clocks show it in the zone of its schedule."""

    slot: SlotView
    day: str
    clock: str
    is_mendable: bool
    """It made no job, and a person may open it."""


class SlotDay(TypedDict):
    """The slots of one day, the first first."""

    day: str
    weekday: str
    slots: list[SlotLine]


@dataclass(frozen=True, slots=True)
class SchedulePage:
    """One schedule with its slots, the newest first."""

    schedule: ScheduleView
    upcoming: list[UpcomingSlotView]
    slots: list[SlotLine]
    days: list[SlotDay]
    """The same slots as a calendar, the newest day first."""
    turns: Turns
    q: str
    """The filter that finds the jobs of its task."""


@pages.get(
    "/schedules", "schedules.html", "Schedules", verb="schedule.read", nav=Nav("Schedules", key="s"), query=PAGED
)
def schedules(call: PageCall) -> SchedulesPage:
    """The schedules by name: those of the database, and those of the app that no worker declared yet."""
    turns = call.turns()
    page = call.operations.schedules.page(after=turns.after, limit=turns.limit)
    lines: list[ScheduleLine] = [
        {
            "schedule": schedule_view(status),
            "next": upcoming_view(UpcomingSlot(status.spec, status.next_slot)) if status.next_slot else None,
        }
        for status in page.rows
    ]
    return SchedulesPage(lines, turns.then(page.next))


# `/schedules/{name}/backfill` is declared in its own file, whose pages stand before these: names may have slashes.
@pages.get("/schedules/{name:path}", "schedule.html", "Schedule", verb="schedule.read", query=PAGED)
def schedule(call: PageCall) -> SchedulePage:
    """One schedule: when it is due next, and what became of its slots."""
    name, operations = call.path["name"], call.operations.schedules
    status, turns = operations.get(name), call.turns(name)
    page = operations.slots(name, after=turns.after, limit=turns.limit)
    upcoming = [] if status.unreadable else operations.upcoming(name, count=UPCOMING)
    lines = [slot_line(slot, status.spec.tz) for slot in page.rows]
    query = jobs_query(task=status.spec.task, tenant=None if call.tenant else status.spec.tenant)
    coming = [upcoming_view(slot) for slot in upcoming]
    return SchedulePage(schedule_view(status), coming, lines, _days(lines), turns.then(page.next), query)


@pages.post("/schedules/{name:path}/trigger", verb="schedule.trigger")
def trigger(call: PageCall, form: Form) -> ActionDone:
    """Open one slot by hand, also one that was missed or skipped."""
    name = call.path["name"]
    spec = call.operations.schedules.get(name).spec
    moment = moment_in(spec.tz, form.text("scheduled_for"), what="the slot")
    job_id = call.because(form.text("reason")).schedules.trigger(name, moment)
    return ActionDone(
        f"The slot {wall_clock(spec.tz, moment)} of {name} is open: this is its job.", to=call.link("jobs", job_id)
    )


@pages.post("/schedules/{name:path}/pause", verb="schedule.pause")
def pause(call: PageCall, form: Form) -> ActionDone:
    """Stop firing: slots that come due are recorded as skipped."""
    name = call.path["name"]
    changed = call.because(form.text("reason")).schedules.pause(name)
    text = f"The schedule {name} is paused: its slots are recorded as skipped until it is resumed."
    return ActionDone(text if changed else f"The schedule {name} was paused already.", to=call.link("schedules", name))


@pages.post("/schedules/{name:path}/resume", verb="schedule.resume")
def resume(call: PageCall, form: Form) -> ActionDone:
    """Fire again, from now on."""
    name = call.path["name"]
    changed = call.because(form.text("reason")).schedules.resume(name)
    text = f"The schedule {name} fires again. The slots of the pause stay skipped." if changed else (
        f"The schedule {name} was not paused."
    )  # fmt: skip
    return ActionDone(text, to=call.link("schedules", name))


def slot_line(slot: Slot, tz: str) -> SlotLine:
    """A slot as its schedule's zone shows it."""
    local = wall_clock(tz, slot.scheduled_for)
    return {
        "slot": slot_view(slot),
        "day": local[:10],
        "clock": local[11:],
        "is_mendable": slot.disposition in MENDABLE,
    }


def _days(lines: Iterable[SlotLine]) -> list[SlotDay]:
    """Slots, the newest first, by their days; within a day the first first, as a calendar has them."""
    days: dict[str, SlotDay] = {}
    for line in lines:
        weekday = f"{date.fromisoformat(line['day']):%a}"
        day = days.setdefault(line["day"], {"day": line["day"], "weekday": weekday, "slots": []})
        day["slots"].insert(0, line)
    return list(days.values())
