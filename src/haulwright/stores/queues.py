"""Queues: paused and resumed by people, counted for them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from haulwright import events
from haulwright.clock import Instant
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.events import Event, given_reason
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database, first
from haulwright.stores.events import Events
from haulwright.stores.paging import PAGE_LIMIT, Page, check_page, every_row, page_of
from haulwright.stores.pauses import Pauses

HIGHEST = "\U0010ffff"
"""Sorts after every tenant."""
COUNTED = 50_000
"""Where somebody looks, so many due jobs and as many parked ones are counted, over all queues of a page."""
PAIRS_COUNTED = 10_000
"""So many pairs of tenant and priority are gone through for that, each with a probe of an index."""
TROUBLE_LOOK = 1000
"""How many of the newest events are searched for failures: a look stays cheap however long nothing fails."""


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """What waits and runs in one queue."""

    name: str
    due: int
    parked: int
    running: int
    oldest: Instant | None
    """When the job that waits longest became due."""
    paused_at: Instant | None = None
    paused_by: str | None = None
    pause_reason: str | None = None
    more_due: bool = False
    """More are due than were counted."""
    more_parked: bool = False


@dataclass(frozen=True, slots=True)
class EndedCounts:
    """What ended in a stretch of time."""

    done: int = 0
    dead: int = 0


@dataclass(frozen=True, slots=True)
class Trouble:
    """A run that failed, a lease that ran out, or a job that died."""

    at: Instant
    event: str
    tenant: str
    job_id: str
    attempt: int | None
    task: str | None
    """None where the job was pruned since."""
    queue: str | None
    message: str | None


class Queues:
    """The queues of a database."""

    def __init__(self, database: Database, record: Events, pauses: Pauses) -> None:
        self._db = database
        self._events = record
        self._pauses = pauses
        self._book = book("haulwright.stores", database.dialect, "queues")

    def pause(self, name: str, *, actor: str, reason: str) -> bool:
        """Stop claims from a queue; False where it was paused already."""

        def work(connection: Connection) -> bool:
            params = {"name": name, "actor": actor, "reason": reason, "now": self._db.clock.now()}
            changed = bool(connection.run(self._book["pause"], params))
            if changed:
                data = {"queue": name, "reason": reason}
                self._events.record(connection, [Event(events.QUEUE_PAUSED, DEFAULT_TENANT, actor=actor, data=data)])
            return changed

        return self._db.transact(work)

    def resume(self, name: str, *, actor: str, reason: str = "") -> bool:
        """Let claims go on; the deadlines of what waited are later by the length of the pause. No job is written."""

        def work(connection: Connection) -> bool:
            row = first(connection.run(self._book["paused"], {"name": name}))
            if row is None:
                return False
            self._pauses.record(connection, "queue", name, row[0])
            connection.run(self._book["resume"], {"name": name})
            event = Event(
                events.QUEUE_RESUMED, DEFAULT_TENANT, actor=actor, data={"queue": name, **given_reason(reason)}
            )
            self._events.record(connection, [event])
            return True

        return self._db.transact(work)

    def page(
        self, tenant: str | None = None, *, after: str | None = None, limit: int = 50, bounded: bool = False
    ) -> Page[QueueCounts]:
        """What waits and runs, queue by queue, in order of their names; only the queues of the page are counted.

        With a tenant, those that hold its jobs and what they hold of them; without one, also those that are paused.
        A bounded count costs the same however much waits, and says where there is more.
        """
        walk = {"after": after or "", "limit": check_page(limit) + 1}

        def work(connection: Connection) -> list[QueueCounts]:
            entry, whose = ("occupied", walk) if tenant is None else ("occupied_by", {**walk, "tenant": tenant})
            occupied = connection.run(self._book[entry], whose)
            paused = [] if tenant is not None else connection.run(self._book["list_paused"], walk)
            names = {name for name, *_ in (*occupied, *paused)}
            return self._counted(connection, sorted(names)[: limit + 1], tenant, bounded=bounded)

        return page_of(self._db.read(work), limit, lambda queue: queue.name)

    def of(self, names: Collection[str], tenant: str | None = None, *, bounded: bool = False) -> list[QueueCounts]:
        """What waits and runs in these queues, empty or not, in order of their names."""

        def work(connection: Connection) -> list[QueueCounts]:
            return self._counted(connection, sorted(names), tenant, bounded=bounded)

        return self._db.read(work)

    def counts(self, tenant: str | None = None) -> list[QueueCounts]:
        """The pages of all queues, for who knows that they are few."""
        return [*every_row(lambda after: self.page(tenant, after=after, limit=PAGE_LIMIT))]

    def _counted(
        self, connection: Connection, names: list[str], tenant: str | None, *, bounded: bool
    ) -> list[QueueCounts]:
        share = max(1, len(names))
        most, pairs = COUNTED // share, PAIRS_COUNTED // share
        params: dict[str, Any] = {"names": names, "now": self._db.clock.now()}
        params |= {"first_tenant": tenant or "", "last_tenant": tenant or HIGHEST}
        if bounded:
            rows = connection.run(self._book["counts_up_to"], {**params, "most": most, "pairs": pairs})
        else:
            rows = [(*row, 0) for row in connection.run(self._book["counts"], params)]
        waiting = {row[0]: row for row in rows if not row[4]}
        running = {row[0]: row[4] for row in rows if row[4]}
        pauses = {name: pause for name, *pause in connection.run(self._book["paused_among"], {"names": names})}
        counts = []
        for name in names:
            _, due, parked, oldest, _, walked = waiting.get(name, (name, 0, 0, None, 0, 0))
            more_due, more_parked = (bounded and (count > most or walked > pairs) for count in (due, parked))
            due, parked = (min(due, most), min(parked, most)) if bounded else (due, parked)
            at, by, reason = pauses.get(name, (None, None, None))
            facts = (running.get(name, 0), oldest, at, by, reason)
            counts.append(QueueCounts(name, due, parked, *facts, more_due, more_parked))
        return counts

    def paused(self, name: str) -> tuple[Instant, str, str] | None:
        """Since when a queue is paused, by whom and why; None where it is not."""
        row = self._db.read(lambda connection: first(connection.run(self._book["paused"], {"name": name})))
        return None if row is None else (row[0], row[1], row[2])

    def ended(self, since: Instant, until: Instant, tenant: str | None = None) -> dict[str, EndedCounts]:
        """What ended after one moment and up to another, queue by queue."""
        params = {"since": since, "until": until, "tenant": tenant}
        rows = self._db.read(lambda connection: connection.run(self._book["ended"], params))
        return {name: EndedCounts(done, dead) for name, done, dead in rows}

    def held(self, tenant: str | None = None) -> dict[str, int]:
        """How many jobs each worker has in hand, by the worker's id."""
        rows = self._db.read(lambda connection: connection.run(self._book["held"], {"tenant": tenant}))
        return {str(worker): jobs for worker, jobs in rows}

    def troubles(self, queue: str | None = None, *, tenant: str | None = None, limit: int = 10) -> list[Trouble]:
        """The last failures, the newest first, one an attempt. Only the newest events are looked at."""
        params = {"queue": queue, "tenant": tenant, "look": TROUBLE_LOOK, "limit": 2 * limit}
        rows = self._db.read(lambda connection: connection.run(self._book["troubles"], params))
        once: dict[tuple[str, int | None], Trouble] = {}
        for row in rows:  # a job that died of its last failure is told of once, by the newer of the two events
            once.setdefault((row[3], row[4]), Trouble(*row))
        return list(once.values())[:limit]
