"""Documents on an app: its tasks, its schedule, its folders, and the doors for people and programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from haulwright.application import Application, verb
from haulwright.apps.documents import SPEC
from haulwright.apps.documents.artifacts import Artifacts, DocumentOperation, File, SearchHit
from haulwright.apps.documents.fetching import Fetch
from haulwright.apps.documents.file_names import checked_name
from haulwright.apps.documents.folders import Folders
from haulwright.apps.documents.hosts import LONGEST, Hosts
from haulwright.apps.documents.indexing import SearchIndex
from haulwright.apps.documents.kinds import PDF
from haulwright.apps.documents.live_manifest import MoveIn
from haulwright.apps.documents.manifest import Item, ManifestLine, read_manifest, read_manifest_body
from haulwright.apps.documents.passages import find_passage
from haulwright.apps.documents.planning import ManifestImport, PlannedArtifact, Planning
from haulwright.apps.documents.politeness import politeness_of
from haulwright.apps.documents.reconciling import Reconciler, ReconcileScope, Reconciling
from haulwright.apps.documents.report import ReconcileReport
from haulwright.apps.documents.retry import FETCH_RETRY
from haulwright.apps.documents.settings import DocumentSettings
from haulwright.apps.documents.tokenizer import parse_query
from haulwright.apps.documents.verifying import FileVerdict, VerifiedFiles, verify_files
from haulwright.apps.documents.views import DocumentView
from haulwright.apps.documents.watching import FolderWatch
from haulwright.errors import Conflict, InvalidValue, NotFound
from haulwright.operations.access import EVERYBODY, INSTALLATION

if TYPE_CHECKING:
    from haulwright import Haulwright, Principal

QUEUE: Final = "documents"
UPKEEP: Final = "documents-upkeep"
LATEST: Final = 20


class Documents(Application):
    """Manifests of addresses become verified files: planned once, fetched once, stored once, found by their words."""

    spec = SPEC
    verbs: ClassVar = {
        "documents.read": EVERYBODY,
        "documents.plan": EVERYBODY,
        "documents.reconcile": INSTALLATION,
    }

    def __init__(self, app: Haulwright, *, figures: DocumentSettings | None = None) -> None:
        super().__init__(app)
        self.figures = figures or DocumentSettings.load()
        self.folders = Folders(self.figures.folder, self.figures.staging)
        self.hosts = Hosts(app, self.figures)
        self.artifacts = Artifacts(self.tables)
        self._verified = VerifiedFiles(self.folders)
        self._declare_tasks()
        self._planning = Planning(self.tables, self.fetch_task)

    def _declare_tasks(self) -> None:
        declare, figures = self.task, self.figures
        stores = (self.tables, self.artifacts, self.folders)
        self.fetch_task = declare(
            name="documents.fetch", queue=QUEUE, retry=replace(FETCH_RETRY, attempts=figures.attempts),
            lease=figures.lease_seconds, timeout=LONGEST, event_fields=("artifact", "sha256", "bytes"),
        )(Fetch(*stores, self.hosts, figures).run)  # fmt: skip
        self.index_task = declare(name="documents.index", queue=UPKEEP, unique=("sha256",), retry=3, timeout="10 min")(
            SearchIndex(*stores, figures).run
        )
        self.reconcile_scope = ReconcileScope(*stores, self.fetch_task, self.index_task, figures.stale_part_seconds)
        self.reconcile_task = declare(
            name="documents.reconcile", queue=UPKEEP, priority=10, unique=True, retry=3, timeout="1 h"
        )(Reconciling(self.reconcile_scope).run)
        self.watch_task = declare(name="documents.watch", queue=UPKEEP, priority=20, retry=3, timeout="1 min")(
            FolderWatch(self.tables, self.reconcile_task, figures.reconcile_seconds).run
        )
        self.app.schedule("documents", figures.cron, self.watch_task)
        self.app.at_start(self.reconcile_task)

    @verb("documents.plan")
    def add(self, principal: Principal, item: Item) -> PlannedArtifact:
        """Have one artefact fetched; the same artefact is the same job."""
        self.hosts.require_public(item.url)
        return self._planning.plan(principal.acting_tenant, [item])[0]

    @verb("documents.plan")
    def take_in(self, principal: Principal, manifest: str | Path) -> ManifestImport:
        """Plan what a manifest lists, as CSV or JSON Lines. A bad line is on record, and the rest goes on."""
        path = Path(manifest)
        if not path.is_file():
            raise NotFound("manifest", str(path))
        return self._take_in(principal, read_manifest(path), path.name)

    @verb("documents.plan")
    def take_in_body(
        self, principal: Principal, body: bytes, *, name: str, is_json: bool | None = None
    ) -> ManifestImport:
        """The same of a manifest that somebody sent under a name."""
        return self._take_in(principal, read_manifest_body(body, is_json=is_json), checked_name(name))

    @verb("documents.plan")
    def move_in(
        self,
        principal: Principal,
        manifest: str | Path,
        *,
        files: str | Path | None = None,
        with_failed: bool = False,
        dry_run: bool = False,
    ) -> ManifestImport:
        """Take over a team's own `manifest.sqlite3`: read alone, as often as one likes; `dry_run` writes nothing here.

        Files of finished documents are copied where they are found with their hash; the others are planned anew.
        """
        path, tenant = Path(manifest), principal.acting_tenant
        if not path.is_file():
            raise NotFound("manifest", str(path))
        where = None if files is None else Path(files)
        moving = MoveIn(self.folders, tenant, where, dry_run, with_failed, self.hosts.require_public)
        lines, name = moving.lines(path), path.name
        if dry_run:
            result = self._planning.preview(tenant, lines, manifest=name)
        else:
            result = self._planning.take_in(tenant, lines, manifest=name, actor=principal.actor)
        result.counts.update(moving.counts)
        to_fetch = (artifact.url for artifact in result.planned if artifact.key not in moving.adopted)
        result.politeness = politeness_of(to_fetch, self.figures)
        return result

    def _take_in(self, principal: Principal, lines: Iterator[ManifestLine], name: str) -> ManifestImport:
        checked = map(self._check_host, lines)
        result = self._planning.take_in(principal.acting_tenant, checked, manifest=name, actor=principal.actor)
        result.politeness = politeness_of((artifact.url for artifact in result.planned), self.figures)
        return result

    def _check_host(self, line: ManifestLine) -> ManifestLine:
        """The line, or why its address is not gone to."""
        try:
            if line.item is not None:
                self.hosts.require_public(line.item.url)
        except InvalidValue as refusal:
            return ManifestLine(line.number, None, refusal.message)
        return line

    @verb("documents.read")
    def list_documents(
        self, principal: Principal, *, state: str | None = None, limit: int = LATEST
    ) -> list[DocumentView]:
        """The newest documents of a tenant, in the words of the document."""
        return self.artifacts.list(principal.acting_tenant, state=state, limit=limit)

    @verb("documents.read")
    def get_document(self, principal: Principal, name: str) -> DocumentView:
        """How one document stands, by its job, its key or its address. A foreign one looks like an absent one."""
        return self.artifacts.standing(principal.acting_tenant, name)

    @verb("documents.read")
    def list_operations(self, principal: Principal, job_id: str, limit: int = LATEST) -> tuple[DocumentOperation, ...]:
        """What the operations of a document came to, by its job; while it is under way they are effects of the job."""
        return self.artifacts.operations(principal.acting_tenant, job_id, limit)

    @verb("documents.read")
    def count_states(self, principal: Principal) -> dict[str, int]:
        """How many documents of a tenant are in each state."""
        return self.artifacts.states(principal.acting_tenant)

    @verb("documents.read")
    def get_totals(self, principal: Principal) -> tuple[int, int, int]:
        """The files of a tenant: how many, how many bytes, how many missing."""
        return self.artifacts.totals(principal.acting_tenant)

    @verb("documents.read")
    def search(self, principal: Principal, query: str, limit: int = LATEST) -> list[File]:
        """The files of a tenant that have all of these words."""
        return self.artifacts.search(principal.acting_tenant, query, limit)

    @verb("documents.read")
    def search_hits(self, principal: Principal, query: str, limit: int = LATEST) -> list[SearchHit]:
        """The same, each with where its bytes are and a passage of what it says."""
        tenant, terms = principal.acting_tenant, parse_query(query)
        return [self._hit(file, terms) for file in self.artifacts.search(tenant, query, limit)]

    def _hit(self, file: File, terms: list[str]) -> SearchHit:
        passage = find_passage(self.artifacts.text(file.tenant, file.sha256), terms)
        page = passage.page if file.kind == PDF else None
        return SearchHit(file, self.folders.place(file.tenant, file.sha256).absolute(), passage.text, page)

    @verb("documents.read")
    def get_file(self, principal: Principal, name: str) -> tuple[File, Path]:
        """The file of a document and where its bytes are, which were compared with its hash.

        By the hash or the beginning of it, or by the job, key or address of the document.
        """
        tenant = principal.acting_tenant
        file = self.artifacts.find_file(tenant, name)
        if not self._verified.has(tenant, file.sha256):
            message = f"The file {file.sha256} is not in its place, or is damaged."
            raise Conflict(message, hint="Have it fetched again: haulwright doc reconcile --deep")
        return file, self.folders.place(tenant, file.sha256).absolute()

    @verb("documents.read")
    def list_under_way(self, principal: Principal, keys: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Of these documents, those that have not come to an end."""
        return self.artifacts.under_way(principal.acting_tenant, keys)

    @verb("documents.read")
    def count_endings(self, principal: Principal, keys: Sequence[str]) -> dict[str, int]:
        """How these documents ended."""
        return self.artifacts.endings(principal.acting_tenant, keys)

    @verb("documents.read")
    def verify(self, principal: Principal) -> Iterator[FileVerdict]:
        """Every file of a tenant, read to its end and compared with its hash. Nothing is changed."""
        return verify_files(self.artifacts, self.folders, principal.acting_tenant)

    @verb("documents.reconcile")
    def reconcile(self, principal: Principal, *, dry_run: bool = False, deep: bool = False) -> ReconcileReport:
        """Bring the database and the folders to agree, and say what did not; `deep` reads every file to its end."""
        return Reconciler(self.reconcile_scope, self.tables.transact, dry_run=dry_run, deep=deep).run(
            actor=principal.actor
        )
