"""Queues: paused and resumed by people, counted for them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock import events
from penstock.clock import Instant
from penstock.engine.job import DEFAULT_TENANT
from penstock.events import Event
from penstock.stores.books import book
from penstock.stores.connection import Connection, Database, first
from penstock.stores.events import Events

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


@dataclass(frozen=True, slots=True)
class Ended:
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

    def __init__(self, database: Database, record: Events) -> None:
        self._db = database
        self._events = record
        self._book = book("penstock.stores", database.dialect, "queues")
        self._jobs_book = book("penstock.stores", database.dialect, "jobs")

    def pause(self, name: str, *, actor: str, reason: str) -> bool:
        """Stop claims from a queue; False where it was paused already."""

        def work(connection: Connection) -> bool:
            params = {"name": name, "actor": actor, "reason": reason, "now": self._db.clock.now()}
            changed = bool(connection.all(self._book["pause"], params))
            if changed:
                data = {"queue": name, "reason": reason}
                self._events.record(connection, [Event(events.QUEUE_PAUSED, DEFAULT_TENANT, actor=actor, data=data)])
            return changed

        return self._db.transact(work)

    def resume(self, name: str, *, actor: str) -> bool:
        """Let claims go on; the deadlines of what waited move by the length of the pause."""

        def work(connection: Connection) -> bool:
            row = first(connection.all(self._book["paused"], {"name": name}))
            if row is None:
                return False
            since = {"queue": name, "since": row[0], "now": self._db.clock.now()}
            connection.all(self._jobs_book["extend_deadlines"], since)
            connection.all(self._book["resume"], {"name": name})
            told = Event(events.QUEUE_RESUMED, DEFAULT_TENANT, actor=actor, data={"queue": name})
            self._events.record(connection, [told])
            return True

        return self._db.transact(work)

    def counts(self, tenant: str | None = None) -> list[QueueCounts]:
        """What waits and runs, queue by queue."""

        def work(connection: Connection) -> list[QueueCounts]:
            rows = connection.all(self._book["counts"], {"tenant": tenant, "now": self._db.clock.now()})
            paused = {name: at for name, at, _, _ in connection.all(self._book["list_paused"], {})}
            known = [replace(QueueCounts(*row), paused_at=paused.pop(row[0], None)) for row in rows]
            return known + [QueueCounts(name, 0, 0, 0, None, at) for name, at in sorted(paused.items())]

        return self._db.read(work)

    def paused(self, name: str) -> tuple[Instant, str, str] | None:
        """Since when a queue is paused, by whom and why; None where it is not."""
        row = self._db.read(lambda connection: first(connection.all(self._book["paused"], {"name": name})))
        return None if row is None else (row[0], row[1], row[2])

    def ended(self, since: Instant, until: Instant) -> dict[str, Ended]:
        """What ended after one moment and up to another, queue by queue."""
        asked = {"since": since, "until": until}
        rows = self._db.read(lambda connection: connection.all(self._book["ended"], asked))
        return {name: Ended(done, dead) for name, done, dead in rows}

    def held(self) -> dict[str, int]:
        """How many jobs each worker has in hand, by the worker's id."""
        rows = self._db.read(lambda connection: connection.all(self._book["held"], {}))
        return {str(worker): jobs for worker, jobs in rows}

    def troubles(self, queue: str | None = None, *, limit: int = 10) -> list[Trouble]:
        """The last failures, the newest first, one an attempt. Only the newest events are looked at."""
        asked = {"queue": queue, "look": TROUBLE_LOOK, "limit": 2 * limit}
        rows = self._db.read(lambda connection: connection.all(self._book["troubles"], asked))
        once: dict[tuple[str, int | None], Trouble] = {}
        for row in rows:  # a job that died of its last failure is told of once, by the newer of the two events
            once.setdefault((row[3], row[4]), Trouble(*row))
        return list(once.values())[:limit]
