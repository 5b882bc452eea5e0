"""The record of what happened: written beside what it describes, never changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.clock import SECOND
from penstock.engine.ids import is_id
from penstock.events import Event
from penstock.stores.books import book
from penstock.stores.connection import Connection, Database, Row, as_columns

TIMELINE_LIMIT = 1000


class Events:
    """Reads and writes the events."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("penstock.stores", database.dialect, "events")

    def record(self, connection: Connection, told: Sequence[Event]) -> None:
        """Write events in the transaction of what they describe."""
        if not told:
            return
        rows = [
            {
                "at": event.at,
                "tenant": event.tenant,
                "name": event.name,
                "job_id": event.job_id,
                "attempt": event.attempt,
                "fence": event.fence,
                "worker": event.worker,
                "actor": event.actor,
                "data": as_text(event.data),
            }
            for event in told
        ]
        connection.each(self._book["record"], as_columns(rows), {"now": self._db.clock.now()})

    def of_job(self, job_id: str, limit: int = TIMELINE_LIMIT) -> list[Event]:
        """The written events of one job, in the order of commits."""
        return self._read("of_job", {"id": job_id, "limit": limit}) if is_id(job_id) else []

    def since(self, after: int, *, tenant: str | None = None, name: str | None = None, limit: int = 100) -> list[Event]:
        """Events after a place in the order of commits."""
        return self._read("since", {"after": after, "tenant": tenant, "name": name, "limit": limit})

    def latest(self, *, tenant: str | None = None, name: str | None = None, limit: int = 100) -> list[Event]:
        """The newest events, the oldest of them first."""
        return self._read("latest", {"tenant": tenant, "name": name, "limit": limit})[::-1]

    def prune(self, age_seconds: float, limit: int) -> int:
        """Remove events older than an age: the one way by which events go."""
        params = {"age_us": round(age_seconds * SECOND), "limit": limit, "now": self._db.clock.now()}

        def work(connection: Connection) -> int:
            connection.all(self._book["permit_retention"], {})
            gone = connection.all(self._book["prune"], params)
            connection.all(self._book["forbid_retention"], {})
            return len(gone)

        return self._db.transact(work)

    def _read(self, entry: str, params: dict[str, object]) -> list[Event]:
        rows = self._db.read(lambda connection: connection.all(self._book[entry], params))
        return [_event(row) for row in rows]


def as_text(data: Mapping[str, Any]) -> str:
    """What an event says, as it is written."""
    return json.dumps(data, sort_keys=True)


def _event(row: Row) -> Event:
    name, tenant, job_id, attempt, fence, worker, actor, at, data, seq = row
    return Event(name, tenant, job_id, attempt, fence, worker, actor, at, json.loads(data), seq)
