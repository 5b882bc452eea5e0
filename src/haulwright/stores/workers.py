"""Workers as rows: who works here, when they were last seen, and which of them are provably gone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from haulwright import events
from haulwright.clock import SECOND, Instant
from haulwright.engine.ids import is_id
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.engine.payload import read_json
from haulwright.errors import UnreadableRow
from haulwright.events import Event
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database, Row, first
from haulwright.stores.events import Events
from haulwright.stores.paging import PAGE_LIMIT, Page, check_page, every_row, no_cursor, page_of

ON_HOST_LIMIT = 1000
"""How many workers of its own host a worker that starts looks at; the next one looks again."""
LIVE_SECONDS = 120.0
"""A worker that was seen within this time is alive."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A process that works: nothing is ever decided by its name."""

    id: str
    """New with every process start."""
    name: str
    host: str
    boot_id: str
    """Tells this start of the host from every other."""
    pid: int
    pid_started: str
    """Tells this process from an earlier one with the same number."""
    version: str


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker as it stands in the database."""

    id: str
    name: str
    host: str
    boot_id: str
    pid: int
    pid_started: str
    version: str
    queues: list[str]
    tasks: list[str]
    refused: int
    started_at: Instant
    seen_at: Instant
    stopped_at: Instant | None
    unreadable: str | None = None
    """What of its row this version cannot read."""


class Workers:
    """The workers of a database."""

    def __init__(self, database: Database, record: Events) -> None:
        self._db = database
        self._events = record
        self._book = book("haulwright.stores", database.dialect, "workers")

    def register(self, worker: Identity, queues: list[str], tasks: list[str]) -> None:
        """Add a worker that starts now."""
        params = {
            "id": worker.id,
            "name": worker.name,
            "host": worker.host,
            "boot_id": worker.boot_id,
            "pid": worker.pid,
            "pid_started": worker.pid_started,
            "version": worker.version,
            "queues": json.dumps(queues),
            "tasks": json.dumps(tasks),
            "now": self._db.clock.now(),
        }
        data = {"worker": worker.name, "host": worker.host, "pid": worker.pid, "queues": queues}

        def work(connection: Connection) -> None:
            connection.run(self._book["register"], params)
            self._events.record(connection, [Event(events.WORKER_STARTED, DEFAULT_TENANT, worker=worker.id, data=data)])

        self._db.transact(work)

    def seen(self, worker_id: str, refused: int) -> int:
        """Say that a worker lives, and how many of its writes came too late; how often that was said: 0 for an unknown.

        The number only grows. Where it has become smaller, the database was put back: by a fail-over to a replica that
        was behind, or by a restored backup.
        """
        params = {"id": worker_id, "refused": refused, "now": self._db.clock.now()}
        row = first(self._db.transact(lambda connection: connection.run(self._book["seen"], params)))
        return 0 if row is None else int(row[0])

    def touch(self, worker_id: str) -> bool:
        """Write, to know that the database takes writes; False where there is no row of this worker to write to."""
        params = {"id": worker_id, "now": self._db.clock.now()}
        return bool(self._db.transact(lambda connection: connection.run(self._book["touch"], params)))

    def put_back(self, worker: Identity, beats: int, remembered: int) -> None:
        """Write down that the database is older than a worker remembers it."""
        data = {"worker": worker.name, "beats": beats, "remembered": remembered}
        event = Event(events.DATABASE_PUT_BACK, DEFAULT_TENANT, worker=worker.id, data=data)
        self._db.transact(lambda connection: self._events.record(connection, [event]))

    def stopped(self, worker: Identity, refused: int) -> None:
        """Say that a worker stopped on purpose."""
        params = {"id": worker.id, "refused": refused, "now": self._db.clock.now()}
        event = Event(events.WORKER_STOPPED, DEFAULT_TENANT, worker=worker.id, data={"worker": worker.name})

        def work(connection: Connection) -> None:
            if connection.run(self._book["stopped"], params):
                self._events.record(connection, [event])

        self._db.transact(work)

    def gone_from(self, worker: Identity, is_gone: Callable[[str, int, str], bool]) -> list[str]:
        """The workers of this host whose process is provably gone, by (boot id, pid, start of the process)."""
        params = {"host": worker.host, "id": worker.id, "limit": ON_HOST_LIMIT}
        rows = self._db.read(lambda connection: connection.run(self._book["on_host"], params))
        return [row_id for row_id, _, boot_id, pid, started in rows if is_gone(boot_id, pid, started)]

    def recovered(self, worker: Identity, worker_ids: list[str], jobs: int) -> None:
        """Write down that workers were found gone and their leases taken back."""
        data = {"worker": worker.name, "jobs": jobs, "reason": "worker_startup_recovery", "gone": worker_ids}

        def work(connection: Connection) -> None:
            for worker_id in worker_ids:
                connection.run(self._book["stopped"], {"id": worker_id, "refused": 0, "now": self._db.clock.now()})
            event = Event(events.WORKER_RECOVERED, DEFAULT_TENANT, worker=worker.id, data=data)
            self._events.record(connection, [event])

        self._db.transact(work)

    def unreadable(self) -> list[UnreadableRow]:
        """The live workers whose row this version cannot read."""
        rows = [(row.name, row.unreadable) for row in self.list()]
        return [UnreadableRow("worker", name, why) for name, why in rows if why is not None]

    def list(self, *, within_seconds: float = LIVE_SECONDS, everyone: bool = False) -> list[WorkerRow]:
        """The workers seen lately, or all that are remembered: every one of them, the last started first."""
        return [*every_row(lambda after: self._page(within_seconds, everyone, after, PAGE_LIMIT))]

    def page(self, *, everyone: bool = False, after: str | None = None, limit: int = 50) -> Page[WorkerRow]:
        """The same, a page at a time; `after` is the id of a worker."""
        if after is not None and not is_id(after):
            raise no_cursor(after)
        return self._page(LIVE_SECONDS, everyone, after, check_page(limit))

    def prune(self, age_seconds: float, limit: int = 500) -> int:
        """Forget workers that were not seen for an age and hold nothing."""
        params = {"age_us": round(age_seconds * SECOND), "limit": limit, "now": self._db.clock.now()}
        return len(self._db.transact(lambda connection: connection.run(self._book["prune"], params)))

    def _page(self, within_seconds: float, everyone: bool, after: str | None, limit: int) -> Page[WorkerRow]:  # noqa: FBT001 - private
        params = {
            "within_us": round(within_seconds * SECOND),
            "all": everyone,
            "after": after,
            "limit": limit + 1,
            "now": self._db.clock.now(),
        }
        rows = self._db.read(lambda connection: connection.run(self._book["list"], params))
        return page_of([_worker(row) for row in rows], limit, lambda row: row.id)


def _worker(row: Row) -> WorkerRow:
    values = list(row)
    lists = [read_json(text, list) for text in values[7:9]]
    values[7:9] = [names or [] for names in lists]
    values.append("its queues or tasks are no list" if None in lists else None)
    return WorkerRow(*values)
