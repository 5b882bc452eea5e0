"""Slots: the moments that a schedule owes. A slot and its one job are written in one transaction, or neither is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from haulwright import events
from haulwright.clock import Instant
from haulwright.engine.ids import new_id
from haulwright.engine.job import Enqueued, NewJob
from haulwright.engine.schedule import (
    BY_HAND,
    MENDABLE,
    Disposition,
    Opening,
    newest_slot,
    next_slot,
    plan,
    slots_between,
)
from haulwright.errors import DuplicateMismatch, SlotForgotten
from haulwright.events import Event, given_reason
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database
from haulwright.stores.events import Events
from haulwright.stores.jobs import Jobs
from haulwright.stores.schedule_rows import ScheduleRow

BATCH = 200
"""Slots that one transaction opens while it catches up."""
LATEST = 100
"""Slots with a job that are looked at, the last opened first, for one that is still active."""
KEY = "schedule:"
"""The concurrency key of a schedule whose jobs may not overlap."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A moment that a schedule owed, and what became of it."""

    schedule: str
    scheduled_for: Instant
    disposition: str
    job_id: str | None
    merged_into: Instant | None
    revision: int
    actor: str
    opened_at: Instant


@dataclass(frozen=True, slots=True)
class Opened:
    """What one transaction did for a schedule."""

    slots: int
    jobs: list[str]
    behind: bool
    """More slots are due than one transaction opens."""


