"""Schedules as one principal sees them: those of the code and of the database together, and their slots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from haulwright.clock import Instant
from haulwright.engine.schedule import next_slot, slots_between
from haulwright.errors import InvalidValue, NotFound
from haulwright.operations.access import Noun, allowed
from haulwright.operations.times import instant_of, iso
from haulwright.stores.paging import PAGE_LIMIT, Page, check_page, every_row, page_of

if TYPE_CHECKING:
    from haulwright.engine.schedule import ScheduleSpec
    from haulwright.stores.schedule_rows import ScheduleRow
    from haulwright.stores.slots import Slot

BACKFILL_LIMIT = 10_000
BATCH = 200
"""Slots that one transaction of a backfill opens."""
_NEVER = 2**62


@dataclass(frozen=True, slots=True)
class ScheduleStatus:
    """A schedule that the code or the database knows."""

    spec: ScheduleSpec
    row: ScheduleRow | None
    """None where no worker has declared it yet."""
    next_slot: Instant | None
    """When it is due next, by the clock alone; None where this version cannot read it."""

    @property
    def unreadable(self) -> str | None:
        """What of its row this version cannot read."""
        return None if self.row is None else self.row.unreadable


@dataclass(frozen=True, slots=True)
class UpcomingSlot:
    """A moment that a schedule is going to owe."""

    spec: ScheduleSpec
    scheduled_for: Instant


class _Author(TypedDict):
    """In whose rows something is done, by whom and why."""

    tenant: str | None
    actor: str
    reason: str


class ScheduleOperations(Noun):
    """Look at schedules; trigger, backfill, pause and resume them. What only the code knows is declared first."""

    @allowed("schedule.read")
    def page(self, *, tenant: str | None = None, after: str | None = None, limit: int = 50) -> Page[ScheduleStatus]:
        """The schedules by name: what the database knows, and what only the code says so far."""
        return self._page(self._tenant or tenant, after, check_page(limit))

    @allowed("schedule.read")
    def get(self, name: str) -> ScheduleStatus:
        """One schedule; a foreign one looks exactly like an absent one."""
        try:
            row = self._store.schedules.get(name, self._tenant)
        except NotFound:
            spec, _ = self._app.schedules.get(name, (None, None))
            if spec is None or self._tenant not in {None, spec.tenant}:
                raise
            return _status(spec, None, self._store.now())
        return _status(row.spec, row, self._store.now())

    @allowed("schedule.read")
    def slots(self, name: str, *, after: str | None = None, limit: int = 50) -> Page[Slot]:
        """The slots of a schedule, the newest first; `after` is the time of a slot."""
        self.get(name)
        before = _NEVER if after is None else instant_of(after, what="after")
        rows = self._store.schedules.slots(name, before=before, limit=check_page(limit) + 1)
        return page_of(rows, limit, lambda slot: str(iso(slot.scheduled_for)))

    @allowed("schedule.read")
    def upcoming(self, name: str | None = None, *, count: int = 5) -> list[UpcomingSlot]:
        """The next so many slots of one schedule or of each, the first first. Nothing is opened."""
        check_page(count)
        statuses = [_readable(self.get(name))] if name else [row for row in self._all() if not row.unreadable]
        now = self._store.now()
        slots = [
            UpcomingSlot(status.spec, slot) for status in statuses for slot in _next_slots(status.spec, now, count)
        ]
        return sorted(slots, key=lambda slot: (slot.scheduled_for, slot.spec.name))

    @allowed("schedule.trigger")
    def trigger(self, name: str, scheduled_for: Instant) -> str:
        """Open one slot by hand and return its job, also one that was recorded as missed or skipped.

        A taken slot is refused, naming its job; one in the future is refused too.
        """
        self._declare(name)
        return self._store.schedules.trigger(name, scheduled_for, **self._author)

    @allowed("schedule.read")
    def backfill_preview(
        self, name: str, first: Instant, last: Instant, *, limit: int = BACKFILL_LIMIT
    ) -> list[Instant]:
        """The slots of a past range, taken or not. More than the limit, or a range in the future, is refused."""
        return [slot for batch in self._batches(name, first, last, limit) for slot in batch]

    @allowed("schedule.backfill")
    def backfill(
        self, name: str, first: Instant, last: Instant, *, limit: int = BACKFILL_LIMIT
    ) -> Iterator[list[Slot]]:
        """Open the slots of a past range that made no job, each with its job, a transaction at a time.

        Those have no disposition yet, or were missed or skipped; taken ones are left alone. Everything is checked
        before the first slot is opened.
        """
        batches = self._batches(name, first, last, limit)
        self._declare(name)
        author = self._author
        return (self._store.schedules.backfill(name, batch[0], batch[-1], **author) for batch in batches)

    @allowed("schedule.pause")
    def pause(self, name: str) -> bool:
        """Stop firing: slots that come due are recorded as skipped. False where it was paused already."""
        self._declare(name)
        return self._store.schedules.pause(name, **self._author)

    @allowed("schedule.resume")
    def resume(self, name: str) -> bool:
        """Fire again, from now on. The slots of the pause stay skipped."""
        self._declare(name)
        return self._store.schedules.resume(name, **self._author)

    @property
    def _author(self) -> _Author:
        principal = self._principal
        return {"tenant": principal.tenant, "actor": principal.actor, "reason": principal.reason}

    def _page(self, tenant: str | None, after: str | None, limit: int) -> Page[ScheduleStatus]:
        """Both lists are in the order of names, so what stands first in the two together stands first in each."""
        rows = self._store.schedules.page(tenant, after=after, limit=limit)
        specs: dict[str, tuple[ScheduleSpec, ScheduleRow | None]] = {
            name: (spec, None)
            for name, (spec, _) in self._app.schedules.items()
            if name > (after or "") and tenant in {None, spec.tenant}
        }
        specs |= {row.spec.name: (row.spec, row) for row in rows.rows}
        names = sorted(specs)
        now = self._store.now()
        statuses = [_status(*specs[name], now) for name in names[:limit]]
        return Page(statuses, names[limit - 1] if len(names) > limit or rows.next else None)

    def _all(self) -> Iterator[ScheduleStatus]:
        return every_row(lambda after: self._page(self._tenant, after, PAGE_LIMIT))

    def _declare(self, name: str) -> None:
        """Make a schedule of the code known, as a worker would at its start, so that it can be acted on."""
        self.get(name)
        if name in self._app.schedules:
            self._store.schedules.declare(*self._app.schedules[name])

    def _batches(self, name: str, first: Instant, last: Instant, limit: int) -> list[list[Instant]]:
        """The slots of a range, a transaction's worth at a time."""
        schedule = _readable(self.get(name))
        spec = schedule.spec
        if first > last:
            raise InvalidValue("the range", f"{iso(first)} to {iso(last)}", "begins after its end")
        if last > self._store.now():
            hint = "Future slots are opened by the clock."
            raise InvalidValue("the end of the range", iso(last), "is in the future", hint=hint)
        if schedule.row is not None:
            self._store.schedules.require_kept(name, first, last, tenant=self._tenant)
        batches: list[list[Instant]] = []
        after = first - 1
        while batch := slots_between(spec, after, last, BATCH):
            batches.append(batch)
            if (len(batches) - 1) * BATCH + len(batch) > limit:
                why = f"has more than {limit} slots of schedule {name!r}"
                raise InvalidValue(
                    "the range", f"{iso(first)} to {iso(last)}", why, hint="Narrow it, or raise the limit."
                )
            after = batch[-1]
        return batches


def _status(spec: ScheduleSpec, row: ScheduleRow | None, now: Instant) -> ScheduleStatus:
    unreadable = None if row is None else row.unreadable
    return ScheduleStatus(spec, row, None if unreadable else next_slot(spec, now))


def _readable(schedule: ScheduleStatus) -> ScheduleStatus:
    """The same, or UnreadableRow."""
    if schedule.row is not None:
        schedule.row.require_readable()
    return schedule


def _next_slots(spec: ScheduleSpec, after: Instant, count: int) -> Iterator[Instant]:
    slot: Instant | None = after
    for _ in range(count):
        slot = next_slot(spec, slot) if slot is not None else None
        if slot is not None:
            yield slot
