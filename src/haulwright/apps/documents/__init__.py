"""Documents: manifests of addresses become verified files, each fetched once, stored once, and found by its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haulwright import ApplicationSpec
from haulwright.discovery import lazy_names

if TYPE_CHECKING:
    from haulwright import Haulwright
    from haulwright.apps.documents.application import Documents
    from haulwright.apps.documents.errors import Truncated, WrongKind
    from haulwright.apps.documents.manifest import Item

__all__ = ["SPEC", "Documents", "Item", "Truncated", "WrongKind", "install"]

SPEC = ApplicationSpec(
    name="documents",
    package=__name__,
    summary="Documents: manifests of addresses become verified, searchable files.",
    queues=("documents-upkeep", "documents"),
    command="doc",
    commands=f"{__name__}.cli",
    routes=f"{__name__}.routes",
    pages=f"{__name__}.dashboard",
    settings=f"{__name__}.settings",
    demo=f"{__name__}.demo",
    extra="apps",
    events=(
        "document.refused",
        "documents.reconciled",
    ),
)
__getattr__ = lazy_names(
    __name__, {"Documents": "application", "Item": "manifest", "Truncated": "errors", "WrongKind": "errors"}
)


def install(app: Haulwright) -> Documents:
    """Put documents on an app: its tasks and its schedule. Nothing is opened yet."""
    from haulwright.apps.documents.application import Documents  # noqa: PLC0415 - the spec above must stay light

    return Documents.on(app)
