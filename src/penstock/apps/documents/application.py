"""Documents on an app: its tasks, its schedule, its folders, and the doors for people and programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from penstock.apps.application import Application
from penstock.apps.documents.artifacts import Artifacts
from penstock.apps.documents.fetching import Fetch
from penstock.apps.documents.figures import Figures
from penstock.apps.documents.folders import Folders
from penstock.apps.documents.hosts import LONGEST, Hosts
from penstock.apps.documents.indexing import Index
from penstock.apps.documents.manifest import Item, Line, read_manifest
from penstock.apps.documents.planning import Imported, Planned, Planning
from penstock.apps.documents.reconciling import Reconciler, Reconciling
from penstock.apps.documents.report import Report
from penstock.apps.documents.watching import Watch
from penstock.engine.retry import Retry
from penstock.engine.task import check_name
from penstock.errors import InvalidValue, NotFound

if TYPE_CHECKING:
    from penstock.client.app import Penstock

QUEUE: Final = "documents"
UPKEEP: Final = "documents-upkeep"


class Documents(Application):
    """Manifests of addresses become verified files: planned once, fetched once, stored once, found by their words."""

    name: ClassVar[str] = "documents"

    def __init__(self, app: Penstock, *, figures: Figures | None = None) -> None:
        super().__init__(app)
        self.figures = figures or Figures.load()
        self.folders = Folders(self.figures.folder, self.figures.staging)
        self.hosts = Hosts(app, self.figures)
        self.artifacts = Artifacts(self.tables)
        self._planning = Planning(self)
        self._declare_tasks()

    def _declare_tasks(self) -> None:
        declare, figures = self.app.task, self.figures
        self.fetch_task = declare(
            name="documents.fetch", queue=QUEUE, retry=Retry(figures.attempts), lease=figures.lease_seconds,
            timeout=LONGEST, facts=("artifact", "sha256", "bytes"),
        )(Fetch(self).run)  # fmt: skip
        self.index_task = declare(name="documents.index", queue=UPKEEP, unique=("sha256",), retry=3, timeout="10 min")(
            Index(self).run
        )
        self.reconcile_task = declare(
            name="documents.reconcile", queue=UPKEEP, priority=10, unique=True, retry=3, timeout="1 h"
        )(Reconciling(self).run)
        self.watch_task = declare(name="documents.watch", queue=UPKEEP, priority=20, retry=3, timeout="1 min")(
            Watch(self).run
        )
        self.app.schedule("documents", figures.cron, self.watch_task)
        self.app.at_start(self.reconcile_task)

    def add(self, tenant: str, item: Item) -> Planned:
        """Have one artefact fetched; the same artefact is the same job."""
        self.hosts.require_public(item.url)
        return self._planning.plan(check_name("tenant", tenant), [item])[0]

    def take_in(self, tenant: str, manifest: str | Path, *, actor: str = "app") -> Imported:
        """Plan what a manifest lists, as CSV or JSON Lines. A bad line is on record, and the rest goes on."""
        path = Path(manifest)
        if not path.is_file():
            raise NotFound("manifest", str(path))
        lines = map(self._judged, read_manifest(path))
        return self._planning.take_in(check_name("tenant", tenant), lines, manifest=path.name, actor=actor)

    def _judged(self, line: Line) -> Line:
        """The line, or why its address is not gone to."""
        try:
            if line.item is not None:
                self.hosts.require_public(line.item.url)
        except InvalidValue as refused:
            return Line(line.number, None, refused.message)
        return line

    def reconcile(self, *, dry_run: bool = False, deep: bool = False, actor: str = "app") -> Report:
        """Bring the database and the folders to agree, and say what did not; `deep` reads every file to its end."""
        return Reconciler(self, self.tables.transact, dry_run=dry_run, deep=deep).run(actor=actor)
