"""Verifying: every file on record, read from its first byte to its last and compared with its hash."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from haulwright.apps.documents.artifacts import Artifacts
    from haulwright.apps.documents.folders import Folders

MOST_REMEMBERED: Final = 10_000


@dataclass(frozen=True, slots=True)
class FileVerdict:
    """What became of one file."""

    sha256: str
    key: str
    bytes: int
    state: Literal["whole", "missing", "damaged"]


def verify_files(artifacts: Artifacts, folders: Folders, tenant: str) -> Iterator[FileVerdict]:
    """Every file of a tenant with its verdict, in the order of their hashes. Nothing is changed."""
    for record in artifacts.file_records(tenant):
        state: Literal["whole", "missing", "damaged"] = "whole"
        if not folders.has(tenant, record.sha256):
            state = "damaged" if folders.place(tenant, record.sha256).exists() else "missing"
        yield FileVerdict(record.sha256, record.key, record.bytes, state)


class VerifiedFiles:
    """Which files were read to their last byte and are still what they were then, so that a part of one costs a part.

    A file that was written to, replaced or moved since has other times, and is read again.
    """

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._marks: dict[Path, tuple[int, int, int, int]] = {}

    def has(self, tenant: str, sha256: str) -> bool:
        """Whether the file is in its place with this very content."""
        path = self._folders.place(tenant, sha256)
        try:
            status = path.stat()
        except FileNotFoundError:
            return False
        mark = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        if self._marks.get(path) == mark:
            return True
        if not self._folders.has(tenant, sha256):
            return False
        if len(self._marks) >= MOST_REMEMBERED:
            self._marks.clear()
        self._marks[path] = mark
        return True
