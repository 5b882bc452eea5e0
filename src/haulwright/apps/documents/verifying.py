"""Verifying: every file on record, read from its first byte to its last and compared with its hash."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from haulwright.apps.documents.artifacts import Artifacts
    from haulwright.apps.documents.folders import Folders


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
