"""Connections of tenants: from what to where Airbyte syncs for whom, how often, and with which credential."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from haulwright.apps.syncs.credentials import SHARED, check_credential
from haulwright.apps.syncs.errors import ActiveJobExists
from haulwright.apps.syncs.plans import FREE, Plan, plan_named
from haulwright.clock import Instant
from haulwright.engine.durations import Duration
from haulwright.engine.names import check_name
from haulwright.errors import Conflict, InvalidValue, NotFound
from haulwright.events import Event
from haulwright.stores.paging import Page, check_page, cursor_of, page_of, read_cursor

if TYPE_CHECKING:
    from haulwright.application import Tables, Writing
    from haulwright.apps.syncs.airbyte_clients import AirbyteClients
    from haulwright.stores.connection import Row

PLAN_CHANGED: Final = "plan.changed"
CONNECTION_ADDED: Final = "connection.added"
CONNECTION_CHANGED: Final = "connection.changed"
CONNECTION_REMOVED: Final = "connection.removed"
PAGE: Final = 500
MOST_PAGES: Final = 200
LONGEST_ACCOUNT_CHARS: Final = 150
ENABLED_PLACE: Final = 8
"""The column of a row that SQLite has as a number."""


@dataclass(frozen=True, slots=True)
class NewConnection:
    """A connection that somebody wants to have synced."""

    connector_id: str
    airbyte_id: str
    external_account_id: str
    workspace_id: str | None = None
    """None takes the workspace of the settings."""
    cadence: Duration | None = None
    """None takes what the plan gives."""
    credential: str = SHARED
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class SyncConnection:
    """A connection as it stands."""

    tenant: str
    connector_id: str
    airbyte_id: str
    workspace_id: str
    external_account_id: str
    credential: str
    cadence_us: int | None
    """As it was asked for."""
    interval_us: int
    """What is in force: the cadence within what the plan allows."""
    enabled: bool
    due_at: Instant
    triggered_at: Instant | None
    synced_at: Instant | None
    last_run_id: int | None
    """The newest run of it at Airbyte that we know."""


class Connections:
    """The connections and plans of all tenants. Every read names its tenant."""

    def __init__(self, tables: Tables, clients: AirbyteClients, workspace_id: str | None) -> None:
        self._tables = tables
        self._clients = clients
        self._workspace_id = workspace_id
        self._plans = clients.limits.plans

    def plan(self, tenant: str) -> Plan:
        """The plan of a tenant; free, where nobody gave it one."""
        rows = self._tables.read("tenants.plan_of", tenant=tenant)
        return plan_named(rows[0][0] if rows else FREE, self._plans)

    def set_plan(self, tenant: str, name: str, *, actor: str) -> int:
        """Give a tenant a plan, and return how many connections keep to it from now on."""
        plan, owner = plan_named(name, self._plans), check_name("tenant", tenant)

        def work(writing: Writing) -> int:
            writing.run("tenants.set_plan", tenant=owner, plan=plan.name)
            rows = writing.run("tenants.refit", tenant=owner, floor_us=plan.floor_us, is_fixed=plan.is_fixed)
            writing.record(Event(PLAN_CHANGED, owner, actor=actor, data={"plan": plan.name, "connections": len(rows)}))
            return len(rows)

        return self._tables.transact(work)

    def add(self, tenant: str, new: NewConnection, *, actor: str) -> SyncConnection:
        """Have a connection synced from now on. What cannot work is refused before anything is written."""
        row = self._checked(check_name("tenant", tenant), new)

        def work(writing: Writing) -> None:
            if new.credential != SHARED and self._tables.across(
                writing, "connections.foreign_credential", credential=new.credential, tenant=tenant
            ):
                message = f"The credential {new.credential} cannot be used here."
                raise Conflict(message, hint="Give the tenant a credential of its own.")
            if not writing.run("connections.add", **row):
                message = (
                    f"The connection {new.connector_id} cannot be added: it, or its Airbyte connection, is in use."
                )
                raise Conflict(message, hint=f"See those of the tenant with: haulwright sync list --tenant {tenant}")
            data = {"connector_id": new.connector_id, "external_account_id": new.external_account_id}
            writing.record(Event(CONNECTION_ADDED, tenant, actor=actor, data=data))

        self._tables.transact(work)
        return self.get(tenant, new.connector_id)

    def enable(self, tenant: str, connector_id: str, *, enabled: bool, actor: str) -> SyncConnection:
        """Sync a connection, or leave it alone until it is enabled again."""

        def work(writing: Writing) -> None:
            if not writing.run("connections.enable", tenant=tenant, connector_id=connector_id, enabled=enabled):
                raise _unknown(connector_id)
            data = {"connector_id": connector_id, "enabled": enabled}
            writing.record(Event(CONNECTION_CHANGED, tenant, actor=actor, data=data))

        self._tables.transact(work)
        return self.get(tenant, connector_id)

    def remove(self, tenant: str, connector_id: str, *, task: str, cancel: bool, actor: str) -> str | None:
        """Forget a connection, and return the job of a sync that is still to be cancelled. Its past stays."""

        def work(writing: Writing) -> str | None:
            key = {"tenant": tenant, "connector_id": connector_id}
            rows = writing.run("connections.remove", **key)
            if not rows:
                raise _unknown(connector_id)
            active = writing.run("connections.active", **key, task=task)
            job_id = str(active[0][0]) if active else None
            if job_id is not None and not cancel:
                hint = "Wait until it is over, or cancel it as well: --cancel."
                raise ActiveJobExists(connector_id, job_id, hint=hint)
            data = {"connector_id": connector_id, "external_account_id": rows[0][0], "cancelled": job_id}
            writing.record(Event(CONNECTION_REMOVED, tenant, actor=actor, data=data))
            return job_id

        return self._tables.transact(work)

    def get(self, tenant: str, connector_id: str) -> SyncConnection:
        """One connection. That of another tenant looks exactly like an absent one."""
        connection = self.find(tenant, connector_id)
        if connection is None:
            raise _unknown(connector_id)
        return connection

    def find(self, tenant: str, connector_id: str) -> SyncConnection | None:
        """One connection, or None."""
        rows = self._tables.read("connections.get", tenant=tenant, connector_id=connector_id)
        return _connection(rows[0]) if rows else None

    def all(self, tenant: str | None = None) -> Iterator[SyncConnection]:
        """The connections of a tenant, or of all, page by page."""
        after: str | None = None
        for _ in range(MOST_PAGES):
            page = self.page(tenant, after=after, limit=PAGE)
            yield from page.rows
            if page.next is None:
                return
            after = page.next

    def page(self, tenant: str | None, *, after: str | None, limit: int) -> Page[SyncConnection]:
        """Some connections of a tenant, or of all, by their names."""
        after_tenant, after_connector = ("", "") if after is None else read_cursor(after, str, str)
        place = {"tenant": tenant, "after_tenant": after_tenant, "after_connector": after_connector}
        rows = self._tables.read("connections.list", **place, limit=check_page(limit) + 1)
        return page_of([_connection(row) for row in rows], limit, lambda row: cursor_of(row.tenant, row.connector_id))

    def _checked(self, tenant: str, new: NewConnection) -> dict[str, Any]:
        workspace_id = new.workspace_id or self._workspace_id
        if not workspace_id:
            hint = "Name one, or set AIRBYTE_WORKSPACE_ID."
            raise InvalidValue("workspace", new.workspace_id, "is missing", hint=hint)
        account = check_name("external account", new.external_account_id)
        if len(account) > LONGEST_ACCOUNT_CHARS:
            raise InvalidValue("external account", account, f"has more than {LONGEST_ACCOUNT_CHARS} characters")
        if not self._clients.knows(check_credential(new.credential)):
            hint = "Set AIRBYTE_CLIENT_ID and AIRBYTE_CLIENT_SECRET, or AIRBYTE_API_TOKEN"
            ending = "." if new.credential == SHARED else f", each with _{new.credential.upper().replace('-', '_')}."
            raise InvalidValue("credential", new.credential, "is not known here", hint=hint + ending)
        plan = self.plan(tenant)
        cadence_us = plan.cadence_us(new.cadence)
        return {
            "tenant": tenant,
            "connector_id": check_name("connection", new.connector_id),
            "airbyte_id": check_name("Airbyte connection", new.airbyte_id),
            "workspace_id": check_name("workspace", workspace_id),
            "external_account_id": account,
            "credential": new.credential,
            "cadence_us": cadence_us,
            "interval_us": plan.interval_us(cadence_us),
            "enabled": new.enabled,
        }


def _unknown(connector_id: str) -> NotFound:
    return NotFound("connection", connector_id, hint="See those that there are with: haulwright sync list")


def _connection(row: Row) -> SyncConnection:
    values: list[Any] = list(row)
    values[ENABLED_PLACE] = bool(values[ENABLED_PLACE])
    return SyncConnection(*values)
