"""Schedules: declared by code, opened by any worker, paused and triggered by people."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import NamedTuple, TypeVar

from haulwright import events
from haulwright.clock import SECOND, Instant
from haulwright.engine.job import NewJob
from haulwright.engine.schedule import Disposition, Opening, ScheduleSpec, next_slot
from haulwright.errors import InvalidValue, NotFound, SlotTaken, UnreadableRow
from haulwright.events import Event, given_reason
from haulwright.stores.books import book
from haulwright.stores.clock import DatabaseClock
from haulwright.stores.connection import Connection, Database, first
from haulwright.stores.events import Events
from haulwright.stores.jobs import Jobs
from haulwright.stores.paging import PAGE_LIMIT, Page, check_page, every_row, page_of
from haulwright.stores.schedule_rows import ScheduleRow, columns_of, schedule_of
from haulwright.stores.slots import Opened, Slot, Slots, slot_forgotten, utc_text

T = TypeVar("T")

SYSTEM = "system"
RESULT_KEPT_CHARS = 4_096
"""Of the result of a job that is kept with its slot; a longer one goes with the job."""


class NextDue(NamedTuple):
    """The next slot of any schedule, and what time it is."""

    at: Instant | None
    now: Instant

    @property
    def seconds(self) -> float | None:
        """How long until then: 0 where it is due; None where there is no schedule."""
        return None if self.at is None else max(0, self.at - self.now) / SECOND


class Schedules:
    """The schedules of a database."""

    def __init__(self, database: Database, record: Events, jobs: Jobs, clock: DatabaseClock) -> None:
        self._db = database
        self._clock = clock
        self._events = record
        self._slots = Slots(database, record, jobs)
        self._book = book("haulwright.stores", database.dialect, "schedules")

    def declare(self, spec: ScheduleSpec, template: NewJob) -> bool:
        """Make a schedule known, or change it; True where something changed.

        Slots before now are not owed. What the old times of a schedule owed is opened before they change.
        """

        def work(connection: Connection) -> bool | None:
            now = self._clock.now_on(connection)
            schedule = self._find(connection, spec.name, None)
            since = now if schedule is None else schedule.opened_until
            if schedule is not None and (schedule.spec.cron, schedule.spec.tz) != (spec.cron, spec.tz):
                # Which slots times owe that cannot be read, nobody can say: what the code says now counts from now on.
                if not schedule.unreadable and self._slots.open_due(connection, schedule, now, SYSTEM).behind:
                    return None
                since = now
            params = columns_of(spec, template) | {"opened_until": since, "next_at": next_slot(spec, since), "now": now}
            changed = first(connection.run(self._book["declare"], params))
            if changed is not None:
                data = {"schedule": spec.name, "cron": spec.cron, "revision": changed[0]}
                self._events.record(connection, [Event(events.SCHEDULE_DECLARED, spec.tenant, actor=SYSTEM, data=data)])
            return changed is not None

        return self._in_steps(work)

    def due(self, limit: int = 100, *, aside: Collection[str] = ()) -> list[str]:
        """The schedules that owe a slot now, without those that were put aside."""
        params = {"limit": limit, "aside": list(aside), "now": self._db.clock.now()}
        return [name for (name,) in self._db.read(lambda connection: connection.run(self._book["due"], params))]

    def next_due(self, *, aside: Collection[str] = ()) -> NextDue:
        """When the next slot of any schedule is due that was not put aside."""
        params = {"aside": list(aside), "now": self._db.clock.now()}
        rows = self._db.read(lambda connection: connection.run(self._book["next_due"], params))
        return NextDue._make(rows[0])

    def open_due(self, name: str, actor: str = SYSTEM) -> Opened:
        """Give every due slot of a schedule its disposition, as many as fit into one transaction."""

        def work(connection: Connection) -> Opened:
            schedule = self._held(connection, name, None).require_readable()
            return self._slots.open_due(connection, schedule, self._clock.now_on(connection), actor)

        return self._db.transact(work)

    def trigger(
        self, name: str, scheduled_for: Instant | None, *, tenant: str | None, actor: str, reason: str = ""
    ) -> str:
        """Open one slot by hand and return its job, also one that was recorded as having made none.

        A taken slot is refused, naming its job; so is one in the future: what stands for a day must not be made before.
        """

        def work(connection: Connection) -> str:
            schedule = self._held(connection, name, tenant).require_readable()
            now = self._clock.now_on(connection)
            slot = now if scheduled_for is None else scheduled_for
            if slot > now:
                hint = "Future slots are opened by the clock."
                raise InvalidValue("scheduled_for", utc_text(slot), "is in the future", hint=hint)
            recorded = {"schedule": name, "scheduled_for": slot}
            if schedule.may_have_forgotten(slot) and not connection.run(self._book["slot"], recorded):
                raise slot_forgotten(schedule, slot)
            opening = Opening(slot, Disposition.MANUAL)
            job = self._slots.open(connection, schedule, opening, actor, run_at=None, reason=reason)
            if job is None:
                disposition, job_id = connection.run(self._book["slot"], recorded)[0]
                raise SlotTaken(name, utc_text(slot), disposition, job_id)
            return job

        return self._db.transact(work)

    def backfill(  # noqa: PLR0913 - who, why, and the range
        self, name: str, first_us: Instant, last_us: Instant, *, tenant: str | None, actor: str, reason: str = ""
    ) -> list[Slot]:
        """Open the slots of a past range that made no job, each with its job; taken ones are left alone."""

        def work(connection: Connection, after: Instant) -> tuple[list[Slot], Instant | None]:
            schedule = self._held(connection, name, tenant).require_readable()
            now = self._clock.now_on(connection)
            return self._slots.fill(connection, schedule, (after, last_us), now, actor, reason=reason)

        self.require_kept(name, first_us, last_us, tenant=tenant)
        done: list[Slot] = []
        after: Instant | None = first_us - 1
        while after is not None:
            opened, after = self._db.transact(partial(work, after=after))
            done += opened
        return done

    def require_kept(self, name: str, first_us: Instant, last_us: Instant, *, tenant: str | None) -> None:
        """Refuse a range with slots that may have had their job, which nobody knows any more. Nothing is opened."""
        schedule = self.get(name, tenant).require_readable()
        self._db.read(lambda connection: self._slots.require_kept(connection, schedule, first_us, last_us))

    def pause(self, name: str, *, tenant: str | None, actor: str, reason: str = "") -> bool:
        """Stop firing: due slots are recorded as skipped. False where it was paused already."""
        return self._db.transact(
            lambda connection: self._switch(connection, "pause", self._held(connection, name, tenant), actor, reason)
        )

    def resume(self, name: str, *, tenant: str | None, actor: str, reason: str = "") -> bool:
        """Fire again, from now on. The slots of the pause are recorded as skipped before it ends."""

        def work(connection: Connection) -> bool | None:
            schedule = self._held(connection, name, tenant).require_readable()
            if self._slots.open_due(connection, schedule, self._clock.now_on(connection), actor).behind:
                return None
            return self._switch(connection, "resume", schedule, actor, reason)

        return self._in_steps(work)

    def get(self, name: str, tenant: str | None = None) -> ScheduleRow:
        """One schedule."""
        row = self._db.read(lambda c: first(c.run(self._book["get"], {"name": name, "tenant": tenant})))
        if row is None:
            raise _absent(name)
        return schedule_of(row)

    def slots(self, name: str, *, before: Instant = 2**62, limit: int = 100) -> list[Slot]:
        """The slots of a schedule, the newest first."""
        params = {"schedule": name, "before": before, "limit": limit}
        return [Slot(*row) for row in self._db.read(lambda connection: connection.run(self._book["slots"], params))]

    def record_endings(self, limit: int = 500) -> int:
        """Write down with their slots how jobs ended, and return how many those are: the slots outlive the jobs."""
        params = {"limit": limit, "most_chars": RESULT_KEPT_CHARS}
        return len(self._db.transact(lambda connection: connection.run(self._book["record_endings"], params)))

    def prune(self, age_seconds: float, limit: int = 500) -> int:
        """Forget slots that were opened before an age ago and whose job is finished."""
        params = {"age_us": round(age_seconds * SECOND), "limit": limit, "now": self._db.clock.now()}
        return len(self._db.transact(lambda connection: connection.run(self._book["prune"], params)))

    def unreadable(self) -> list[UnreadableRow]:
        """The schedules that this version cannot read."""
        rows = [(row.spec.name, row.unreadable) for row in self.list()]
        return [UnreadableRow("schedule", name, why) for name, why in rows if why is not None]

    def list(self, tenant: str | None = None) -> list[ScheduleRow]:
        """All schedules, by name."""
        return [*every_row(lambda after: self.page(tenant, after=after, limit=PAGE_LIMIT))]

    def page(self, tenant: str | None = None, *, after: str | None = None, limit: int = 50) -> Page[ScheduleRow]:
        """The same, a page at a time; `after` is a name."""
        params = {"tenant": tenant, "after": after, "limit": check_page(limit) + 1}
        rows = self._db.read(lambda connection: connection.run(self._book["list"], params))
        return page_of([schedule_of(row) for row in rows], limit, lambda row: row.spec.name)

    def _in_steps(self, work: Callable[[Connection], T | None]) -> T:
        """Run work in one transaction after another until it answers: None says that more slots are due first."""
        while (answer := self._db.transact(work)) is None:
            pass
        return answer

    def _find(self, connection: Connection, name: str, tenant: str | None) -> ScheduleRow | None:
        """A schedule, held for the rest of the transaction."""
        row = first(connection.run(self._book["hold"], {"name": name, "tenant": tenant}))
        return None if row is None else schedule_of(row)

    def _held(self, connection: Connection, name: str, tenant: str | None) -> ScheduleRow:
        schedule = self._find(connection, name, tenant)
        if schedule is None:
            raise _absent(name)
        return schedule

    def _switch(self, connection: Connection, verb: str, schedule: ScheduleRow, actor: str, reason: str) -> bool:
        params = {"name": schedule.spec.name, "actor": actor, "now": self._db.clock.now()}
        changed = bool(connection.run(self._book[verb], params))
        if changed:
            name = events.SCHEDULE_PAUSED if verb == "pause" else events.SCHEDULE_RESUMED
            data = {"schedule": schedule.spec.name, **given_reason(reason)}
            self._events.record(connection, [Event(name, schedule.spec.tenant, actor=actor, data=data)])
        return changed


def _absent(name: str) -> NotFound:
    return NotFound("schedule", name, hint="See them with: haulwright schedule list")
