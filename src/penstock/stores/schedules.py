"""Schedules: any worker may open a slot. The slot and its one job are written in one transaction, or neither is."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from penstock import events
from penstock.clock import SECOND, Instant
from penstock.engine.ids import new_id
from penstock.engine.job import NewJob, Unique
from penstock.engine.schedule import Disposition, Opening, ScheduleSpec, newest_slot, next_slot, plan, slots_between
from penstock.errors import NotFound, SlotTaken
from penstock.events import Event
from penstock.stores.books import book
from penstock.stores.connection import Connection, Database, Row, first
from penstock.stores.events import Events
from penstock.stores.jobs import Jobs

BATCH = 200
"""Slots that one transaction opens while it catches up."""
LIST_LIMIT = 500
SYSTEM = "system"


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


class Schedules:
    """The schedules of a database."""

    def __init__(self, database: Database, record: Events, jobs: Jobs) -> None:
        self._db = database
        self._events = record
        self._jobs = jobs
        self._book = book("penstock.stores", database.dialect, "schedules")

    def declare(self, spec: ScheduleSpec, template: NewJob) -> bool:
        """Make a schedule known, or change it; True where something changed. Slots before now are not owed."""

        def work(connection: Connection) -> bool:
            ((now,),) = connection.all(self._book["now"], {"now": self._db.clock.now()})
            known = first(connection.all(self._book["hold"], {"name": spec.name, "tenant": None}))
            since = now if known is None else _row(known).opened_until
            params = _columns(spec, template) | {"opened_until": since, "next_at": next_slot(spec, since), "now": now}
            changed = first(connection.all(self._book["declare"], params))
            if changed is not None:
                data = {"schedule": spec.name, "cron": spec.cron, "revision": changed[0]}
                self._events.record(connection, [Event(events.SCHEDULE_DECLARED, spec.tenant, actor=SYSTEM, data=data)])
            return changed is not None

        return self._db.transact(work)

    def now(self) -> Instant:
        """The time by which slots are due."""
        ((now,),) = self._db.read(lambda connection: connection.all(self._book["now"], {"now": self._db.clock.now()}))
        return int(now)

    def due(self, limit: int = 100) -> list[str]:
        """The schedules that owe a slot now."""
        params = {"limit": limit, "now": self._db.clock.now()}
        return [name for (name,) in self._db.read(lambda connection: connection.all(self._book["due"], params))]

    def next_due(self) -> Instant | None:
        """When the next slot of any schedule is due."""
        row = self._db.read(lambda connection: first(connection.all(self._book["next_due"], {})))
        return None if row is None else row[0]

    def open_due(self, name: str, actor: str = SYSTEM) -> Opened:
        """Give every due slot of a schedule its disposition, as many as fit into one transaction."""
        return self._db.transact(lambda connection: self._open_due_on(connection, name, actor))

    def trigger(self, name: str, scheduled_for: Instant | None, *, tenant: str | None, actor: str) -> str:
        """Open one slot by hand and return its job. A taken slot is refused, naming its job."""

        def work(connection: Connection) -> str:
            schedule = self._held(connection, name, tenant)
            ((now,),) = connection.all(self._book["now"], {"now": self._db.clock.now()})
            slot = now if scheduled_for is None else scheduled_for
            opening = Opening(slot, Disposition.MANUAL)
            job = self._open(connection, schedule, opening, actor, run_at=None)
            if job is None:
                disposition, job_id = connection.all(
                    self._book["slot"], {"schedule": name, "scheduled_for": slot}
                )[0]
                raise SlotTaken(name, utc_text(slot), disposition, job_id)
            return job

        return self._db.transact(work)

    def backfill(self, name: str, first_us: Instant, last_us: Instant, *, tenant: str | None, actor: str) -> list[Slot]:
        """Open the slots of a past range that have no disposition, each with its job; taken ones are left alone."""
        done: list[Slot] = []
        after = first_us - 1
        while True:
            opened, after = self._db.transact(
                lambda connection, after=after: self._backfill_on(connection, name, after, last_us, tenant, actor)
            )
            done += opened
            if after is None:
                return done

    def pause(self, name: str, *, tenant: str | None, actor: str) -> bool:
        """Stop firing: due slots are recorded as skipped. False where it was paused already."""
        return self._switch("pause", events.SCHEDULE_PAUSED, name, tenant, actor)

    def resume(self, name: str, *, tenant: str | None, actor: str) -> bool:
        """Fire again, from now on."""
        self.open_due(name, actor)  # the slots of the pause are recorded as skipped before it ends
        return self._switch("resume", events.SCHEDULE_RESUMED, name, tenant, actor)

    def get(self, name: str, tenant: str | None = None) -> ScheduleRow:
        """One schedule."""
        row = self._db.read(lambda c: first(c.all(self._book["get"], {"name": name, "tenant": tenant})))
        if row is None:
            raise NotFound("schedule", name, hint="See them with: penstock schedule list")
        return _row(row)

    def list(self, tenant: str | None = None) -> list[ScheduleRow]:
        """All schedules, by name."""
        params = {"tenant": tenant, "limit": LIST_LIMIT}
        return [_row(row) for row in self._db.read(lambda connection: connection.all(self._book["list"], params))]

    def slots(self, name: str, *, before: Instant = 2**62, limit: int = 100) -> list[Slot]:
        """The slots of a schedule, the newest first."""
        params = {"schedule": name, "before": before, "limit": limit}
        return [Slot(*row) for row in self._db.read(lambda connection: connection.all(self._book["slots"], params))]

    def prune(self, age_seconds: float, limit: int = 500) -> int:
        """Forget slots that were opened before an age ago and whose job is finished."""
        params = {"age_us": round(age_seconds * SECOND), "limit": limit, "now": self._db.clock.now()}
        return len(self._db.transact(lambda connection: connection.all(self._book["prune"], params)))

    def _open_due_on(self, connection: Connection, name: str, actor: str) -> Opened:
        held = first(connection.all(self._book["hold"], {"name": name, "tenant": None}))
        if held is None:
            raise NotFound("schedule", name)
        schedule = _row(held)
        ((now,),) = connection.all(self._book["now"], {"now": self._db.clock.now()})
        due = slots_between(schedule.spec, schedule.opened_until, now, BATCH)
        if not due:
            return Opened(0, [], behind=False)
        taken = self._taken(connection, name, schedule.opened_until, now)
        behind = len(due) == BATCH
        newest = newest_slot(schedule.spec, due[-1], now, taken) if behind else None
        until = due[-1] if behind else now
        moved = {"name": name, "from": schedule.opened_until, "until": until, "next_at": next_slot(schedule.spec, until)}
        if not connection.all(self._book["advance"], moved):
            return Opened(0, [], behind=True)
        openings = plan(
            schedule.spec,
            due,
            now,
            paused=schedule.paused_at is not None,
            active=self._is_active(connection, schedule),
            taken=taken,
            newest=newest,
        )
        made = [self._open(connection, schedule, opening, actor, run_at=opening.slot_us) for opening in openings]
        return Opened(len(openings), [job for job in made if job is not None], behind=behind)

    def _is_active(self, connection: Connection, schedule: ScheduleRow) -> bool:
        """Whether a job of this schedule is queued or running."""
        return bool(connection.all(self._book["active"], {"schedule": schedule.spec.name}))

    def _open(
        self, connection: Connection, schedule: ScheduleRow, opening: Opening, actor: str, run_at: Instant | None
    ) -> str | None:
        """Take the slot, then make its job; None where the slot was taken already or makes none."""
        job_id = new_id() if opening.fires else None
        params = {
            "schedule": schedule.spec.name,
            "scheduled_for": opening.slot_us,
            "disposition": str(opening.disposition),
            "job_id": job_id,
            "merged_into": opening.merged_into,
            "revision": schedule.revision,
            "actor": actor,
            "now": self._db.clock.now(),
        }
        if not connection.all(self._book["open_slot"], params) or job_id is None:
            return None
        job = replace(schedule.template, id=job_id, run_at=run_at)
        (made,) = self._jobs.enqueue_on(connection, [job])
        if not made.created:
            named = {"schedule": schedule.spec.name, "scheduled_for": opening.slot_us, "job_id": made.id}
            connection.all(self._book["turn_duplicate"], named)
            return None
        self._tell(connection, schedule, opening, actor, job_id)
        return job_id

    def _tell(
        self, connection: Connection, schedule: ScheduleRow, opening: Opening, actor: str, job_id: str
    ) -> None:
        data = {
            "schedule": schedule.spec.name,
            "scheduled_for": utc_text(opening.slot_us),
            "disposition": str(opening.disposition),
        }
        told = Event(events.SLOT_OPENED, schedule.spec.tenant, job_id, actor=actor, data=data)
        self._events.record(connection, [told])

    def _backfill_on(
        self, connection: Connection, name: str, after: Instant, last_us: Instant, tenant: str | None, actor: str
    ) -> tuple[list[Slot], Instant | None]:
        schedule = self._held(connection, name, tenant)
        wanted = slots_between(schedule.spec, after, last_us, BATCH)
        opened: list[Slot] = []
        for slot in wanted:
            opening = Opening(slot, Disposition.BACKFILLED)
            job = self._open(connection, schedule, opening, actor, run_at=None)
            if job is not None:
                row = (name, slot, str(opening.disposition), job, None, schedule.revision, actor, 0)
                opened.append(Slot(*row))
        return opened, wanted[-1] if len(wanted) == BATCH else None

    def _taken(self, connection: Connection, name: str, after: Instant, until: Instant) -> set[Instant]:
        params = {"schedule": name, "after": after, "until": until}
        return {slot for (slot,) in connection.all(self._book["taken"], params)}

    def _held(self, connection: Connection, name: str, tenant: str | None) -> ScheduleRow:
        row = first(connection.all(self._book["hold"], {"name": name, "tenant": tenant}))
        if row is None:
            raise NotFound("schedule", name, hint="See them with: penstock schedule list")
        return _row(row)

    def _switch(self, entry: str, event: str, name: str, tenant: str | None, actor: str) -> bool:
        def work(connection: Connection) -> bool:
            schedule = self._held(connection, name, tenant)
            params = {"name": name, "tenant": tenant, "actor": actor, "now": self._db.clock.now()}
            changed = bool(connection.all(self._book[entry], params))
            if changed:
                told = Event(event, schedule.spec.tenant, actor=actor, data={"schedule": name})
                self._events.record(connection, [told])
            return changed

        return self._db.transact(work)


def utc_text(instant: Instant) -> str:
    """A moment as people and programs read it."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=instant)).isoformat().replace("+00:00", "Z")


def _columns(spec: ScheduleSpec, template: NewJob) -> dict[str, Any]:
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
        "template": json.dumps(asdict(replace(template, id="")), sort_keys=True),
    }


def _us(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * SECOND)


def _row(row: Row) -> ScheduleRow:
    name, tenant, task, cron, tz, coalesce, grace_us, overlap, runtime_us, template, *rest = row
    stored = json.loads(template)
    unique = Unique(**stored.pop("unique")) if stored["unique"] else stored.pop("unique")
    job = NewJob(**stored, unique=unique)
    spec = ScheduleSpec(
        name=name, cron=cron, task=task, tz=tz, coalesce=bool(coalesce),
        misfire_grace_seconds=None if grace_us is None else grace_us / SECOND, overlap=overlap,
        max_runtime_seconds=None if runtime_us is None else runtime_us / SECOND, attempts=job.max_attempts,
        tenant=tenant, args=job.args,
    )  # fmt: skip
    return ScheduleRow(spec, job, *rest)
