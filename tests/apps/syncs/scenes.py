"""A small world for tests of syncs: tenants, connections, an Airbyte on the test's clock, a worker without threads."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

import psycopg

from haulwright import Haulwright
from haulwright.apps.syncs.application import Syncs
from haulwright.apps.syncs.connections import NewConnection, SyncConnection
from haulwright.apps.syncs.credentials import Credentials
from haulwright.apps.syncs.settings import SyncSettings
from haulwright.engine.job import Job
from haulwright.engine.transitions import FINAL
from haulwright.events import Event
from haulwright.operations.principal import Principal
from haulwright.sandbox import Sandbox
from haulwright.settings import Settings
from haulwright.sources.http import Secret
from haulwright.stores import migrations
from haulwright.testing.harness import Harness

PACKAGE = "haulwright.apps.syncs"
QUICK = SyncSettings.load(Settings.load({}), api_rate="1000000/min", api_burst=100_000, api_concurrency=100)
"""The limits of syncs, without those of the API itself: a gate that is waited for takes real time."""
SECRETS = {name: f"{name}-secret-0001" for name in ("shared", "own-acme", "own-globex")}


def vault(name: str) -> Credentials | None:
    """Every credential that the tests know, each a client of its own."""
    return Credentials(name, Secret(SECRETS[name]), f"client-{name}") if name in SECRETS else None


def support(tenant: str = "acme") -> Principal:
    return Principal.support("sam", tenant=tenant, reason="ticket 4711")


def opened(database_url: str) -> Any:
    """A connection of the caller's own."""
    if database_url.startswith("sqlite"):
        return sqlite3.connect(database_url.removeprefix("sqlite:///"))
    return psycopg.connect(database_url)


def words(world: World) -> str:
    """What the view says of the only sync."""
    return str(world.rows("select status from ingestion_jobs")[0][0])


@dataclass
class World:
    """What a test of syncs works with."""

    bench: Harness
    sandbox: Sandbox
    app: Haulwright
    syncs: Syncs

    @classmethod
    def open(cls, bench: Harness, sandbox: Sandbox, limits: SyncSettings = QUICK) -> World:
        """Syncs on a fresh app, on the database and clock of the bench, at the sandbox's Airbyte."""
        app = Haulwright()
        syncs = Syncs(app, limits=limits, vault=vault, base_url=f"{sandbox.url}/airbyte/v1")
        migrations.migrate(bench.store.database, PACKAGE)
        bench.use(app)
        return cls(bench, sandbox, app, syncs)

    @property
    def workspace(self) -> str:
        """The first workspace at Airbyte."""
        return next(iter(self.sandbox.airbyte.workspaces))

    def connect(self, tenant: str = "acme", name: str = "shop", **said: Any) -> SyncConnection:
        """A connection of a tenant that Airbyte has as well."""
        workspace = said.pop("workspace", self.workspace)
        at_airbyte = said.pop("status", "active")
        self.sandbox.airbyte.script(add={"name": f"{tenant} {name}", "workspace": workspace, "status": at_airbyte})
        words: dict[str, Any] = {"external_account_id": f"{tenant}-{name}", "workspace_id": workspace, **said}
        new = NewConnection(name, self.airbyte_id(tenant, name), **words)
        return self.syncs.add(Principal.of_tenant(tenant), new)

    def airbyte_id(self, tenant: str = "acme", name: str = "shop") -> str:
        """What Airbyte calls a connection."""
        known = self.sandbox.airbyte.connections.values()
        return next(each.id for each in known if each.name == f"{tenant} {name}")

    def dispatch(self, name: str = "shop", tenant: str = "acme", **how: Any) -> str:
        """Ask for a sync as the tenant, and return its job."""
        return self.syncs.dispatch(Principal.of_tenant(tenant), name, **how)

    def go(self, length: str = "1 min", times: int = 1) -> None:
        """Do what is due, then let time pass, so many times; and do what is due then."""
        for _ in range(times):
            self.bench.drain()
            self.bench.advance(length)
        self.bench.drain()

    def finish(self, job_id: str, length: str = "1 min", most: int = 600) -> Job:
        """Let time pass until a job is finished."""
        for _ in range(most):
            self.go(length)
            if (job := self.job(job_id)).state in FINAL:
                return job
        raise AssertionError(f"After {most} times {length} job {job_id} is {self.job(job_id)}.")

    def job(self, job_id: str) -> Job:
        return self.bench.store.listing.get(job_id)

    def events(self, job_id: str, name: str) -> list[Event]:
        """What happened to a job, by name."""
        return [one for one in self.app.operations().jobs.timeline(job_id).rows if one.name == name]

    def remote(self, tenant: str = "acme", name: str = "shop") -> list[Any]:
        """The runs that Airbyte has begun for a connection."""
        return self.sandbox.airbyte.jobs(self.airbyte_id(tenant, name))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a person reads with SQL."""
        return self.bench.store.database.read(lambda connection: connection.execute(sql))
