"""How documents are shown. Keys are stable: programs rely on them and on their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haulwright.operations.times import iso

if TYPE_CHECKING:
    from haulwright.apps.documents.artifacts import File, SearchHit
    from haulwright.apps.documents.planning import PlannedArtifact
    from haulwright.apps.documents.report import Discrepancy
    from haulwright.cli.kit.output import Out
    from haulwright.clock import Instant

ERROR_CHARS = 60
SHA_CHARS = 12
STANDING_HEADERS = ("document", "state", "attempts", "sha256", "job", "error")
HIT_HEADERS = ("title", "type", "bytes", "sha256", "stored", "source", "passage")
OPTIONAL_HIT_COLUMNS = ("bytes", "stored", "type", "source")
FINDING_HEADERS = ("finding", "tenant", "what", "done")


def planned_document(artifact: PlannedArtifact) -> dict[str, Any]:
    """A document that was planned."""
    return {
        "job_id": artifact.job_id,
        "idempotency_key": artifact.key,
        "created": artifact.created,
        "canonical_url": artifact.url,
    }


def standing_row(standing: dict[str, Any]) -> tuple[object, ...]:
    """A document as a line of a table."""
    error = " ".join((standing["error_message"] or "").split())
    sha256 = (standing["sha256"] or "")[:SHA_CHARS]
    cells = (
        standing["canonical_url"],
        standing["state"],
        standing["attempts"],
        sha256,
        standing["job_id"],
        error[:ERROR_CHARS],
    )
    return tuple("" if cell is None else cell for cell in cells)


def file_document(file: File) -> dict[str, Any]:
    """A file of the index."""
    return {
        "title": file.title,
        "type": file.kind,
        "bytes": file.bytes,
        "sha256": file.sha256,
        "source": file.source,
        "idempotency_key": file.key,
        "stored_at": iso(file.stored_at),
        "indexed_at": iso(file.indexed_at),
        "text_problem": file.text_problem,
    }


def hit_document(hit: SearchHit) -> dict[str, Any]:
    """A file that a search found."""
    return {**file_document(hit.file), "path": str(hit.path), "passage": hit.passage}


def hit_row(out: Out, hit: SearchHit, now: Instant) -> tuple[object, ...]:
    """A file that a search found as a line of a table."""
    file, stored = hit.file, out.when(hit.file.stored_at, now)
    return (file.title, file.kind, file.bytes, file.sha256[:SHA_CHARS], stored, file.source, hit.passage)


def finding_row(finding: Discrepancy) -> tuple[object, ...]:
    """A finding as a line of a table."""
    return (finding.kind, finding.tenant, finding.what, finding.done)
