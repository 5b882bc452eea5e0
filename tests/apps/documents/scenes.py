"""A small world for tests of documents: a host of files, folders of our own, and a worker without threads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from haulwright import Haulwright
from haulwright.apps.documents import Documents, Item
from haulwright.apps.documents.planning import PlannedArtifact
from haulwright.apps.documents.settings import DocumentSettings
from haulwright.apps.documents.views import DocumentView
from haulwright.engine.job import Job
from haulwright.events import Event
from haulwright.operations.principal import Principal
from haulwright.sandbox import Sandbox
from haulwright.stores import migrations
from haulwright.stores.listing import JobFilter
from haulwright.testing.harness import Harness

PACKAGE = "haulwright.apps.documents"
TENANT = "acme"
QUICK = {"host_rate": "1000000/min", "host_burst": 100_000, "host_concurrency": 1_000, "private_hosts": "127.0.0.1"}
"""No gate to wait for: that takes real time."""
HOUR = 3_600


@dataclass
class World:
    """What a test of documents works with."""

    bench: Harness
    sandbox: Sandbox
    app: Haulwright
    documents: Documents
    folder: Path

    @classmethod
    def open(cls, bench: Harness, sandbox: Sandbox, folder: Path, **figures: Any) -> World:
        """Documents on a fresh app, on the database and clock of the bench, that may ask this machine."""
        app = Haulwright()
        documents = Documents(app, figures=DocumentSettings.load(**{**QUICK, "folder": str(folder), **figures}))
        migrations.migrate(bench.store.database, PACKAGE)
        bench.use(app)
        return cls(bench, sandbox, app, documents, folder)

    def url(self, name: str) -> str:
        return f"{self.sandbox.url}/files/{name}"

    def add(self, name: str = "report.txt", tenant: str = TENANT, **fields: Any) -> PlannedArtifact:
        """Have a file of the host fetched."""
        return self.documents.add(Principal.of_tenant(tenant), Item(self.url(name), **fields))

    def finish(self, most: int = 12) -> None:
        """Let time pass until every document has ended."""
        for _ in range(most):
            self.bench.drain()
            if not self.active():
                return
            self.bench.advance("2 h")
        raise AssertionError(f"After {most} times 2 h these are not over: {self.active()}")

    def active(self) -> list[Job]:
        jobs = self.bench.store.listing.page(JobFilter(task="documents.fetch"), limit=1000).jobs
        return [job for job in jobs if job.finished_at is None]

    def job(self, planned: PlannedArtifact) -> Job:
        return self.bench.store.listing.get(planned.job_id)

    def standing(self, planned: PlannedArtifact, tenant: str = TENANT) -> DocumentView:
        return self.documents.artifacts.standing(tenant, planned.key)

    def state(self, planned: PlannedArtifact, tenant: str = TENANT) -> str:
        return str(self.standing(planned, tenant)["state"])

    def stored(self) -> list[Path]:
        """Every file that is in its place, of all tenants."""
        return sorted(path for path in self.folder.rglob("*") if path.is_file() and ".staging" not in path.parts)

    def staged(self) -> list[Path]:
        """Everything that is on its way, or was left behind there."""
        return sorted(path for path in (self.folder / ".staging").rglob("*") if path.is_file())

    def asked(self, name: str, method: str = "GET") -> int:
        """How often the host was asked for a file."""
        return self.sandbox.books.count(service="files", method=method, path=f"/files/{name}")

    def effects(self, planned: PlannedArtifact) -> dict[str, str]:
        """The effects of a document by name, each with its state."""
        job = self.job(planned)
        effects = self.bench.store.effects.of_job(job.tenant, job.job_key)
        return {effect.name.removeprefix("commit:").partition(":")[0]: effect.state for effect in effects}

    def events(self, name: str) -> list[Event]:
        return self.bench.store.events.latest(name=name)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a person reads with SQL."""
        return self.bench.store.database.read(lambda connection: connection.execute(sql))

    def change(self, sql: str) -> None:
        """What a person breaks with SQL."""
        self.bench.store.database.transact(lambda connection: connection.execute(sql))


def aged(path: Path, seconds: float = 2 * HOUR) -> Path:
    """A file to which nothing was written for so long."""
    moment = path.stat().st_mtime - seconds
    os.utime(path, (moment, moment))
    return path
