"""How documents are shown. Keys are stable: programs rely on them and on their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict

from haulwright.operations.times import iso

if TYPE_CHECKING:
    from haulwright.apps.documents.artifacts import File, SearchHit
    from haulwright.apps.documents.planning import ManifestImport, PlannedArtifact
    from haulwright.apps.documents.politeness import Politeness
    from haulwright.apps.documents.report import Discrepancy
    from haulwright.cli.kit.output import Out
    from haulwright.clock import Instant

ERROR_CHARS = 60
ENDED_WELL = ("FINALIZED", "INDEXED", "DEDUPED", "SKIPPED_DUPLICATE")
SHA_CHARS = 12
STANDING_HEADERS = ("document", "state", "attempts", "sha256", "job", "error")
HIT_HEADERS = ("title", "type", "bytes", "sha256", "stored", "source", "passage")
OPTIONAL_HIT_COLUMNS = ("bytes", "stored", "type", "source")
FINDING_HEADERS = ("finding", "tenant", "what", "done")


class PlannedDocumentView(TypedDict):
    """A document that was planned."""

    job_id: str
    idempotency_key: str
    created: bool
    """False where its job was there already."""
    canonical_url: str


class DocumentView(TypedDict):
    """How a document stands, in the words of the document."""

    job_id: str | None
    work_id: str
    artifact_id: str
    canonical_url: str
    state: str
    lease_owner: str | None
    attempts: int | None
    error_code: str | None
    error_message: str | None
    idempotency_key: str
    sha256: str | None
    duplicate_of: str | None
    updated_at: str | None


class DocumentsView(TypedDict):
    """How the documents of a tenant stand: how many in each state, their files, and the newest of them."""

    states: dict[str, int]
    files: int
    bytes: int
    missing: int
    documents: list[DocumentView]


class LineRefusalView(TypedDict):
    """A line of a manifest that cannot be right."""

    line: int
    why: str


class PolitenessView(TypedDict):
    """What the rate of the host that takes longest means for the new documents that come from it."""

    host: str
    documents: int
    rate: str
    seconds: float
    """They take at least so long, whatever the machine and the network can do."""


class ManifestView(TypedDict):
    """What became of the lines of a manifest."""

    manifest: str
    planned: int
    known: int
    repeated: int
    refused: int
    politeness: PolitenessView | None
    refusals: list[LineRefusalView]


class LiveManifestView(ManifestView):
    """What became of the jobs of a team's own manifest."""

    dry_run: bool
    adopted: int
    """Finished there, their file found here or copied."""
    without_file: int
    """Finished there, their file not found or not what its hash says: fetched anew."""
    under_way: int
    failed: int
    """Failed there, and left out."""


class FileView(TypedDict):
    """A file of the index."""

    title: str
    type: str
    bytes: int
    sha256: str
    source: str
    idempotency_key: str
    stored_at: str | None
    indexed_at: str | None
    text_problem: str | None


class FileHitView(FileView):
    """A file that a search found, with what it says around the first of the words."""

    passage: str
    page: int | None
    """The page of a PDF where it says so; none where its title or name alone does."""


class FileHitsView(TypedDict):
    """The files that a search found, the newest first."""

    files: list[FileHitView]


def manifest_document(manifest_import: ManifestImport) -> ManifestView:
    """What became of a manifest."""
    counts = manifest_import.counts
    return {
        "manifest": manifest_import.manifest,
        "planned": counts["planned"],
        "known": counts["known"],
        "repeated": counts["repeated"],
        "refused": counts["refused"],
        "politeness": politeness_document(manifest_import.politeness),
        "refusals": [{"line": line.number, "why": line.why} for line in manifest_import.refused],
    }


def live_manifest_document(manifest_import: ManifestImport, *, dry_run: bool) -> LiveManifestView:
    """What became of the jobs of a team's own manifest."""
    counts = manifest_import.counts
    return {
        **manifest_document(manifest_import),
        "dry_run": dry_run,
        "adopted": counts["adopted"],
        "without_file": counts["without_file"],
        "under_way": counts["under_way"],
        "failed": counts["failed"],
    }


def live_manifest_summary(document: LiveManifestView) -> str:
    """The same in one line."""
    begin = "nothing is written: " if document["dry_run"] else ""
    standing = ", ".join(f"{document[name]} {name}" for name in ("planned", "known", "repeated", "refused"))
    return (
        f"{begin}{standing}; there {document['adopted']} finished with their file, {document['without_file']} without, "
        f"{document['under_way']} under way, {document['failed']} failed and left out"
    )


def politeness_document(politeness: Politeness | None) -> PolitenessView | None:
    """How long politeness makes new documents take."""
    if politeness is None:
        return None
    return {
        "host": politeness.host,
        "documents": politeness.documents,
        "rate": politeness.rate,
        "seconds": politeness.seconds,
    }


def planned_document(artifact: PlannedArtifact) -> PlannedDocumentView:
    """A document that was planned."""
    return {
        "job_id": artifact.job_id,
        "idempotency_key": artifact.key,
        "created": artifact.created,
        "canonical_url": artifact.url,
    }


def standing_row(standing: DocumentView) -> tuple[object, ...]:
    """A document as a line of a table."""
    # An error of the past belongs to the whole of a document, not to a list of what stands.
    error = "" if standing["state"] in ENDED_WELL else " ".join((standing["error_message"] or "").split())
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


def file_document(file: File) -> FileView:
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


def hit_document(hit: SearchHit) -> FileHitView:
    """A file that a search found, for whoever may not know where its bytes are."""
    return {**file_document(hit.file), "passage": hit.passage, "page": hit.page}


def local_hit_document(hit: SearchHit) -> dict[str, Any]:
    """The same for somebody on this machine."""
    return {**file_document(hit.file), "path": str(hit.path), "passage": hit.passage, "page": hit.page}


def hit_row(out: Out, hit: SearchHit, now: Instant) -> tuple[object, ...]:
    """A file that a search found as a line of a table."""
    file, stored = hit.file, out.when(hit.file.stored_at, now)
    return (file.title, file.kind, file.bytes, file.sha256[:SHA_CHARS], stored, file.source, hit.passage)


def finding_row(finding: Discrepancy) -> tuple[object, ...]:
    """A finding as a line of a table."""
    return (finding.kind, finding.tenant, finding.what, finding.done)
