"""The rows of sources: declared by code, changed and closed by people, read by both."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from haulwright import events
from haulwright.clock import SECOND, Instant
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.engine.source import FOREVER, Closing, SourceLimits, SourceState
from haulwright.errors import NotFound, UnreadableRow
from haulwright.events import Event, given_reason
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database, Row, first
from haulwright.stores.events import Events
from haulwright.stores.paging import PAGE_LIMIT, Page, check_page, every_row, page_of
from haulwright.stores.pauses import Pauses
from haulwright.stores.sources.waiters import SourceWaiters
from haulwright.stores.stored_fields import fields_of

_FIGURES = tuple(field.name for field in fields(SourceLimits))


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source as people see it."""

    key: str
    figures: SourceLimits
    """What is in force."""
    declared: SourceLimits
    overridden: dict[str, Any]
    overridden_by: str | None
    standing: SourceState
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
    unreadable: str | None = None
    """What of its row this version cannot read; then the figures are those that its gate goes by."""

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


class Sources:
    """What sources allow and how they stand."""

    def __init__(self, database: Database, record: Events, waiters: SourceWaiters, pauses: Pauses) -> None:
        self._db = database
        self._events = record
        self._waiters = waiters
        self._pauses = pauses
        self._book = book("haulwright.stores", database.dialect, "sources")

    def declare(self, key: str, figures: SourceLimits, credential: str | None = None) -> bool:
        """Make a source known as the code says it; False where nothing changed. What a person said stays in force."""

        def work(connection: Connection) -> bool:
            row = first(connection.run(self._book["hold"], self._named(key)))
            try:
                overrides = {} if row is None else _overrides(row[1])
            except ValueError:
                return False  # what a person said cannot be read here, so it stays in force as it is
            params = {
                **self._named(key),
                "declared": _written(figures),
                "credential": credential,
                **_in_force(figures.changed(overrides)),
            }
            changed = bool(connection.run(self._book["declare"], params))
            if changed:
                self._tell(connection, events.SOURCE_DECLARED, key, "", **asdict(figures))
            return changed

        changed = self._db.transact(work)
        if changed:
            self.realign(key)
        return changed

    def override(self, key: str, changes: Mapping[str, Any] | None, *, actor: str, reason: str = "") -> None:
        """Change figures of a source until this is taken back, which None does."""

        def work(connection: Connection) -> None:
            declared, before, *_ = self._hold(connection, key)
            try:
                merged = None if changes is None else {**_overrides(before), **changes}
                figures = _declared(declared).changed(merged or {})
            except ValueError as error:
                raise UnreadableRow("source", key, str(error)) from None
            written = json.dumps(merged, sort_keys=True) if merged else None
            params = {**self._named(key), "overridden": written, "actor": actor if merged else None}
            connection.run(self._book["override"], params | _in_force(figures))
            self._tell(connection, events.SOURCE_CHANGED, key, actor, figures=merged or {}, **given_reason(reason))

        self._db.transact(work)
        self.realign(key)

    def pause(self, key: str, *, actor: str, reason: str, seconds: float | None = None) -> None:
        """Let nobody through, for a time or until somebody resumes it."""

        def work(connection: Connection) -> None:
            _, _, paused_at, paused_until, now = self._hold(connection, key)
            if paused_at is not None and paused_until <= now:  # it ended by itself, and is written over
                self._pauses.record(connection, "source", key, paused_at, paused_until)
            for_us = FOREVER if seconds is None else round(seconds * SECOND)
            params = {**self._named(key), "actor": actor, "reason": reason, "for_us": for_us, "forever": FOREVER}
            connection.run(self._book["pause"], params)
            self._tell(connection, events.SOURCE_PAUSED, key, actor, reason=reason, seconds=seconds)

        self._db.transact(work)
        self.realign(key)

    def resume(self, key: str, *, actor: str, reason: str = "") -> bool:
        """Open what a person or the breaker closed, and wake who waits; False where nothing was closed."""

        def work(connection: Connection) -> tuple[bool, int]:
            _, _, paused_at, paused_until, now = self._hold(connection, key)
            changed = bool(connection.run(self._book["resume"], self._named(key)))
            if not changed or paused_at is None:
                paused_us = 0
            else:
                ended_at = min(paused_until, now)
                self._pauses.record(connection, "source", key, paused_at, ended_at)
                paused_us = max(0, ended_at - paused_at)
            if changed:
                self._tell(connection, events.SOURCE_RESUMED, key, actor, **given_reason(reason))
            return changed, paused_us

        changed, paused_us = self._db.transact(work)
        if changed:
            self._waiters.reschedule_waiters(key, paused_us)
        return changed

    def realign(self, key: str) -> int:
        """Give the waiters of a source turns that fit how it stands now: it was changed."""
        self._db.process.open_sources.forget(key)
        return self._waiters.reschedule_waiters(key)

    def get(self, key: str) -> SourceRow:
        """One source."""
        rows = self._read(key, None, 1)
        if not rows:
            raise _unknown(key)
        return rows[0]

    def page(self, *, after: str | None = None, limit: int = 50) -> Page[SourceRow]:
        """The sources by name, a page at a time; `after` is a name."""
        return page_of(self._read(None, after, check_page(limit) + 1), limit, lambda row: row.key)

    def unreadable(self) -> list[UnreadableRow]:
        """The sources that this version cannot read."""

        def read(after: str | None) -> Page[UnreadableRow | None]:
            params = {"key": None, "after": after, "limit": PAGE_LIMIT}
            rows = self._db.read(lambda connection: connection.run(self._book["list"], params))
            return Page([_trouble(row) for row in rows], rows[-1][0] if len(rows) == PAGE_LIMIT else None)

        return [row for row in every_row(read) if row is not None]

    def standing(self, key: str) -> SourceState | None:
        """How a source stands at this moment; None where there is none of that name."""
        row = self._db.read(lambda connection: first(connection.run(self._book["standing"], self._named(key))))
        return None if row is None else SourceState(*row)

    def traffic(self, minutes: int, keys: Collection[str] | None = None) -> dict[str, Traffic]:
        """What went through in the last minutes, by source; of these sources or of all."""
        params: dict[str, Any] = {"minutes": minutes, "now": self._db.clock.now()}
        entry = self._book["traffic"]
        if keys is not None:
            params["keys"], entry = list(keys), self._book["traffic_of"]
        rows = self._db.read(lambda connection: connection.run(entry, params))
        return {
            key: Traffic(
                key, int(requests), int(failed), int(throttled), int(sent), int(received), int(busy_us) / SECOND
            )
            for key, requests, failed, throttled, sent, received, busy_us in rows
        }

    def prune_traffic(self, age_seconds: float, limit: int) -> int:
        """Remove the counts of minutes older than an age."""
        params = {"age_us": round(age_seconds * SECOND), "limit": limit, "now": self._db.clock.now()}
        return len(self._db.transact(lambda c: c.run(self._book["prune_traffic"], params), rows=limit))

    def _read(self, key: str | None, after: str | None, limit: int) -> list[SourceRow]:
        def work(connection: Connection) -> list[SourceRow]:
            rows = connection.run(self._book["list"], {"key": key, "after": after, "limit": limit})
            return [_source(row, connection.run(self._book["standing"], self._named(row[0]))[0]) for row in rows]

        return self._db.read(work)

    def _hold(self, connection: Connection, key: str) -> Row:
        row = first(connection.run(self._book["hold"], self._named(key)))
        if row is None:
            raise _unknown(key)
        return row

    def _named(self, key: str) -> dict[str, Any]:
        return {"key": key, "now": self._db.clock.now()}

    def _tell(self, connection: Connection, name: str, key: str, actor: str, **data: Any) -> None:
        self._events.record(
            connection, [Event(name, DEFAULT_TENANT, actor=actor or None, data={"source": key, **data})]
        )


