"""Configured sources: one gate for each, shared by the fleet, with its rules in the database."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from haulwright import Source
from haulwright.application.private_hosts import policy_of, require_public
from haulwright.apps.prices.rules import Rules
from haulwright.apps.prices.views import PriceSourceView
from haulwright.engine.names import check_name
from haulwright.engine.payload import canonical
from haulwright.engine.source import source_key
from haulwright.errors import NotFound
from haulwright.events import Event
from haulwright.settings import Settings
from haulwright.sources.http import Limits, Policy
from haulwright.sources.http.shared_client import SharedClient

if TYPE_CHECKING:
    from haulwright import Haulwright
    from haulwright.application import Tables, Writing
    from haulwright.stores.connection import Row

SOURCE_PUT: Final = "source.configured"
SOURCE_ENABLED: Final = "source.enabled"
MOST_SOURCES: Final = 1_000
DOORS_REMEMBERED: Final = 1_000
LARGEST_PAGE_BYTES: Final = 16 * 1024 * 1024
HEALTH: Final = (
    "id", "tenant", "name", "enabled", "rate_limit_per_minute", "failure_streak", "last_success_at", "last_failure_at",
    "paused_until",
)  # fmt: skip


@dataclass(frozen=True)
class PriceSource:
    """A source as it is configured."""

    tenant: str
    source_id: str
    """The key of its gate."""
    name: str
    raw_rules: Mapping[str, Any]
    """Its rules as they were written."""
    enabled: bool
    revision: int

    @cached_property
    def rules(self) -> Rules:
        """Its rules, ready to be gone by."""
        return Rules.from_dict(self.raw_rules)


class Door:
    """The way to one source, behind its gate."""

    def __init__(self, app: Haulwright, source: PriceSource, policy: Policy) -> None:
        self.revision = source.revision
        settings = Settings.load()
        allowed = replace(source.rules.source_limits(float(settings["cache_ttl_seconds"])), enabled=source.enabled)
        self.keep_us = (allowed.cache_ttl_us or 0) if settings["cache_enabled"] else 0
        """For how long an answer that could be read is kept."""
        self.gate = Source(
            app,
            source.source_id,
            allowed,
            policy=policy,
            limits=Limits(body_bytes=LARGEST_PAGE_BYTES, wire_bytes=LARGEST_PAGE_BYTES),
            robots=source.rules.robots,
        )
        app.sources[source.source_id] = self.gate
        self._doors = SharedClient(self.gate.http)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Source]:
        """The source for a while; the last user of an event loop closes its connections."""
        async with self._doors.enter():
            yield self.gate


class PriceSources:
    """The configured sources of all tenants. Every read of one names its tenant."""

    def __init__(self, app: Haulwright, tables: Tables, private_hosts: str) -> None:
        self._app = app
        self._tables = tables
        self._policy = policy_of(private_hosts)
        self._doors: dict[str, Door] = {}

    def put(self, tenant: str, name: str, raw_rules: Mapping[str, Any], *, actor: str = "app") -> PriceSource:
        """Configure a source, or give it other rules. What cannot be gone by is refused before anything is written."""
        source_id = source_id_of(tenant, name)
        require_public(Rules.from_dict(raw_rules).url, self._policy, "HAULWRIGHT_PRICES_PRIVATE_HOSTS")

        def work(writing: Writing) -> None:
            rules = canonical(dict(raw_rules), root="rules")
            if writing.run("sources.put", tenant=tenant, source_id=source_id, name=name, rules=rules):
                writing.record(Event(SOURCE_PUT, tenant, actor=actor, data={"source": source_id}))

        self._tables.transact(work)
        return self._declared(self.get(tenant, source_id))

    def enable(self, tenant: str, name: str, *, enabled: bool, actor: str = "app") -> PriceSource:
        """Collect from a source, or leave it alone until it is enabled again; jobs of it wait meanwhile."""
        source_id = source_id_of(tenant, name)

        def work(writing: Writing) -> None:
            if not writing.run("sources.enable", tenant=tenant, source_id=source_id, enabled=enabled):
                raise _unknown(name)
            writing.record(Event(SOURCE_ENABLED, tenant, actor=actor, data={"source": source_id, "enabled": enabled}))

        self._tables.transact(work)
        return self._declared(self.get(tenant, source_id))

    def get(self, tenant: str, name: str) -> PriceSource:
        """One source, by its name or its id. That of another tenant looks exactly like an absent one."""
        source = self.find(tenant, name if "@" in name else source_id_of(tenant, name))
        if source is None:
            raise _unknown(name)
        return source

    def find(self, tenant: str, source_id: str) -> PriceSource | None:
        """One source by its id, or None."""
        rows = self._tables.read("sources.get", tenant=tenant, source_id=source_id)
        return _source(rows[0]) if rows else None

    def all(self, tenant: str | None = None) -> list[PriceSource]:
        """The sources of a tenant, or of all."""
        return [_source(row) for row in self._tables.read("sources.list", tenant=tenant, limit=MOST_SOURCES)]

    def health(self, tenant: str | None = None) -> list[PriceSourceView]:
        """How the sources stand, in the words of the document."""
        rows = self._tables.read("sources.health", tenant=tenant, limit=MOST_SOURCES)
        standings = [dict(zip(HEALTH, map(_plain, row), strict=True)) | {"enabled": bool(row[3])} for row in rows]
        return cast("list[PriceSourceView]", standings)

    def door(self, source: PriceSource) -> Door:
        """The way to a source, made anew where its rules changed."""
        door = self._doors.get(source.source_id)
        if door is None or door.revision != source.revision:
            if len(self._doors) >= DOORS_REMEMBERED:
                self._doors.clear()
            door = self._doors[source.source_id] = Door(self._app, source, self._policy)
        return door

    def _declared(self, source: PriceSource) -> PriceSource:
        """The source with its gate made known to the database, so that it governs from the next claim on."""
        self.door(source).gate.declare()
        return source


def source_id_of(tenant: str, name: str) -> str:
    """The key of the gate of a tenant's source: nobody else's has it."""
    return source_key(f"price-{check_name('source', name)}", check_name("tenant", tenant))


def _source(row: Row) -> PriceSource:
    tenant, source_id, name, rules, enabled, revision = row
    return PriceSource(tenant, source_id, name, json.loads(rules), bool(enabled), revision)


def _unknown(name: str) -> NotFound:
    return NotFound("price source", name, hint="See those that there are with: haulwright price source")


def _plain(value: Any) -> Any:
    """A value as JSON has it; PostgreSQL's moments become text."""
    return value if value is None or isinstance(value, str | int | float) else str(value)
