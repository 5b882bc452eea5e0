"""Verifying: every file on record, read from its first byte to its last and compared with its hash."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from penstock.apps.documents.application import Documents


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one file."""

    sha256: str
    key: str
    bytes: int
    state: Literal["whole", "missing", "damaged"]


def verified(documents: Documents, tenant: str) -> Iterator[Verdict]:
    """Every file of a tenant with its verdict, in the order of their hashes. Nothing is changed."""
    for row in documents.artifacts.on_record(tenant):
        state: Literal["whole", "missing", "damaged"] = "whole"
        if not documents.folders.has(tenant, row.sha256):
            state = "damaged" if documents.folders.place(tenant, row.sha256).exists() else "missing"
        yield Verdict(row.sha256, row.key, row.bytes, state)