class Slots:
    """Opens the slots of a schedule that the caller's transaction holds."""

    def __init__(self, database: Database, record: Events, jobs: Jobs) -> None:
        self._db = database
        self._events = record
        self._jobs = jobs
        self._book = book("haulwright.stores", database.dialect, "schedules")

    def open_due(self, connection: Connection, schedule: ScheduleRow, now: Instant, actor: str) -> Opened:
        """Give every due slot its disposition, as many as fit into one transaction."""
        spec = schedule.spec
        due = slots_between(spec, schedule.opened_until, now, BATCH)
        if not due:
            return Opened(0, [], behind=False)
        taken = self._taken(connection, spec.name, schedule.opened_until, now)
        behind = len(due) == BATCH
        until = due[-1] if behind else now
        params = {"name": spec.name, "from": schedule.opened_until, "until": until, "next_at": next_slot(spec, until)}
        if not connection.run(self._book["advance"], params):
            return Opened(0, [], behind=True)
        openings = plan(
            spec,
            due,
            now,
            paused=schedule.paused_at is not None,
            active=self._is_active(connection, schedule),
            taken=taken,
            newest=newest_slot(spec, due[-1], now, taken) if behind else None,
        )
        jobs = [self.open(connection, schedule, opening, actor, run_at=opening.slot_us) for opening in openings]
        return Opened(len(openings), [job for job in jobs if job is not None], behind=behind)

    def open(  # noqa: PLR0913 - the slot, and who opens it why
        self,
        connection: Connection,
        schedule: ScheduleRow,
        opening: Opening,
        actor: str,
        *,
        run_at: Instant | None,
        reason: str = "",
    ) -> str | None:
        """Take the slot, then make its job; None where the slot was taken already or makes none.

        A person takes one too that was recorded as having made no job.
        """
        job_id = new_id() if opening.fires else None
        named = {"schedule": schedule.spec.name, "scheduled_for": opening.slot_us}
        params = named | {
            "disposition": str(opening.disposition),
            "job_id": job_id,
            "merged_into": opening.merged_into,
            "revision": schedule.revision,
            "actor": actor,
            "now": self._db.clock.now(),
        }
        was = None
        if not connection.run(self._book["open_slot"], params):
            was = self._mend(connection, opening, params)
            if was is None:
                return None
        if job_id is None:
            return None
        enqueued = self._enqueue(connection, schedule.template._replace(id=job_id, run_at=run_at, **_alone(schedule)))
        if not enqueued.created:
            connection.run(self._book["turn_duplicate"], named | {"job_id": enqueued.id})
            return None
        self._events.record(connection, [_opened(schedule, opening, actor, reason, job_id, was=was)])
        return job_id

    def fill(  # noqa: PLR0913 - as above
        self,
        connection: Connection,
        schedule: ScheduleRow,
        span: tuple[Instant, Instant],
        now: Instant,
        actor: str,
        *,
        reason: str = "",
    ) -> tuple[list[Slot], Instant | None]:
        """Open past slots that made no job, each with its job, and say where to go on, if anywhere."""
        after, last = span
        slots = slots_between(schedule.spec, after, min(last, now), BATCH)
        if slots:
            self.require_kept(connection, schedule, slots[0], slots[-1])
        opened: list[Slot] = []
        for slot in slots:
            opening = Opening(slot, Disposition.BACKFILLED)
            job = self.open(connection, schedule, opening, actor, run_at=None, reason=reason)
            if job is not None:
                row = (schedule.spec.name, slot, str(opening.disposition), job, None, schedule.revision, actor)
                opened.append(Slot(*row, opened_at=now))
        return opened, slots[-1] if len(slots) == BATCH else None

    def require_kept(self, connection: Connection, schedule: ScheduleRow, first_us: Instant, last_us: Instant) -> None:
        """Refuse a range with a slot that has no record because it was pruned: it may have had its job."""
        if schedule.pruned_from is None or schedule.pruned_until is None:
            return
        after, until = max(first_us, schedule.pruned_from) - 1, min(last_us, schedule.pruned_until)
        while batch := slots_between(schedule.spec, after, until, BATCH):
            taken = self._taken(connection, schedule.spec.name, after, batch[-1])
            for slot in batch:
                if slot not in taken:
                    raise slot_forgotten(schedule, slot)
            after = batch[-1]

    def _mend(self, connection: Connection, opening: Opening, params: dict[str, Any]) -> str | None:
        """Take a slot by hand that made no job, and return what it was; None where it is taken for good."""
        recorded = connection.run(self._book["slot"], {name: params[name] for name in ("schedule", "scheduled_for")})
        was = recorded[0][0] if recorded else None
        if opening.disposition not in BY_HAND or was not in MENDABLE:
            return None
        return was if connection.run(self._book["mend_slot"], params | {"was": was}) else None

    def _enqueue(self, connection: Connection, job: NewJob) -> Enqueued:
        """A job that holds the unique key stands for the slot's, whatever its arguments are."""
        try:
            (enqueued,) = self._jobs.enqueue_on(connection, [job])
        except DuplicateMismatch as twin:
            return Enqueued(twin.job_id, created=False)
        return enqueued

    def _is_active(self, connection: Connection, schedule: ScheduleRow) -> bool:
        """Whether a job of this schedule is queued or running."""
        return bool(connection.run(self._book["active"], {"schedule": schedule.spec.name, "limit": LATEST}))

    def _taken(self, connection: Connection, name: str, after: Instant, until: Instant) -> set[Instant]:
        params = {"schedule": name, "after": after, "until": until}
        return {slot for (slot,) in connection.run(self._book["taken"], params)}


def slot_forgotten(schedule: ScheduleRow, slot: Instant) -> SlotForgotten:
    """The refusal of a slot whose record may have been pruned."""
    return SlotForgotten(
        schedule.spec.name, utc_text(slot), utc_text(schedule.pruned_until or slot), schedule.spec.task
    )


def utc_text(instant: Instant) -> str:
    """A moment as people and programs read it."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=instant)).isoformat().replace("+00:00", "Z")


def _alone(schedule: ScheduleRow) -> dict[str, Any]:
    """What keeps jobs that were opened by hand, backfilled or requeued from running beside another of the schedule."""
    if schedule.spec.overlap == "allow" or schedule.template.concurrency_key is not None:
        return {}
    return {"concurrency_key": KEY + schedule.spec.name, "concurrency_limit": 1}


def _opened(  # noqa: PLR0913 - what an event of a slot says, each with a name
    schedule: ScheduleRow, opening: Opening, actor: str, reason: str, job_id: str, *, was: str | None
) -> Event:
    data = {
        "schedule": schedule.spec.name,
        "scheduled_for": utc_text(opening.slot_us),
        "disposition": str(opening.disposition),
        **({} if was is None else {"was": was}),
        **given_reason(reason),
    }
    return Event(events.SLOT_OPENED, schedule.spec.tenant, job_id, actor=actor, data=data)
