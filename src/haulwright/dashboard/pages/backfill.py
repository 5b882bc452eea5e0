"""A backfill of a schedule: the slots of a past range with what became of them, and then those that made no job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from typing_extensions import TypedDict

from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.forms import Form
from haulwright.dashboard.kit.pages import ActionDone, PageRoutes
from haulwright.dashboard.pages.local_times import moment_in, wall_clock
from haulwright.engine.schedule import MENDABLE
from haulwright.errors import HaulwrightError
from haulwright.operations.times import instant_of, iso
from haulwright.operations.views.schedules import ScheduleView, schedule_view

if TYPE_CHECKING:
    from haulwright.clock import Instant
    from haulwright.operations.schedules import ScheduleOperations
    from haulwright.stores.slots import Slot

pages = PageRoutes("backfill")

MOST_SLOTS: Final = 1_000
"""Slots that one form opens: it is answered when all of them are."""
SHOWN: Final = 200
_BATCH: Final = 500


class SlotPreview(TypedDict):
    """A slot of the range, what became of it, and what a backfill would do."""

    local: str
    utc: str | None
    disposition: str | None
    """None where nothing is recorded of it yet."""
    job_id: str | None
    becomes: Literal["opened", "left alone"]


@dataclass(frozen=True, slots=True)
class BackfillPage:
    """A range of a schedule, and what a backfill of it would do."""

    schedule: ScheduleView
    first: str
    """As it was typed."""
    last: str
    first_at: str | None
    """The same as a moment; None where there is none to preview."""
    last_at: str | None
    wrong: str
    """What of the range cannot be, and what to do about it."""
    slots: list[SlotPreview]
    count: int
    opens: int
    """So many of them would be opened."""


@pages.get(
    "/schedules/{name:path}/backfill", "backfill.html", "Backfill", verb="schedule.read", query=("first", "last")
)
def backfill(call: PageCall) -> BackfillPage:
    """The slots of a past range, and what a backfill would do with each. Nothing is changed."""
    name, schedules = call.path["name"], call.operations.schedules
    status = schedules.get(name)
    typed = call.query.get("first", "").strip(), call.query.get("last", "").strip()
    page = BackfillPage(schedule_view(status), *typed, None, None, "", [], 0, 0)
    if not all(typed):
        return page
    try:
        first, last = (moment_in(status.spec.tz, text, what="the range") for text in typed)
        moments = schedules.backfill_preview(name, first, last, limit=MOST_SLOTS)
        slots = _previews(schedules, name, status.spec.tz, moments)
    except HaulwrightError as error:
        return BackfillPage(page.schedule, *typed, None, None, str(error), [], 0, 0)
    opens = sum(slot["becomes"] == "opened" for slot in slots)
    return BackfillPage(page.schedule, *typed, iso(first), iso(last), "", slots[:SHOWN], len(slots), opens)


@pages.post("/schedules/{name:path}/backfill/open", verb="schedule.backfill")
def open_slots(call: PageCall, form: Form) -> ActionDone:
    """Open the slots of a past range that made no job."""
    name = call.path["name"]
    first, last = (instant_of(form.text(field), what="the range") for field in ("first", "last"))
    batches = call.because(form.text("reason")).schedules.backfill(name, first, last, limit=MOST_SLOTS)
    count = sum(len(batch) for batch in batches)
    what = f"{count:,} slot{'' if count == 1 else 's'}"
    return ActionDone(f"{what} of {name} opened, each with its job.", to=call.link("schedules", name))


def _previews(schedules: ScheduleOperations, name: str, tz: str, moments: list[Instant]) -> list[SlotPreview]:
    recorded = _recorded(schedules, name, moments) if moments else {}
    previews: list[SlotPreview] = []
    for moment in moments:
        slot = recorded.get(moment)
        opens = slot is None or slot.disposition in MENDABLE
        previews.append(
            {
                "local": wall_clock(tz, moment),
                "utc": iso(moment),
                "disposition": slot.disposition if slot else None,
                "job_id": slot.job_id if slot else None,
                "becomes": "opened" if opens else "left alone",
            }
        )
    return previews


def _recorded(schedules: ScheduleOperations, name: str, moments: list[Instant]) -> dict[Instant, Slot]:
    """What is recorded of slots of a range: beside those of its cron line a range may have some that people opened."""
    recorded: dict[Instant, Slot] = {}
    after: str | None = iso(moments[-1] + 1)
    while after is not None and len(recorded) < 2 * MOST_SLOTS:
        page = schedules.slots(name, after=after, limit=_BATCH)
        recorded |= {slot.scheduled_for: slot for slot in page.rows}
        after = None if page.rows and page.rows[-1].scheduled_for < moments[0] else page.next
    return recorded
