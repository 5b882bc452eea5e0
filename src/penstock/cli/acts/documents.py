"""A manifest of files: each fetched once, verified and stored, although transfers break and a worker dies."""

from __future__ import annotations

import csv
from typing import ClassVar, Final

from penstock.apps.documents.application import Documents
from penstock.apps.documents.verifying import verified
from penstock.cli.acts.act import Act, Check, Reached

LARGE: Final = 16
LARGE_BYTES: Final = 400_000
REPORTS: Final = 8
COPIES: Final = 4
MANIFEST: Final = "manifest.csv"


class DocumentsAct(Act):
    """Large files, small reports, and copies of some of them at other addresses."""

    name: ClassVar[str] = "documents"
    promise: ClassVar[str] = "32 files are fetched and verified; two transfers break off in the middle"

    def begin(self) -> None:
        """Write the manifest, and have it planned."""
        sandbox = self.world.sandbox
        for number in range(COPIES):
            for name in (f"leaflet-{number}.txt", f"leaflet-{number}-again.txt"):
                sandbox.files.put(name, f"Leaflet {number} of Harbour Coffee.\n".encode())
        sandbox.files.script(name="archive-3.bin", times=1, truncate_at=LARGE_BYTES // 2)
        sandbox.files.script(name="archive-7.bin", times=1, truncate_at=LARGE_BYTES // 3)
        sandbox.files.script(name="archive-*.bin", pause_seconds=0.01, chunk_bytes=16_384)
        self._documents = Documents.on(self.world.app)
        manifest = self.world.folder / MANIFEST
        with manifest.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(["url"])
            lines.writerows([f"{sandbox.url}/files/{name}"] for name in _names())
        self._planned = self._documents.take_in(self.world.tenant, manifest, actor="demo").planned

    def look(self) -> Reached:
        """Files that have come to an end."""
        left = self._documents.artifacts.under_way(self.world.tenant, [one.key for one in self._planned])
        return Reached(len(self._planned) - len(left), len(self._planned))

    def checks(self) -> list[Check]:
        """Every file whole, every copy recognised, database and folders in agreement."""
        tenant, sandbox = self.world.tenant, self.world.sandbox
        wanted = {sandbox.files.sha256(name.split("?")[0], _size(name)) for name in _names()}
        whole = {one.sha256 for one in verified(self._documents, tenant) if one.state == "whole"}
        endings = self._documents.artifacts.endings(tenant, [one.key for one in self._planned])
        report = self._documents.reconcile(dry_run=True, actor="demo")
        return [
            Check("documents: files verified by their hash", f"{len(whole)} of {len(wanted)}", whole == wanted),
            Check("documents: copies recognised", str(endings.get("SKIPPED_DUPLICATE", 0)),
                  endings.get("SKIPPED_DUPLICATE", 0) == COPIES),
            Check("documents: database and folders agree", "yes" if report.agrees else "no", report.agrees),
        ]  # fmt: skip

    def commands(self) -> list[str]:
        """A search in what the files say."""
        return [f"doc status --tenant {self.world.tenant}", f"doc search harbour --tenant {self.world.tenant}"]


def _names() -> list[str]:
    large = [f"archive-{number}.bin?size={LARGE_BYTES}" for number in range(LARGE)]
    reports = [f"report-{number}.pdf" for number in range(REPORTS // 2)]
    notes = [f"notes-{number}.txt" for number in range(REPORTS // 2)]
    copies = [f"leaflet-{number}{kind}.txt" for number in range(COPIES) for kind in ("", "-again")]
    return large + reports + notes + copies


def _size(name: str) -> int | None:
    return LARGE_BYTES if "?size=" in name else None
