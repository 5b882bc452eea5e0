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


def verified(artifacts: Artifacts, folders: Folders, tenant: str) -> Iterator[FileVerdict]:
    """Every file of a tenant with its verdict, in the order of their hashes. Nothing is changed."""
    for row in artifacts.on_record(tenant):
        state: Literal["whole", "missing", "damaged"] = "whole"
        if not folders.has(tenant, row.sha256):
            state = "damaged" if folders.place(tenant, row.sha256).exists() else "missing"
        yield FileVerdict(row.sha256, row.key, row.bytes, state)
