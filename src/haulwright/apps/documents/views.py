"""How documents are shown. Keys are stable: programs rely on them and on their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haulwright.operations.times import iso

if TYPE_CHECKING:
    from haulwright.apps.documents.artifacts import File
    from haulwright.apps.documents.planning import PlannedArtifact
    from haulwright.apps.documents.report import Discrepancy
    from haulwright.cli.kit.output import Out
    from haulwright.clock import Instant

ERROR_CHARS = 60
SHA_CHARS = 12
STANDING_HEADERS = ("document", "state", "attempts", "sha256", "job", "error")
FILE_HEADERS = ("title", "type", "bytes", "sha256", "stored", "source")
FINDING_HEADERS = ("finding", "tenant", "what", "done")


def planned_document(one: PlannedArtifact) -> dict[str, Any]:
    """A document that was planned."""
    return {"job_id": one.job_id, "idempotency_key": one.key, "created": one.created, "canonical_url": one.url}


def standing_row(one: dict[str, Any]) -> tuple[object, ...]:
    """A document as a line of a table."""
    error = " ".join((one["error_message"] or "").split())
    sha256 = (one["sha256"] or "")[:SHA_CHARS]
    cells = (one["canonical_url"], one["state"], one["attempts"], sha256, one["job_id"], error[:ERROR_CHARS])
    return tuple("" if cell is None else cell for cell in cells)


def file_document(one: File) -> dict[str, Any]:
    """A file of the index."""
    return {
        "title": one.title,
        "type": one.kind,
        "bytes": one.bytes,
        "sha256": one.sha256,
        "source": one.source,
        "idempotency_key": one.key,
        "stored_at": iso(one.stored_at),
        "indexed_at": iso(one.indexed_at),
        "text_problem": one.text_problem,
    }


def file_row(out: Out, one: File, now: Instant) -> tuple[object, ...]:
    """A file as a line of a table."""
    return (one.title, one.kind, one.bytes, one.sha256[:SHA_CHARS], out.when(one.stored_at, now), one.source)


def finding_row(one: Discrepancy) -> tuple[object, ...]:
    """A finding as a line of a table."""
    return (one.kind, one.tenant, one.what, one.done)
