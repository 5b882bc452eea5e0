"""Documents: manifests of addresses become verified files, each fetched once, stored once, and found by its words."""

from __future__ import annotations

from penstock.apps.documents.application import Documents
from penstock.apps.documents.errors import Truncated, WrongKind
from penstock.apps.documents.manifest import Item
from penstock.client.app import Penstock

__all__ = ["Documents", "Item", "Truncated", "WrongKind", "install"]


def install(app: Penstock) -> Documents:
    """Put documents on an app: its tasks and its schedule. Nothing is opened yet."""
    return Documents.on(app)
