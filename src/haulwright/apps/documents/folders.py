"""The folders of documents: the store, where a file is under the hash of its content, and the staging before it.

<folder>/<tenant>/ab/cd/<sha256>             files that are filed, each once
<staging>/<tenant>/ab/cd/<sha256>            files that arrived whole and are to be filed
<staging>/<tenant>/parts/...                 what has arrived of others
<staging>/lost/<tenant>/<sha256>[.<id>]     files that the reconciler found and could not place
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from haulwright import Throttled
from haulwright.apps.documents.file_names import tenant_folder
from haulwright.engine.ids import new_id
from haulwright.errors import InvalidValue
from haulwright.sources.download import content_path
from haulwright.sources.download.disk import holds, make_folder, move_into_place, write_into_place

T = TypeVar("T")

STAGING: Final = ".staging"
LOST: Final = "lost"
_HEX: Final = frozenset("0123456789abcdef")
_SHA256_CHARS: Final = 64


class Folders:
    """Where the bytes are. Nothing here knows the database."""

    def __init__(self, folder: str, staging: str | None) -> None:
        self.root = Path(folder)
        self.staging_root = Path(staging) if staging else self.root / STAGING

    def prepare(self) -> None:
        """Make the folders; refused where a file could not be moved from the one to the other in one step."""
        for folder in (self.root, self.staging_root):
            make_folder(folder.absolute())
        if self.root.stat().st_dev != self.staging_root.stat().st_dev:
            hint = "Put it beside the files: only there a file can be moved to its place in one step."
            raise InvalidValue("documents_staging", str(self.staging_root), "is on another disk", hint=hint)

    def staging(self, tenant: str) -> Path:
        """Where the files of a tenant arrive."""
        return self.staging_root / tenant_folder(tenant)

    def staged(self, tenant: str, sha256: str) -> Path:
        """Where a file is that arrived whole."""
        return content_path(self.staging(tenant), sha256)

    def place(self, tenant: str, sha256: str) -> Path:
        """Where a file is for good."""
        return content_path(self.root / tenant_folder(tenant), sha256)

    def has(self, tenant: str, sha256: str) -> bool:
        """Whether the file is in its place with this very content, read to its last byte."""
        return holds(self.place(tenant, sha256), sha256)

    def has_anywhere(self, tenant: str, sha256: str) -> bool:
        """The same, or in the staging."""
        return holds(self.staged(tenant, sha256), sha256) or self.has(tenant, sha256)

    def finalize(self, tenant: str, sha256: str) -> None:
        """Move a staged file to its place. It is there whole or not at all; the same content is there once."""
        staged, place = self.staged(tenant, sha256), self.place(tenant, sha256)
        if holds(place, sha256):
            staged.unlink(missing_ok=True)
            return
        try:
            move_into_place(staged, place)
        except FileNotFoundError:
            if not holds(place, sha256):
                raise staged_file_gone(sha256) from None

    def put(self, tenant: str, sha256: str, body: bytes, part: Path, check: Callable[[Path], T]) -> T:
        """Put a small file into its place by way of the part of a run, which nobody else writes to.

        `check` looks at it before; what it refuses is not kept.
        """
        try:
            return write_into_place(part, self.place(tenant, sha256), body, check)
        except FileNotFoundError:
            raise staged_file_gone(sha256) from None

    def discard(self, tenant: str, sha256: str) -> None:
        """Throw a staged file away."""
        self.staged(tenant, sha256).unlink(missing_ok=True)

    def set_aside(self, tenant: str, path: Path) -> Path:
        """Move a file that belongs nowhere out of the way, where a person can look at it, beside those of before."""
        folder = self.staging_root / LOST / tenant_folder(tenant)
        aside = folder / path.name
        if aside.exists():
            aside = folder / f"{path.name}.{new_id()}"
        move_into_place(path, aside)
        return aside


def staged_file_gone(sha256: str) -> Throttled:
    """A staged file was taken away: by another job with the same content, or by hand. No attempt is burnt for it."""
    return Throttled(f"The staged file {sha256} is gone. It is fetched again.", after=1.0, gate="staging")


def contents(folder: Path) -> Iterator[Path]:
    """The files of a store or a staging in the order of their hashes; what is none of ours is left out."""
    for first in _folders(folder):
        for second in _folders(first):
            yield from sorted(path for path in second.iterdir() if is_content(path))


def strangers(folder: Path) -> Iterator[Path]:
    """What lies among the files of a tenant and is none of them."""
    if not folder.is_dir():
        return
    for path in sorted(folder.rglob("*")):
        depth = len(path.relative_to(folder).parts)
        if path.is_dir() and depth in {1, 2} and _is_hex_pair(path.name):
            continue
        if not (depth == 3 and is_content(path)):  # noqa: PLR2004 - ab/cd/<sha256>
            yield path


def is_content(path: Path) -> bool:
    """Whether a file is named by a hash, and lies where that belongs."""
    name = path.name
    fits = (path.parent.parent.name, path.parent.name) == (name[:2], name[2:4])
    return fits and len(name) == _SHA256_CHARS and _HEX.issuperset(name) and path.is_file()


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if _is_hex_pair(path.name) and path.is_dir())


def _is_hex_pair(name: str) -> bool:
    return len(name) == 2 and _HEX.issuperset(name)  # noqa: PLR2004 - two digits