def _declared(text: str) -> SourceLimits:
    return SourceLimits(**fields_of("what the code declared", text, _FIGURES))


def _overrides(text: str | None) -> dict[str, Any]:
    return fields_of("what a person changed", text, _FIGURES) if text else {}


def _trouble(row: Row) -> UnreadableRow | None:
    key, declared, overridden, *_ = row
    try:
        _declared(declared), _overrides(overridden)
    except ValueError as error:
        return UnreadableRow("source", key, str(error))
    return None


def _source(row: Row, standing: Row) -> SourceRow:
    key, declared, overridden, by, *rest = row
    state, unreadable = SourceState(*standing), None
    overrides: dict[str, Any] = {}
    try:
        overrides, code = _overrides(overridden), _declared(declared)
    except ValueError as error:
        unreadable, code = str(error), state.limits
    paused_at, paused_by, reason, streak, succeeded, failed, credential, since, created, updated = rest
    return SourceRow(
        key, code.changed(overrides), code, overrides, by, state, paused_at, paused_by, reason, streak,
        succeeded, failed, credential is not None, since, created, updated, unreadable,
    )  # fmt: skip


def _written(figures: SourceLimits) -> str:
    return json.dumps(asdict(figures), sort_keys=True)


def _in_force(figures: SourceLimits) -> dict[str, Any]:
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
    return NotFound("source", key, hint="See those that there are with: haulwright source list")
