"""Brings the browser libraries of the dashboard into the tree: exactly these versions, checked against these digests.

python tools/vendor.py           fetch them anew with the npm client, and write the manifests
python tools/vendor.py --check   exit 1 if a file in the tree is not what its manifest says

What a wheel carries is committed. Nobody needs npm but who changes a version here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
SHIPPED: Final = ROOT / "src" / "haulwright" / "dashboard" / "static" / "vendor"
FOR_TESTS: Final = ROOT / "tests" / "browser" / "vendor"
MANIFEST: Final = "MANIFEST.json"


@dataclass(frozen=True)
class Library:
    """One package of npm, and what of it is used."""

    name: str
    version: str
    sha512: str
    """Of its tarball, as the registry has it."""
    licence: str
    purpose: str
    folder: Path
    files: tuple[str, ...]


LIBRARIES: Final = (
    Library(
        "htmx.org",
        "4.0.0",
        "T/171FUY93Kdfp8t+DnHdk45QvKRiBhVhhrwSzrXgUi4pHKvhp77dUA/qg8FAjsFWPIHNbmUuIdCrcVHuiZWng==",
        "0BSD",
        "refreshes parts of a page in place",
        SHIPPED,
        ("dist/htmx.min.js", "LICENSE"),
    ),
    Library(
        "uplot",
        "1.6.32",
        "KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==",
        "MIT",
        "draws charts over time",
        SHIPPED,
        ("dist/uPlot.iife.min.js", "dist/uPlot.min.css", "LICENSE"),
    ),
    Library(
        "axe-core",
        "4.11.0",
        "ilYanEU8vxxBexpJd8cWM4ElSQq4QctCLKih0TSfjIfCQTeyH/6zVrmIJfLPrKTKJRbiG+cfnZbQIjAlJmF1jQ==",
        "MPL-2.0",
        "looks for what keeps people from using a page; in tests alone",
        FOR_TESTS,
        ("axe.min.js", "LICENSE"),
    ),
)


def main() -> int:
    """Fetch, or check what is there."""
    folders = sorted({library.folder for library in LIBRARIES})
    if "--check" in sys.argv[1:]:
        problems = [problem for folder in folders for problem in differences(folder)]
        print("\n".join(problems) or "All vendored files are what their manifests say.")
        return 1 if problems else 0
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        entries = [_fetch(library) for library in LIBRARIES if library.folder == folder]
        (folder / MANIFEST).write_text(json.dumps(entries, indent=2) + "\n")
    return 0


def differences(folder: Path) -> list[str]:
    """What a folder has otherwise than its manifest says."""
    entries: list[dict[str, Any]] = json.loads((folder / MANIFEST).read_text())
    digests = {name: digest for entry in entries for name, digest in entry["files"].items()}
    there = {path.name for path in folder.iterdir()} - {MANIFEST}
    strange = [f"{folder.name}/{name} is not in its manifest" for name in sorted(there - digests.keys())]
    missing = [f"{folder.name}/{name} is missing" for name in sorted(digests.keys() - there)]
    changed = [
        f"{folder.name}/{name} was changed"
        for name in there & digests.keys()
        if _sha256(folder / name) != digests[name]
    ]
    return [*strange, *missing, *sorted(changed)]


def _fetch(library: Library) -> dict[str, Any]:
    """Bring the files of one library, and what the manifest says of them."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        command = ["npm", "pack", f"{library.name}@{library.version}", "--silent", "--pack-destination", name]
        subprocess.run(command, cwd=scratch, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - words of this file
        (tarball,) = scratch.glob("*.tgz")
        digest = base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode()
        if digest != library.sha512:
            message = f"{library.name} {library.version} is not what it was: its sha512 is {digest}."
            raise SystemExit(message)
        files = {}
        with tarfile.open(tarball) as archive:
            for path in library.files:
                member = archive.extractfile(f"package/{path}")
                assert member is not None  # noqa: S101 - a file of a tarball whose digest is known
                target = library.folder / _name(library, path)
                target.write_bytes(member.read())
                files[target.name] = _sha256(target)
    return {
        "name": library.name,
        "version": library.version,
        "licence": library.licence,
        "purpose": library.purpose,
        "files": files,
    }


def _name(library: Library, path: str) -> str:
    """The name of a file here: licences say whose they are."""
    name = Path(path).name
    return f"{library.name}.LICENSE" if name == "LICENSE" else name


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
