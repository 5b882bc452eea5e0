"""The record of what happened: written beside what it describes, never changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from haulwright.clock import SECOND, Instant
from haulwright.engine.ids import is_id
from haulwright.engine.payload import clip, read_json
from haulwright.errors import InvalidValue
from haulwright.events import UNREADABLE, Event, request_id
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database, Row, as_columns
from haulwright.stores.spared import NO_EVENTS, Spared

TIMELINE_LIMIT = 1000
UNREADABLE_LIMIT_BYTES = 500
_END = 2**63 - 1
_LATEST = {
    (False, False): "latest",
    (True, False): "latest_of_tenant",
    (False, True): "latest_named",
    (True, True): "latest_of_tenant_named",
}
"""The entry for the newest events, by whether a tenant and a name are given."""
_PREPARED = "-1/"
"""How the name of a transaction begins that was prepared before the server started; it had another one then."""


class Place(NamedTuple):
    """How far a follower has come in the order of events.

    A number is given when an event is written, and others see it when its transaction commits: a smaller one may still
    be under way. So a follower notes what was written when it looked and who was writing then, and shows that when they
    have all ended.
    """

    after: int
    """Every event up to here was shown."""
    until: int = 0
    """Up to here it was written when the writers were looked at."""
    writers: tuple[str, ...] = ()
    """The transactions that were writing then, of those that may not have ended yet."""

    def still_writing(self, writers: Sequence[str]) -> tuple[str, ...]:
        """The transactions that this place waits for, of those that are writing now."""
        if not self.writers:
            return ()
        return tuple(writer for writer in writers if writer in self.writers or writer.startswith(_PREPARED))


class EventFilter(NamedTuple):
    """Which events somebody follows. None is no condition."""

    tenant: str | None = None
    name: str | None = None
    job_id: str | None = None


class RecoveryCount(NamedTuple):
    """Leases that were taken back."""

    detected_by: str | None
    """`worker_startup_recovery`: the start of a worker found them; `sweep`: they ran out under the eyes of another."""
    jobs: int
    last_at: Instant


class Events:
    """Reads and writes the events."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("haulwright.stores", database.dialect, "events")

    def record(self, connection: Connection, events: Sequence[Event]) -> None:
        """Write events in the transaction of what they describe."""
        if events:
            connection.run_batch(self._book["record"], as_columns(rows_of(events)), {"now": self._db.clock.now()})

    def of_job(self, job_id: str, limit: int = TIMELINE_LIMIT, *, after: int = 0) -> list[Event]:
        """The written events of one job after a place in the order of commits."""
        return self._read("of_job", {"id": job_id, "after": after, "limit": limit}) if is_id(job_id) else []

    def newest(self) -> int:
        """The place behind everything that was written so far, whoever has yet to commit it."""
        return self._db.read(self._written)

    def follow(
        self, place: Place, which: EventFilter | None = None, *, limit: int = 100, span: int | None = None
    ) -> tuple[list[Event], Place]:
        """The events after a place before which none can appear any more, and the place to follow from next.

        Each is shown once, in the order of their numbers, and the events of one job in the order of its commits: what
        writes them holds the job first. One look goes over at most `span` numbers, however few of them it is about.
        """
        chosen = which or EventFilter()

        def work(connection: Connection) -> tuple[list[Event], Place]:
            written = self._written(connection)
            if max(place.after, place.until) > written:
                raise beyond(place, written)
            if place.after == written:
                return [], place
            # Asked second: whoever was given a number up to `written` is among them, or has ended for all to see.
            writers = self._writers(connection)
            if waiting := place.still_writing(writers):
                return [], place._replace(writers=waiting)
            until = place.until if writers else written
            end = until if span is None else min(until, place.after + span)
            events = self._between(connection, chosen, {"after": place.after, "until": end, "limit": limit})
            if len(events) == limit:
                return events, Place(events[-1].seq or 0, until)
            if end < until:
                return events, Place(end, until)
            return events, Place(max(place.after, until), written, writers)

        return self._db.read(work)

    def latest(
        self, *, tenant: str | None = None, name: str | None = None, limit: int = 100, before: int = _END
    ) -> list[Event]:
        """The newest events before a place in the order of commits, the oldest of them first."""
        entry = _LATEST[tenant is not None, name is not None]
        return self._read(entry, {"tenant": tenant, "name": name, "limit": limit, "before": before})[::-1]

    def recoveries(self, since: Instant, tenant: str | None = None) -> list[RecoveryCount]:
        """How many leases were taken back since a moment, by how that was found out."""
        params = {"since": since, "tenant": tenant}
        rows = self._db.read(lambda connection: connection.run(self._book["recoveries"], params))
        return [RecoveryCount(*row) for row in rows]

    def prune(self, age_seconds: float, limit: int, spared: Spared = NO_EVENTS) -> int:
        """Remove events older than an age, but for those that are spared."""
        now = self._db.clock.now()
        params = {"age_us": round(age_seconds * SECOND), "limit": limit, "now": now, **spared.params}

        def work(connection: Connection) -> int:
            connection.run(self._book["permit_retention"], {})
            rows = connection.run(self._book["prune"], params)
            connection.run(self._book["forbid_retention"], {})
            return len(rows)

        return self._db.transact(work, rows=limit)

    def _read(self, entry: str, params: dict[str, object]) -> list[Event]:
        rows = self._db.read(lambda connection: connection.run(self._book[entry], params))
        return [_event(row) for row in rows]

    def _between(self, connection: Connection, which: EventFilter, span: dict[str, object]) -> list[Event]:
        params = {**span, "tenant": which.tenant, "name": which.name}
        if which.job_id is None:
            return [_event(row) for row in connection.run(self._book["between"], params)]
        if not is_id(which.job_id):
            return []
        return [_event(row) for row in connection.run(self._book["of_job_between"], {**params, "id": which.job_id})]

    def _written(self, connection: Connection) -> int:
        return int(connection.run(self._book["written"], {})[0][0])

    def _writers(self, connection: Connection) -> tuple[str, ...]:
        return tuple(writer for (writer,) in connection.run(self._book["writers"], {}))


def rows_of(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Events as they are written. What somebody caused has the id of a request: its own, or that of its writer."""
    asked = request_id.get()
    return [
        {
            "at": event.at,
            "tenant": event.tenant,
            "name": event.name,
            "job_id": event.job_id,
            "attempt": event.attempt,
            "fence": event.fence,
            "worker": event.worker,
            "actor": event.actor,
            "data": as_text({"request_id": asked, **event.data} if asked and event.actor else event.data),
        }
        for event in events
    ]


def as_text(data: Mapping[str, Any]) -> str:
    """What an event says, as it is written."""
    return json.dumps(data, sort_keys=True)


def beyond(place: Place, written: int) -> InvalidValue:
    """A place that this database never gave: events that it writes from now on would be taken for shown."""
    why = f"is beyond the newest event of this database, {written}: it belongs to another one, or to a later state"
    return InvalidValue("after", max(place.after, place.until), why, hint="Begin anew without it, or with 0.")


def _event(row: Row) -> Event:
    name, tenant, job_id, attempt, fence, worker, actor, at, data, seq = row
    fields = read_json(data, dict)
    shown = {UNREADABLE: clip(str(data), UNREADABLE_LIMIT_BYTES)} if fields is None else fields
    return Event(name, tenant, job_id, attempt, fence, worker, actor, at, shown, seq)
