"""A manifest of files: each fetched once, verified and stored, although transfers break and a worker dies."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

from haulwright import Principal
from haulwright.application.scenario import Act, Check, Reached
from haulwright.apps.documents.application import Documents
from haulwright.sandbox import Sandbox

LARGE: Final = 16
LARGE_BYTES: Final = 400_000
REPORTS: Final = 8
COPIES: Final = 4
MANIFEST: Final = "manifest.csv"


class DocumentsAct(Act):
    """Large files, small reports, and copies of some of them at other addresses."""

    name: ClassVar[str] = "documents"
    promise: ClassVar[str] = "32 files are fetched and verified; two transfers break off in the middle"

    @staticmethod
    def environment(sandbox: Sandbox, folder: Path) -> Mapping[str, str]:  # noqa: ARG004 - as the class above says
        """Polite figures are for other people's servers: here nobody has a minute to wait."""
        return {
            "HAULWRIGHT_DOCUMENTS_FOLDER": str(folder / "content"),
            "HAULWRIGHT_DOCUMENTS_PRIVATE_HOSTS": "127.0.0.1",
            "HAULWRIGHT_DOCUMENTS_HOST_RATE": "6000/min",
            "HAULWRIGHT_DOCUMENTS_HOST_BURST": "100",
        }

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
        self._planned = self._documents.take_in(self.world.principal, manifest).planned

    def look(self) -> Reached:
        """Files that have come to an end."""
        pending = self._documents.list_under_way(self.world.principal, [plan.key for plan in self._planned])
        return Reached(len(self._planned) - len(pending), len(self._planned))

    def checks(self) -> list[Check]:
        """Every file whole, every copy recognised, database and folders in agreement."""
        principal, sandbox = self.world.principal, self.world.sandbox
        expected = {sandbox.files.sha256(name.split("?")[0], _size(name)) for name in _names()}
        whole = {verdict.sha256 for verdict in self._documents.verify(principal) if verdict.state == "whole"}
        endings = self._documents.count_endings(principal, [plan.key for plan in self._planned])
        report = self._documents.reconcile(Principal.admin("demo"), dry_run=True)
        return [
            Check("documents: files verified by their hash", f"{len(whole)} of {len(expected)}", whole == expected),
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


ACT: Final = DocumentsAct
