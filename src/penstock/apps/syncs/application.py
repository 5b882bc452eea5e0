"""Syncs on an app: its tasks, its schedule, its source, and the doors for people and programs."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from penstock.apps.application import Application
from penstock.apps.syncs.connections import Connection, Connections, NewConnection
from penstock.apps.syncs.credentials import SHARED, Vault, from_environment
from penstock.apps.syncs.dispatch import Dispatch
from penstock.apps.syncs.limits import Limits
from penstock.apps.syncs.lines import Lines
from penstock.apps.syncs.poll import Poll
from penstock.apps.syncs.runs import Runs
from penstock.apps.syncs.stats import Stats
from penstock.apps.syncs.sync import Sync
from penstock.client.task import Call
from penstock.engine.job import DEFAULT_TENANT, Enqueued
from penstock.engine.retry import SYNCS, Retry
from penstock.engine.task import UniqueBy
from penstock.errors import Conflict, InvalidValue, NotFound
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.client.app import Penstock
    from penstock.client.principal import Principal

QUEUE = "syncs"
FACTS = ("connector_id", "external_account_id", "run_id", "records_synced", "bytes_synced", "duration_seconds")


class Syncs(Application):
    """The Airbyte connections of many tenants: plans, connections, syncs, and what operators ask about them."""

    name: ClassVar[str] = "syncs"

    def __init__(
        self,
        app: Penstock,
        *,
        limits: Limits | None = None,
        vault: Vault = from_environment,
        base_url: str | None = None,
        workspace_id: str | None = None,
    ) -> None:
        super().__init__(app)
        settings = Settings.load()
        self.limits = limits or Limits.load(settings)
        self.lines = Lines(app, base_url or str(settings["airbyte_base_url"]), self.limits, vault)
        self.connections = Connections(self.tables, self.lines, workspace_id or settings["airbyte_workspace_id"])
        self.runs = Runs(self.tables)
        self.stats = Stats(self.tables)
        self._dispatch = Dispatch(self)
        self._declare_tasks(settings["syncs_cron"])
        self.lines.declare_shared()

    def _declare_tasks(self, cron: str) -> None:
        declare = self.app.task
        self.sync_task = declare(
            name="syncs.sync", queue=QUEUE, unique="connector_id", retry=SYNCS, timeout="100 s", facts=FACTS
        )(Sync(self).run)
        # A poll goes on for as long as syncs are under way, and is never a dead letter: the dispatch begins another.
        self.poll_task = declare(
            name="syncs.poll",
            queue=QUEUE,
            priority=10,
            unique=UniqueBy(("credential", "workspace_id")),
            retry=Retry(100),
            timeout="100 s",
            deadline=None,
        )(Poll(self).run)
        self.dispatch_task = declare(name="syncs.dispatch", queue=QUEUE, priority=20, retry=3, timeout="100 s")(
            self._dispatch.run
        )
        self.app.schedule("syncs", cron, self.dispatch_task)

    def add(self, tenant: str, new: NewConnection, *, actor: str = "app", check: bool = False) -> Connection:
        """Have a connection synced from now on; with `check`, Airbyte is asked first whether it is as it was told."""
        if check:
            self._check(new)
        return self.connections.add(tenant, new, actor=actor)

    def remove(self, tenant: str, connector_id: str, *, cancel: bool = False, actor: str = "app") -> str | None:
        """Forget a connection; with `cancel` a sync of it that is not finished is cancelled, and its job returned.

        Its runs, jobs and events stay, and its name is free again.
        """
        job_id = self.connections.remove(tenant, connector_id, task=self.sync_task.name, cancel=cancel, actor=actor)
        if job_id is not None:
            with suppress(Conflict, NotFound):  # it has just ended
                self.app.store.jobs.cancel(job_id, tenant=tenant, reason="its connection is removed", actor=actor)
        return job_id

    def dispatch(self, connector_id: str, principal: Principal, **how: Any) -> str:
        """Enqueue a sync now and return its job: the words are those of `Dispatch.by_hand`."""
        return self._dispatch.by_hand(connector_id, principal, **how)

    def requeue(self, job_id: str, principal: Principal, *, correlation_id: str | None = None) -> Enqueued:
        """Give the dead letter of a sync another life as a new job that is linked to it. It takes support."""
        found = self.app.store.listing.find(job_id, principal.tenant)
        if found is not None and found.task != self.sync_task.name:
            raise NotFound("sync", job_id)
        return self.app.desk(principal).requeue(job_id, correlation_id=correlation_id)

    def poll_of(self, credential: str, workspace_id: str, tenant: str) -> Call[Any]:
        """The poll of a workspace. With the shared credential it is nobody's own."""
        owner = DEFAULT_TENANT if credential == SHARED else tenant
        return self.poll_task.using(tenant=owner).call(credential, workspace_id)

    def _check(self, new: NewConnection) -> None:
        """Ask Airbyte about a connection before it is added; what does not fit is refused."""
        found = self.lines.to(new.credential).connection(new.airbyte_id)
        if new.workspace_id and found.workspace_id != new.workspace_id:
            why = f"is not where Airbyte has the connection: {found.workspace_id}"
            raise InvalidValue("workspace", new.workspace_id, why)
        if not found.is_active:
            why = f"is {found.status} at Airbyte"
            raise InvalidValue("Airbyte connection", new.airbyte_id, why, hint="Activate it there first.")
