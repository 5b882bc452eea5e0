"""The record of what happened: written beside what it describes, never changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from haulwright.clock import SECOND
from haulwright.engine.ids import is_id
from haulwright.events import Event
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database, Row, as_columns

TIMELINE_LIMIT = 1000
_END = 2**63 - 1


class Events:
    """Reads and writes the events."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("haulwright.stores", database.dialect, "events")

    def record(self, connection: Connection, events: Sequence[Event]) -> None:
        """Write events in the transaction of what they describe."""
        if not events:
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
            for event in events
        ]
        connection.run_batch(self._book["record"], as_columns(rows), {"now": self._db.clock.now()})

    def of_job(self, job_id: str, limit: int = TIMELINE_LIMIT, *, after: int = 0) -> list[Event]:
        """The written events of one job after a place in the order of commits."""
        return self._read("of_job", {"id": job_id, "after": after, "limit": limit}) if is_id(job_id) else []

    def since(self, after: int, *, tenant: str | None = None, name: str | None = None, limit: int = 100) -> list[Event]:
        """Events after a place in the order of commits."""
        return self._read("since", {"after": after, "tenant": tenant, "name": name, "limit": limit})

    def latest(
        self, *, tenant: str | None = None, name: str | None = None, limit: int = 100, before: int = _END
    ) -> list[Event]:
        """The newest events before a place in the order of commits, the oldest of them first."""
        return self._read("latest", {"tenant": tenant, "name": name, "limit": limit, "before": before})[::-1]

    def prune(self, age_seconds: float, limit: int) -> int:
        """Remove events older than an age: the one way by which events go."""
        params = {"age_us": round(age_seconds * SECOND), "limit": limit, "now": self._db.clock.now()}

        def work(connection: Connection) -> int:
            connection.run(self._book["permit_retention"], {})
            rows = connection.run(self._book["prune"], params)
            connection.run(self._book["forbid_retention"], {})
            return len(rows)

        return self._db.transact(work, rows=limit)

    def _read(self, entry: str, params: dict[str, object]) -> list[Event]:
        rows = self._db.read(lambda connection: connection.run(self._book[entry], params))
        return [_event(row) for row in rows]


def as_text(data: Mapping[str, Any]) -> str:
    """What an event says, as it is written."""
    return json.dumps(data, sort_keys=True)


def _event(row: Row) -> Event:
    name, tenant, job_id, attempt, fence, worker, actor, at, data, seq = row
    return Event(name, tenant, job_id, attempt, fence, worker, actor, at, json.loads(data), seq)
