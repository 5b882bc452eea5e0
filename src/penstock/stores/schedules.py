"""Schedules: declared by code, opened by any worker, paused and triggered by people."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from penstock import events
from penstock.clock import SECOND, Instant
from penstock.engine.job import NewJob
from penstock.engine.schedule import Disposition, Opening, ScheduleSpec, next_slot
from penstock.errors import NotFound, SlotTaken
from penstock.events import Event
from penstock.stores.books import book
from penstock.stores.connection import Connection, Database, first
from penstock.stores.events import Events
from penstock.stores.jobs import Jobs
from penstock.stores.schedule_rows import ScheduleRow, columns_of, schedule_of
from penstock.stores.slots import Opened, Slot, Slots, utc_text

T = TypeVar("T")

LIST_LIMIT = 500
SYSTEM = "system"


class Schedules:
    """The schedules of a database."""

    def __init__(self, database: Database, record: Events, jobs: Jobs) -> None:
        self._db = database
        self._events = record
        self._slots = Slots(database, record, jobs)
        self._book = book("penstock.stores", database.dialect, "schedules")

    def declare(self, spec: ScheduleSpec, template: NewJob) -> bool:
        """Make a schedule known, or change it; True where something changed.

        Slots before now are not owed. What the old times of a schedule owed is opened before they change.
        """

        def work(connection: Connection) -> bool | None:
            now = self._now(connection)
            known = self._find(connection, spec.name, None)
            since = now if known is None else known.opened_until
            if known is not None and (known.spec.cron, known.spec.tz) != (spec.cron, spec.tz):
                if self._slots.open_due(connection, known, now, SYSTEM).behind:
                    return None
                since = now
            params = columns_of(spec, template) | {"opened_until": since, "next_at": next_slot(spec, since), "now": now}
            changed = first(connection.all(self._book["declare"], params))
            if changed is not None:
                data = {"schedule": spec.name, "cron": spec.cron, "revision": changed[0]}
                self._events.record(connection, [Event(events.SCHEDULE_DECLARED, spec.tenant, actor=SYSTEM, data=data)])
            return changed is not None

        return self._in_steps(work)

    def now(self) -> Instant:
        """The time by which slots are due."""
        return self._db.read(self._now)

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

        def work(connection: Connection) -> Opened:
            schedule = self._held(connection, name, None)
            return self._slots.open_due(connection, schedule, self._now(connection), actor)

        return self._db.transact(work)

    def trigger(self, name: str, scheduled_for: Instant | None, *, tenant: str | None, actor: str) -> str:
        """Open one slot by hand and return its job. A taken slot is refused, naming its job."""

        def work(connection: Connection) -> str:
            schedule = self._held(connection, name, tenant)
            slot = self._now(connection) if scheduled_for is None else scheduled_for
            job = self._slots.open(connection, schedule, Opening(slot, Disposition.MANUAL), actor, run_at=None)
            if job is None:
                disposition, job_id = connection.all(self._book["slot"], {"schedule": name, "scheduled_for": slot})[0]
                raise SlotTaken(name, utc_text(slot), disposition, job_id)
            return job

        return self._db.transact(work)

    def backfill(self, name: str, first_us: Instant, last_us: Instant, *, tenant: str | None, actor: str) -> list[Slot]:
        """Open the slots of a past range that have no disposition, each with its job; taken ones are left alone."""

        def work(connection: Connection, after: Instant) -> tuple[list[Slot], Instant | None]:
            schedule = self._held(connection, name, tenant)
            return self._slots.fill(connection, schedule, (after, last_us), self._now(connection), actor)

        done: list[Slot] = []
        after: Instant | None = first_us - 1
        while after is not None:
            opened, after = self._db.transact(partial(work, after=after))
            done += opened
        return done

    def pause(self, name: str, *, tenant: str | None, actor: str) -> bool:
        """Stop firing: due slots are recorded as skipped. False where it was paused already."""
        return self._db.transact(
            lambda connection: self._switch(connection, "pause", self._held(connection, name, tenant), actor)
        )

    def resume(self, name: str, *, tenant: str | None, actor: str) -> bool:
        """Fire again, from now on. The slots of the pause are recorded as skipped before it ends."""

        def work(connection: Connection) -> bool | None:
            schedule = self._held(connection, name, tenant)
            if self._slots.open_due(connection, schedule, self._now(connection), actor).behind:
                return None
            return self._switch(connection, "resume", schedule, actor)

        return self._in_steps(work)

    def get(self, name: str, tenant: str | None = None) -> ScheduleRow:
        """One schedule."""
        row = self._db.read(lambda c: first(c.all(self._book["get"], {"name": name, "tenant": tenant})))
        if row is None:
            raise _absent(name)
        return schedule_of(row)

    def slots(self, name: str, *, before: Instant = 2**62, limit: int = 100) -> list[Slot]:
        """The slots of a schedule, the newest first."""
        params = {"schedule": name, "before": before, "limit": limit}
        return [Slot(*row) for row in self._db.read(lambda connection: connection.all(self._book["slots"], params))]

    def prune(self, age_seconds: float, limit: int = 500) -> int:
        """Forget slots that were opened before an age ago and whose job is finished."""
        params = {"age_us": round(age_seconds * SECOND), "limit": limit, "now": self._db.clock.now()}
        return len(self._db.transact(lambda connection: connection.all(self._book["prune"], params)))

    def list(self, tenant: str | None = None) -> list[ScheduleRow]:
        """All schedules, by name."""
        params = {"tenant": tenant, "limit": LIST_LIMIT}
        return [schedule_of(row) for row in self._db.read(lambda c: c.all(self._book["list"], params))]

    def _in_steps(self, work: Callable[[Connection], T | None]) -> T:
        """Run work in one transaction after another until it answers: None says that more slots are due first."""
        while (answer := self._db.transact(work)) is None:
            pass
        return answer

    def _now(self, connection: Connection) -> Instant:
        ((now,),) = connection.all(self._book["now"], {"now": self._db.clock.now()})
        return int(now)

    def _find(self, connection: Connection, name: str, tenant: str | None) -> ScheduleRow | None:
        """A schedule, held for the rest of the transaction."""
        row = first(connection.all(self._book["hold"], {"name": name, "tenant": tenant}))
        return None if row is None else schedule_of(row)

    def _held(self, connection: Connection, name: str, tenant: str | None) -> ScheduleRow:
        schedule = self._find(connection, name, tenant)
        if schedule is None:
            raise _absent(name)
        return schedule

    def _switch(self, connection: Connection, verb: str, schedule: ScheduleRow, actor: str) -> bool:
        params = {"name": schedule.spec.name, "actor": actor, "now": self._db.clock.now()}
        changed = bool(connection.all(self._book[verb], params))
        if changed:
            told = events.SCHEDULE_PAUSED if verb == "pause" else events.SCHEDULE_RESUMED
            data = {"schedule": schedule.spec.name}
            self._events.record(connection, [Event(told, schedule.spec.tenant, actor=actor, data=data)])
        return changed


def _absent(name: str) -> NotFound:
    return NotFound("schedule", name, hint="See them with: penstock schedule list")
