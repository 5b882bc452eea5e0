"""Workers as rows: who works here, when they were last seen, and which of them are provably gone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from penstock import events
from penstock.clock import SECOND, Instant
from penstock.engine.job import DEFAULT_TENANT
from penstock.events import Event
from penstock.stores.books import book
from penstock.stores.connection import Connection, Database, Row
from penstock.stores.events import Events

LIST_LIMIT = 1000


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


class Workers:
    """The workers of a database."""

    def __init__(self, database: Database, record: Events) -> None:
        self._db = database
        self._events = record
        self._book = book("penstock.stores", database.dialect, "workers")

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
            connection.all(self._book["register"], params)
            self._events.record(connection, [Event(events.WORKER_STARTED, DEFAULT_TENANT, worker=worker.id, data=data)])

        self._db.transact(work)

    def seen(self, worker_id: str, refused: int) -> None:
        """Say that a worker lives, and how many of its writes came too late."""
        params = {"id": worker_id, "refused": refused, "now": self._db.clock.now()}
        self._db.transact(lambda connection: connection.all(self._book["seen"], params))

    def stopped(self, worker: Identity, refused: int) -> None:
        """Say that a worker stopped on purpose."""
        params = {"id": worker.id, "refused": refused, "now": self._db.clock.now()}
        told = Event(events.WORKER_STOPPED, DEFAULT_TENANT, worker=worker.id, data={"worker": worker.name})

        def work(connection: Connection) -> None:
            if connection.all(self._book["stopped"], params):
                self._events.record(connection, [told])

        self._db.transact(work)

    def gone_from(self, worker: Identity, is_gone: Callable[[str, int, str], bool]) -> list[str]:
        """The workers of this host whose process is provably gone, by (boot id, pid, start of the process)."""
        params = {"host": worker.host, "id": worker.id, "limit": LIST_LIMIT}
        rows = self._db.read(lambda connection: connection.all(self._book["on_host"], params))
        return [row_id for row_id, _, boot_id, pid, started in rows if is_gone(boot_id, pid, started)]

    def recovered(self, worker: Identity, gone: list[str], jobs: int) -> None:
        """Write down that workers were found gone and their leases taken back."""
        data = {"worker": worker.name, "jobs": jobs, "reason": "worker_startup_recovery", "gone": gone}

        def work(connection: Connection) -> None:
            for worker_id in gone:
                connection.all(self._book["stopped"], {"id": worker_id, "refused": 0, "now": self._db.clock.now()})
            told = Event(events.WORKER_RECOVERED, DEFAULT_TENANT, worker=worker.id, data=data)
            self._events.record(connection, [told])

        self._db.transact(work)

    def list(self, *, within_seconds: float = 120.0, everyone: bool = False) -> list[WorkerRow]:
        """The workers seen lately, or all that are remembered."""
        params = {
            "within_us": round(within_seconds * SECOND),
            "all": everyone,
            "limit": LIST_LIMIT,
            "now": self._db.clock.now(),
        }
        rows = self._db.read(lambda connection: connection.all(self._book["list"], params))
        return [_worker(row) for row in rows]

    def prune(self, age_seconds: float) -> int:
        """Forget workers that were not seen for an age and hold nothing."""
        params = {"age_us": round(age_seconds * SECOND), "now": self._db.clock.now()}
        return len(self._db.transact(lambda connection: connection.all(self._book["prune"], params)))


def _worker(row: Row) -> WorkerRow:
    values = list(row)
    values[7:9] = map(json.loads, values[7:9])
    return WorkerRow(*values)
