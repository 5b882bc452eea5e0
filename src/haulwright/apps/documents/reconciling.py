"""The reconciler: brings the database and the folders to agree after crashes, lost disks and restored backups.

Nothing that was filed is ever deleted: a file that belongs nowhere is set aside, one that is gone is fetched again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from time import sleep, time
from typing import TYPE_CHECKING, Any, Final

from haulwright import Context, Tx
from haulwright.apps.documents.artifacts import FileRecord
from haulwright.apps.documents.file_names import tenant_folder
from haulwright.apps.documents.folders import contents, strangers
from haulwright.apps.documents.report import Discrepancy, ReconcileReport
from haulwright.clock import SECOND
from haulwright.engine.ids import new_id
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.engine.lease import watch_seconds
from haulwright.events import Event
from haulwright.settings import Settings
from haulwright.sources.download import orphans
from haulwright.sources.download.disk import holds
from haulwright.sources.download.parts import forget
from haulwright.stores.recovery import EndingLease

if TYPE_CHECKING:
    from haulwright import Task
    from haulwright.application import Tables, Writing
    from haulwright.apps.documents.artifacts import Artifacts
    from haulwright.apps.documents.folders import Folders
    from haulwright.client.task import Call

Transact = Callable[[Callable[["Writing"], Any]], Any]
"""How a repair is written: in a transaction of its own, or under the fence of a run."""

RECONCILED: Final = "documents.reconciled"
MOST_TENANTS: Final = 10_000
AT_ONCE: Final = 500
_LEFT_ALONE: Final = (
    "left alone: no file of the tenant is there; if that is no missing disk, run: haulwright doc reconcile"
)


@dataclass(frozen=True, slots=True)
class ReconcileScope:
    """What is compared, and the tasks that repair it."""

    tables: Tables
    artifacts: Artifacts
    folders: Folders
    fetch_task: Task[[str], Any]
    index_task: Task[[str], Any]
    stale_part_seconds: float


class Reconciling:
    """The task `documents.reconcile`."""

    def __init__(self, scope: ReconcileScope) -> None:
        self._scope = scope

    def run(self, ctx: Context) -> dict[str, Any]:
        """Reconcile once, every repair under the fence of this run. The result is for every eye: it only counts."""
        steps = count()

        def fenced(work: Callable[[Writing], Any]) -> Any:
            def on(tx: Tx) -> Any:
                return work(self._scope.tables.on(tx))

            return ctx.commit(f"repair:{ctx.job.fence}:{next(steps)}", on)

        return Reconciler(self._scope, fenced, cautious=True, check=ctx.check).run(actor=ctx.worker).summary()


class Reconciler:
    """One pass over everything. A dry run only tells."""

    def __init__(  # noqa: PLR0913 - how careful it is, each with a name
        self,
        scope: ReconcileScope,
        transact: Transact,
        *,
        dry_run: bool = False,
        deep: bool = False,
        cautious: bool = False,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._tables = scope.tables
        self._artifacts = scope.artifacts
        self._folders = scope.folders
        self._fetch_task = scope.fetch_task
        self._index_task = scope.index_task
        self._stale_seconds = scope.stale_part_seconds
        self._transact = transact
        self._dry_run = dry_run
        self._deep = deep
        self._cautious = cautious
        """Where a tenant has no file at all any more, its disk is probably not there: a person has to say so first."""
        self._check = check
        """Raises where this run may not go on."""
        self._report = ReconcileReport(dry_run)

    def run(self, *, actor: str) -> ReconcileReport:
        """Look everywhere once, repair what can be repaired, and tell."""
        self._folders.prepare()
        self._leases()
        self._effects()
        in_hand = {sha256 for (sha256,) in self._tables.read("upkeep.in_hand")}
        tenants = [tenant for (tenant,) in self._tables.read("artifacts.tenants", limit=MOST_TENANTS)]
        for tenant in tenants:
            self._staging(tenant, in_hand)
            self._store(tenant, in_hand)
        self._odd()
        self._not_indexed()
        self._unknown_folders(tenants)
        if not self._dry_run:
            event = Event(RECONCILED, DEFAULT_TENANT, actor=actor, data=dict(self._report.counts))
            self._transact(lambda writing: writing.record(event))
        return self._report

    def _leases(self) -> None:
        """Take back the leases that ran out and whose heartbeats stand still for as long as every worker waits."""
        rows = self._tables.read("upkeep.stale_leases", limit=AT_ONCE)
        stale = {
            EndingLease(str(job_id), fence, str(holder), *times): tenant
            for tenant, job_id, fence, holder, *times in rows
        }
        if stale and not self._dry_run:
            sleep(max(watch_seconds(lease.lease_us) for lease in stale))
            reaped = {reaped.key for reaped in self._tables.app.store.recovery.reap_silent(list(stale))}
            stale = {lease: tenant for lease, tenant in stale.items() if lease.key in reaped}
        for lease, tenant in stale.items():
            self._add_finding("stale_lease", tenant, lease.id, "taken back")

    def _effects(self) -> None:
        """Show the effects that nobody will finish. To requeue the job is all that can be done about them."""
        age_us = round(float(Settings.load()["stuck_effect_seconds"]) * SECOND)
        for tenant, _, name, job_id in self._tables.read("upkeep.abandoned", age_us=age_us, limit=AT_ONCE):
            self._add_finding("abandoned_effect", tenant, f"{name} of job {job_id}", "")

    def _staging(self, tenant: str, in_hand: set[str]) -> None:
        """Remove what was left behind on the way: parts that no job goes on with, and files that no job will file."""
        folder = self._folders.staging(tenant)
        for part in orphans(folder, idle_seconds=self._stale_seconds):
            if not self._artifacts.is_active(part.job_id):
                if not self._dry_run:
                    forget(part.path)
                self._add_finding("orphan_part", tenant, str(part.path), "removed")
        for path in contents(folder):
            if path.name not in in_hand and self._is_stale(path):
                if not self._dry_run:
                    path.unlink(missing_ok=True)
                self._add_finding("orphan_staged", tenant, str(path), "removed")

    def _store(self, tenant: str, in_hand: set[str]) -> None:
        """Compare the files on record with those in their place, in the order of their hashes."""
        folder = self._folders.root / tenant_folder(tenant)
        is_gone = self._cautious and next(contents(folder), None) is None
        for row, path in _side_by_side(self._artifacts.file_records(tenant), contents(folder)):
            self._check()
            self._report.files += 1
            if row is None and path is not None:
                self._file_without_row(tenant, path, in_hand)
            elif row is not None and path is None:
                self._lost(tenant, row, "row_without_file", leave=is_gone)
            elif row is not None and path is not None and not self._is_whole(path, row):
                if not self._dry_run:
                    self._folders.set_aside(tenant, path)
                self._lost(tenant, row, "damaged_file")
        for path in strangers(folder):
            self._add_finding("stranger", tenant, str(path), "")

    def _file_without_row(self, tenant: str, path: Path, in_hand: set[str]) -> None:
        """Set aside a file that nobody is about to put on record, and that was not a moment ago."""
        if path.name in in_hand or not self._is_stale(path):
            return
        file = self._artifacts.file(tenant, path.name)
        if file is None:
            repair = "" if self._dry_run else f"set aside as {self._folders.set_aside(tenant, path)}"
            self._add_finding("file_without_row", tenant, str(path), repair)

    def _lost(self, tenant: str, row: FileRecord, kind: str, *, leave: bool = False) -> None:
        """Have a file fetched again that is gone. That is done once: what nobody can bring back stays missing."""
        if kind == "row_without_file" and self._folders.place(tenant, row.sha256).is_file():
            return  # it came between the two looks
        refetch = row.missing_at is None and not leave
        if refetch and not self._dry_run:
            self._transact(lambda writing: self._fetch_again(writing, tenant, row))
        repair = "fetched again" if refetch else _LEFT_ALONE if leave else "was to be fetched again before: see its job"
        self._add_finding(kind, tenant, f"{row.sha256} of {row.key}", repair)

    def _fetch_again(self, writing: Writing, tenant: str, row: FileRecord) -> None:
        if writing.run("files.lose", tenant=tenant, sha256=row.sha256):
            self._enqueue(writing, tenant, row.key)

    def _odd(self) -> None:
        """Have artefacts fetched again that no path leads to."""
        for tenant, key, kind in self._tables.read("upkeep.odd", limit=AT_ONCE):
            if not self._dry_run:
                self._transact(partial(self._enqueue, tenant=tenant, key=key))
            self._add_finding(kind, tenant, key, "fetched again")

    def _not_indexed(self) -> None:
        """Have files indexed that documents point to and that no search finds."""
        for tenant, sha256 in self._tables.read("upkeep.not_indexed", limit=AT_ONCE):
            if not self._dry_run:
                call = self._index_task.using(tenant=tenant).call(sha256)
                self._transact(partial(_enqueue_call, call=call))
            self._add_finding("not_indexed", tenant, sha256, "to be indexed")

    def _enqueue(self, writing: Writing, tenant: str, key: str) -> None:
        """Have an artefact fetched again, by a job whose key leads to it, and to who takes its place."""
        repair_key = f"repair:{key}:{new_id()}"
        repair_task = self._fetch_task.using(tenant=tenant, unique=f"repair:{key}", job_key=repair_key)
        if _enqueue_call(writing, repair_task.call(key)):
            writing.run("artifacts.repair", tenant=tenant, key=key, repair_key=repair_key)

    def _unknown_folders(self, tenants: list[str]) -> None:
        """Folders beside those of the tenants are shown and left alone."""
        expected_names = {tenant_folder(tenant) for tenant in tenants} | {self._folders.staging_root.name}
        for path in sorted(self._folders.root.iterdir()):
            if path.name not in expected_names:
                self._add_finding("stranger", "", str(path), "")

    def _is_whole(self, path: Path, row: FileRecord) -> bool:
        return path.stat().st_size == row.bytes and (not self._deep or holds(path, row.sha256))

    def _is_stale(self, path: Path) -> bool:
        """Whether nobody touched a file for so long; a move counts as well."""
        try:
            stat = path.stat()
        except FileNotFoundError:
            return False
        return time() - max(stat.st_mtime, stat.st_ctime) >= self._stale_seconds

    def _add_finding(self, kind: str, tenant: str, subject: str, repair: str) -> None:
        self._report.add(Discrepancy(kind, tenant, subject, "" if self._dry_run else repair))


def _enqueue_call(writing: Writing, call: Call[Any]) -> bool:
    """Whether a job is new; one that is active already stands for it."""
    (receipt,) = writing.enqueue(call)
    return receipt.created


def _side_by_side(rows: Iterator[FileRecord], paths: Iterator[Path]) -> Iterator[tuple[FileRecord | None, Path | None]]:
    """What is on record and what is on disk, pair by pair; both come in the order of their hashes."""
    row, path = next(rows, None), next(paths, None)
    while row is not None or path is not None:
        if path is None or (row is not None and row.sha256 < path.name):
            yield row, None
            row = next(rows, None)
        elif row is None or path.name < row.sha256:
            yield None, path
            path = next(paths, None)
        else:
            yield row, path
            row, path = next(rows, None), next(paths, None)
