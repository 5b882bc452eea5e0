"""The rows of sources: declared by code, changed and closed by people, read by both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from penstock import events
from penstock.clock import SECOND, Instant
from penstock.engine.job import DEFAULT_TENANT
from penstock.engine.source import FOREVER, Closing, Figures, Standing
from penstock.errors import NotFound
from penstock.events import Event
from penstock.stores.books import book
from penstock.stores.connection import Connection, Database, Row, first
from penstock.stores.events import Events
from penstock.stores.source_line import Line


@dataclass(frozen=True, slots=True)
class Source:
    """A source as people see it."""

    key: str
    figures: Figures
    """What is in force."""
    declared: Figures
    overridden: dict[str, Any]
    overridden_by: str | None
    standing: Standing
    paused_at: Instant | None
    paused_by: str | None
    paused_reason: str | None
    failure_streak: int
    last_success_at: Instant | None
    last_failure_at: Instant | None
    has_credential: bool
    breaker_since: Instant | None
    created_at: Instant
    updated_at: Instant

    @property
    def closing(self) -> Closing | None:
        """The gate that is closed for everybody at the moment, if one is."""
        return self.standing.closing(self.standing.asked_at)


@dataclass(frozen=True, slots=True)
class Traffic:
    """What went through a source in a stretch of time."""

    source: str
    requests: int
    failed: int
    throttled: int
    sent_bytes: int
    received_bytes: int
    busy_seconds: float


class SourceRows:
    """What sources allow and how they stand."""

    def __init__(self, database: Database, record: Events, line: Line) -> None:
        self._db = database
        self._events = record
        self._line = line
        self._book = book("penstock.stores", database.dialect, "sources")

    def declare(self, key: str, figures: Figures, credential: str | None = None) -> bool:
        """Make a source known as the code says it; False where nothing changed. What a person said stays in force."""

        def work(connection: Connection) -> bool:
            row = first(connection.all(self._book["hold"], self._named(key)))
            said = json.loads(row[1]) if row is not None and row[1] else {}
            params = {
                **self._named(key),
                "declared": _written(figures),
                "credential": credential,
                **_in_force(figures.changed(said)),
            }
            changed = bool(connection.all(self._book["declare"], params))
            if changed:
                self._tell(connection, events.SOURCE_DECLARED, key, "", **asdict(figures))
            return changed

        changed = self._db.transact(work)
        if changed:
            self.realign(key)
        return changed

    def override(self, key: str, said: Mapping[str, Any] | None, *, actor: str) -> None:
        """Change figures of a source until this is taken back, which None does."""

        def work(connection: Connection) -> None:
            declared, before, _, _ = self._hold(connection, key)
            merged = None if said is None else {**(json.loads(before) if before else {}), **said}
            figures = Figures(**json.loads(declared)).changed(merged or {})
            written = json.dumps(merged, sort_keys=True) if merged else None
            params = {**self._named(key), "overridden": written, "actor": actor if merged else None}
            connection.all(self._book["override"], params | _in_force(figures))
            self._tell(connection, events.SOURCE_CHANGED, key, actor, figures=merged or {})

        self._db.transact(work)
        self.realign(key)

    def pause(self, key: str, *, actor: str, reason: str, seconds: float | None = None) -> None:
        """Let nobody through, for a time or until somebody resumes it."""

        def work(connection: Connection) -> None:
            for_us = FOREVER if seconds is None else round(seconds * SECOND)
            params = {**self._named(key), "actor": actor, "reason": reason, "for_us": for_us, "forever": FOREVER}
            if not connection.all(self._book["pause"], params):
                raise _unknown(key)
            self._tell(connection, events.SOURCE_PAUSED, key, actor, reason=reason, seconds=seconds)

        self._db.transact(work)
        self.realign(key)

    def resume(self, key: str, *, actor: str) -> bool:
        """Open what a person or the breaker closed, and wake who waits; False where nothing was closed."""

        def work(connection: Connection) -> tuple[bool, int]:
            _, _, paused_at, now = self._hold(connection, key)
            changed = bool(connection.all(self._book["resume"], self._named(key)))
            if changed:
                self._tell(connection, events.SOURCE_RESUMED, key, actor)
            return changed, 0 if paused_at is None else max(0, now - paused_at)

        changed, paused_us = self._db.transact(work)
        if changed:
            self._line.respread(key, paused_us)
        return changed

    def realign(self, key: str) -> int:
        """Give the waiters of a source turns that fit how it stands now."""
        return self._line.respread(key)

    def get(self, key: str) -> Source:
        """One source."""
        found = self._read(key)
        if not found:
            raise _unknown(key)
        return found[0]

    def all(self) -> list[Source]:
        """All sources, by name."""
        return self._read(None)

    def standing(self, key: str) -> Standing | None:
        """How a source stands at this moment; None where there is none of that name."""
        row = self._db.read(lambda connection: first(connection.all(self._book["standing"], self._named(key))))
        return None if row is None else Standing(*row)

    def traffic(self, minutes: int, key: str | None = None) -> dict[str, Traffic]:
        """What went through in the last minutes, by source."""
        params = {"key": key, "minutes": minutes, "now": self._db.clock.now()}
        rows = self._db.read(lambda connection: connection.all(self._book["traffic"], params))
        return {
            key: Traffic(
                key, int(requests), int(failed), int(throttled), int(sent), int(received), int(busy_us) / SECOND
            )
            for key, requests, failed, throttled, sent, received, busy_us in rows
        }

    def prune_traffic(self, age_seconds: float, limit: int) -> None:
        """Remove the counts of minutes older than an age."""
        params = {"age_us": round(age_seconds * SECOND), "limit": limit, "now": self._db.clock.now()}
        self._db.transact(lambda connection: connection.all(self._book["prune_traffic"], params))

    def _read(self, key: str | None) -> list[Source]:
        def work(connection: Connection) -> list[Source]:
            rows = connection.all(self._book["list"], {"key": key})
            return [_source(row, connection.all(self._book["standing"], self._named(row[0]))[0]) for row in rows]

        return self._db.read(work)

    def _hold(self, connection: Connection, key: str) -> Row:
        row = first(connection.all(self._book["hold"], self._named(key)))
        if row is None:
            raise _unknown(key)
        return row

    def _named(self, key: str) -> dict[str, Any]:
        return {"key": key, "now": self._db.clock.now()}

    def _tell(self, connection: Connection, name: str, key: str, actor: str, **data: Any) -> None:
        self._events.record(
            connection, [Event(name, DEFAULT_TENANT, actor=actor or None, data={"source": key, **data})]
        )


def told_of_leaving(key: str, row: Row, park_us: int) -> list[Event]:
    """What the end of a request changed, where it changed something."""
    breaker, changed, open_until, streak, parked_until, now, _ = row
    told = []
    if changed and breaker == "closed":
        told.append(Event(events.SOURCE_CLOSED, DEFAULT_TENANT, data={"source": key}))
    elif changed:
        gate = "credential" if breaker == "refused" else "breaker"
        seconds = None if breaker == "refused" else (open_until - now) / SECOND
        data = {"source": key, "gate": gate, "seconds": seconds, "failure_streak": streak}
        told.append(Event(events.SOURCE_OPENED, DEFAULT_TENANT, data=data))
    if park_us and parked_until == now + park_us:
        data = {"source": key, "seconds": park_us / SECOND}
        told.append(Event(events.SOURCE_PARKED, DEFAULT_TENANT, data=data))
    return told


def _source(row: Row, standing: Row) -> Source:
    key, declared, overridden, by, *rest = row
    said = json.loads(overridden) if overridden else {}
    code = Figures(**json.loads(declared))
    paused_at, paused_by, reason, streak, succeeded, failed, credential, since, created, updated = rest
    return Source(
        key, code.changed(said), code, said, by, Standing(*standing), paused_at, paused_by, reason, streak, succeeded,
        failed, credential is not None, since, created, updated,
    )  # fmt: skip


def _written(figures: Figures) -> str:
    return json.dumps(asdict(figures), sort_keys=True)


def _in_force(figures: Figures) -> dict[str, Any]:
    return {
        "enabled": figures.enabled,
        "interval_us": figures.interval_us,
        "burst": figures.burst,
        "concurrency": figures.concurrency,
        "budget": figures.budget,
        "breaker_failures": figures.breaker_failures,
        "cool_down_us": figures.breaker_cool_down_us,
    }


def _unknown(key: str) -> NotFound:
    return NotFound("source", key, hint="See those that there are with: penstock source list")
