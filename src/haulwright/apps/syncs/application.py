"""Syncs on an app: its tasks, its schedule, its source, and the doors for people and programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from haulwright import Retry, UniqueBy
from haulwright.application import Application, verb
from haulwright.apps.syncs import SPEC
from haulwright.apps.syncs.airbyte_clients import AirbyteClients
from haulwright.apps.syncs.connections import Connections, NewConnection, SyncConnection
from haulwright.apps.syncs.credentials import Vault, from_environment
from haulwright.apps.syncs.dispatch import Dispatch
from haulwright.apps.syncs.plans import Plan
from haulwright.apps.syncs.poll import Poll, Polls
from haulwright.apps.syncs.runs import Runs
from haulwright.apps.syncs.settings import AirbyteSettings, SyncSettings
from haulwright.apps.syncs.stats import MOST_ROWS, Stats
from haulwright.apps.syncs.sync import Sync
from haulwright.apps.syncs.views import SyncJobView, SyncStatsView
from haulwright.engine.job import Enqueued
from haulwright.errors import Conflict, InvalidValue, NotFound
from haulwright.operations.access import EVERYBODY, SUPPORT
from haulwright.stores.paging import Page

if TYPE_CHECKING:
    from haulwright import Haulwright, Principal

QUEUE = "syncs"
FACTS = ("connector_id", "external_account_id", "run_id", "records_synced", "bytes_synced", "duration_seconds")


class Syncs(Application):
    """The Airbyte connections of many tenants: plans, connections, syncs, and what operators ask about them."""

    spec = SPEC
    verbs: ClassVar = {
        "syncs.read": EVERYBODY,
        "syncs.change": EVERYBODY,
        "syncs.dispatch": EVERYBODY,
        "syncs.plan": SUPPORT,
        "syncs.requeue": SUPPORT,
    }

    def __init__(
        self,
        app: Haulwright,
        *,
        limits: SyncSettings | None = None,
        vault: Vault = from_environment,
        base_url: str | None = None,
        workspace_id: str | None = None,
    ) -> None:
        super().__init__(app)
        airbyte = AirbyteSettings.load()
        self.limits = limits or SyncSettings.load()
        self.clients = AirbyteClients(app, base_url or airbyte.base_url, self.limits, vault)
        self.connections = Connections(self.tables, self.clients, workspace_id or airbyte.workspace_id)
        self.runs = Runs(self.tables)
        self.stats = Stats(self.tables)
        self._declare_tasks(self.limits.cron)
        self.clients.declare_shared()

    def _declare_tasks(self, cron: str) -> None:
        declare = self.task
        # A poll goes on for as long as syncs are under way, and is never a dead letter: the dispatch begins another.
        self.poll_task = declare(
            name="syncs.poll",
            queue=QUEUE,
            priority=10,
            unique=UniqueBy(("credential", "workspace_id")),
            retry=Retry(100),
            timeout="100 s",
            deadline=None,
        )(Poll(self.tables, self.runs, self.clients).run)
        self._polls = Polls(self.poll_task)
        self.sync_task = declare(
            name="syncs.sync",
            queue=QUEUE,
            unique="connector_id",
            retry=self.limits.retry,
            timeout="100 s",
            event_fields=FACTS,
        )(Sync(self.tables, self.connections, self.runs, self.clients, self._polls).run)
        self._dispatch = Dispatch(self.app, self.tables, self.connections, self.sync_task, self._polls)
        self.dispatch_task = declare(name="syncs.dispatch", queue=QUEUE, priority=20, retry=3, timeout="100 s")(
            self._dispatch.run
        )
        self.app.schedule("syncs", cron, self.dispatch_task)

    @verb("syncs.read")
    def get_plan(self, principal: Principal) -> Plan:
        """The plan of a tenant."""
        return self.connections.plan(principal.acting_tenant)

    @verb("syncs.plan")
    def set_plan(self, principal: Principal, name: str) -> int:
        """Give a tenant another plan, and return how many connections were fitted to it."""
        return self.connections.set_plan(principal.acting_tenant, name, actor=principal.actor)

    @verb("syncs.change")
    def add(self, principal: Principal, new: NewConnection, *, check: bool = False) -> SyncConnection:
        """Have a connection synced from now on; with `check`, Airbyte is asked first whether it is as it was told."""
        if check:
            self._check(new)
        return self.connections.add(principal.acting_tenant, new, actor=principal.actor)

    @verb("syncs.change")
    def enable(self, principal: Principal, connector_id: str, *, enabled: bool) -> SyncConnection:
        """Sync a connection again, or leave it alone. A sync that is under way goes on."""
        return self.connections.enable(principal.acting_tenant, connector_id, enabled=enabled, actor=principal.actor)

    @verb("syncs.change")
    def remove(self, principal: Principal, connector_id: str, *, cancel: bool = False) -> str | None:
        """Forget a connection; with `cancel` a sync of it that is not finished is cancelled, and its job returned.

        Its runs, jobs and events stay, and its name is free again.
        """
        tenant, actor = principal.acting_tenant, principal.actor
        job_id = self.connections.remove(tenant, connector_id, task=self.sync_task.name, cancel=cancel, actor=actor)
        if job_id is not None:
            with suppress(Conflict, NotFound):  # it has just ended
                self.app.store.jobs.cancel(job_id, tenant=tenant, reason="its connection is removed", actor=actor)
        return job_id

    @verb("syncs.dispatch")
    def dispatch(
        self,
        principal: Principal,
        connector_id: str,
        *,
        external_account_id: str | None = None,
        correlation_id: str | None = None,
        connection: Any = None,
    ) -> str:
        """Enqueue a sync now and return its job. Only support goes below what the plan allows.

        `connection` is a connection of the caller's: the job commits or rolls back with the caller's rows.
        """
        return self._dispatch.by_hand(
            principal,
            connector_id,
            external_account_id=external_account_id,
            correlation_id=correlation_id,
            connection=connection,
        )

    @verb("syncs.requeue")
    def requeue(self, principal: Principal, job_id: str, *, correlation_id: str | None = None) -> Enqueued:
        """Give the dead letter of a sync another life as a new job that is linked to it. It takes support."""
        job = self.app.store.listing.find(job_id, principal.tenant)
        if job is not None and job.task != self.sync_task.name:
            raise NotFound("sync", job_id)
        return self.app.operations(principal).dead_letters.requeue(job_id, correlation_id=correlation_id)

    @verb("syncs.read")
    def list_connections(self, principal: Principal) -> Iterator[SyncConnection]:
        """The connections of a tenant, or of all."""
        return self.connections.all(principal.tenant)

    @verb("syncs.read")
    def page_connections(
        self, principal: Principal, *, after: str | None = None, limit: int = 50
    ) -> Page[SyncConnection]:
        """The same, a page at a time."""
        return self.connections.page(principal.tenant, after=after, limit=limit)

    @verb("syncs.read")
    def get_connection(self, principal: Principal, connector_id: str) -> SyncConnection:
        """One connection. That of another tenant looks exactly like an absent one."""
        return self.connections.get(principal.acting_tenant, connector_id)

    @verb("syncs.read")
    def find_connection(self, principal: Principal, connector_id: str) -> SyncConnection | None:
        """One connection, or None."""
        return self.connections.find(principal.acting_tenant, connector_id)

    @verb("syncs.read")
    def list_jobs(
        self,
        principal: Principal,
        *,
        connector_id: str | None = None,
        status: str | None = None,
        limit: int = MOST_ROWS,
    ) -> list[SyncJobView]:
        """The newest syncs of a tenant in the words of the document."""
        return self.stats.jobs(principal.acting_tenant, connector_id=connector_id, status=status, limit=limit)

    @verb("syncs.read")
    def get_job(self, principal: Principal, job_id: str) -> SyncJobView:
        """One sync in the words of the document."""
        return self.stats.job(principal.acting_tenant, job_id)

    @verb("syncs.read")
    def get_stats(self, principal: Principal) -> SyncStatsView:
        """Syncs counted by state, connection and error, of a tenant or of all."""
        return self.stats.all(principal.tenant)

    def _check(self, new: NewConnection) -> None:
        """Ask Airbyte about a connection before it is added; what does not fit is refused."""
        remote = self.clients.of(new.credential).connection(new.airbyte_id)
        if new.workspace_id and remote.workspace_id != new.workspace_id:
            why = f"is not where Airbyte has the connection: {remote.workspace_id}"
            raise InvalidValue("workspace", new.workspace_id, why)
        if not remote.is_active:
            why = f"is {remote.status} at Airbyte"
            raise InvalidValue("Airbyte connection", new.airbyte_id, why, hint="Activate it there first.")
