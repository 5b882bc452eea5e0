"""Artefacts and files as they stand in the database. Every read names its tenant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from haulwright.apps.documents.identity import shown_url
from haulwright.apps.documents.tokenizer import parse_query
from haulwright.apps.documents.views import DocumentView
from haulwright.clock import Instant
from haulwright.engine.ids import is_id
from haulwright.errors import InvalidValue, NotFound, Refused

if TYPE_CHECKING:
    from haulwright.application import Tables

MOST_LISTED: Final = 1_000
PAGE: Final = 500
OPERATIONS: Final = ("HEAD", "STREAM", "FINALIZE", "DEDUPE", "INDEX")
"""What is done for a document, in this order."""
_STANDING: Final = (
    "job_id", "work_id", "artifact_id", "canonical_url", "state", "lease_owner", "attempts", "error_code",
    "error_message", "idempotency_key", "sha256", "duplicate_of", "updated_at",
)  # fmt: skip

_HASH: Final = re.compile(r"[0-9a-f]{6,64}")
"""A hash of a content, or so much of it as a list shows."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """What was planned, and what came of it."""

    tenant: str
    key: str
    work_id: str
    artifact_id: str
    canonical_url: str
    url: str
    """Where it is fetched. It may be signed: it is shown to nobody."""
    name: str
    title: str | None
    expected_sha256: str | None
    expected_bytes: int | None
    expected_kind: str | None
    manifest: str
    sha256: str | None
    outcome: str | None
    duplicate_of: str | None


@dataclass(frozen=True, slots=True)
class File:
    """A file of a tenant, as the index holds it."""

    tenant: str
    sha256: str
    key: str
    """The artefact that brought it first."""
    bytes: int
    kind: str
    source: str
    """Its address without query and credentials."""
    title: str
    stored_at: Instant
    indexed_at: Instant | None
    missing_at: Instant | None
    text_problem: str | None


class SearchHit(NamedTuple):
    """A file that a search found."""

    file: File
    path: Path
    """Where its bytes are."""
    passage: str
    """What it says around the first of the words."""
    page: int | None
    """The page of a PDF where it says so; None where its title or name alone does."""


class DocumentOperation(NamedTuple):
    """What one operation of a document came to."""

    name: str
    tries: int
    result: str | None
    """As JSON."""
    started_at: Instant
    settled_at: Instant | None

    @property
    def order(self) -> tuple[Instant, int]:
        """Those of a small document are settled at once, in the order of their steps."""
        place = OPERATIONS.index(self.name) if self.name in OPERATIONS else len(OPERATIONS)
        return self.settled_at or self.started_at, place


class FileRecord(NamedTuple):
    """A file as far as its place on disk is compared with it."""

    sha256: str
    key: str
    bytes: int
    missing_at: Instant | None


class Artifacts:
    """Reads what is planned, stored and indexed."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def get(self, tenant: str, key: str) -> Artifact:
        """One artefact by its key."""
        rows = self._tables.read("artifacts.get", tenant=tenant, key=key)
        if not rows:
            raise NotFound("document", key)
        return Artifact(*rows[0])

    def file(self, tenant: str, sha256: str) -> File | None:
        """The file with this content, if the tenant has it on record."""
        rows = self._tables.read("files.get", tenant=tenant, sha256=sha256)
        return File(*rows[0]) if rows else None

    def text(self, tenant: str, sha256: str) -> str:
        """What a file says, as far as it is indexed."""
        rows = self._tables.read("files.text", tenant=tenant, sha256=sha256)
        return str(rows[0][0] or "") if rows else ""

    def find_file(self, tenant: str, name: str) -> File:
        """The file of a document: by its hash or the beginning of it, or by the job, key or address of a document."""
        if _HASH.fullmatch(name):
            rows = self._tables.read("files.beginning", tenant=tenant, beginning=name, end=f"{name}g")
            if len(rows) > 1:
                raise InvalidValue("document", name, "is the beginning of several hashes", hint="Give more of it.")
            if rows:
                return File(*rows[0])
        standing = self.standing(tenant, name)
        file = self.file(tenant, standing["sha256"]) if standing["sha256"] else None
        if file is None:
            message = f"The document has no file: it is {standing['state']}."
            raise Refused(message, hint=f"Look at it: haulwright doc status {standing['job_id']}")
        return file

    def search(self, tenant: str, query: str, limit: int = 20) -> list[File]:
        """The files that have all words of a query, the newest first; `harb*` stands for all that begin so."""
        rows = self._tables.read("files.search", tenant=tenant, terms=parse_query(query), limit=_check_limit(limit))
        return [File(*row) for row in rows]

    def standing(self, tenant: str, name: str) -> DocumentView:
        """How one artefact stands, in the words of the document; by its job, its key or its address."""
        rows = self._tables.read("artifacts.find", tenant=tenant, name=name)
        if not rows:
            raise NotFound("document", shown_url(name), hint="Give its job, its key, or its address as it was planned.")
        return cast("DocumentView", dict(zip(_STANDING, rows[0], strict=True)))

    def list(self, tenant: str, *, state: str | None = None, limit: int = 20) -> list[DocumentView]:
        """The artefacts of a tenant, the newest first."""
        rows = self._tables.read("artifacts.list", tenant=tenant, state=state, limit=_check_limit(limit))
        return [cast("DocumentView", dict(zip(_STANDING, row, strict=True))) for row in rows]

    def states(self, tenant: str) -> dict[str, int]:
        """How many artefacts there are in each state."""
        rows = self._tables.read("artifacts.states", tenant=tenant)
        return {state: count for state, count in rows}  # noqa: C416 - a row has any length to the checker

    def under_way(self, tenant: str, keys: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Those of some artefacts that have not ended yet, each with its job and its state."""
        rows = self._tables.read("artifacts.under_way", tenant=tenant, keys=list(keys))
        return {key: (job_id, state) for key, job_id, state in rows}

    def endings(self, tenant: str, keys: Sequence[str]) -> dict[str, int]:
        """How many of some artefacts are in each state."""
        rows = self._tables.read("artifacts.endings", tenant=tenant, keys=list(keys))
        return {state: count for state, count in rows}  # noqa: C416 - as above

    def totals(self, tenant: str) -> tuple[int, int, int]:
        """Files, their bytes, and how many of them are missing."""
        ((files, size, missing),) = self._tables.read("files.totals", tenant=tenant)
        return files, size, missing

    def file_records(self, tenant: str) -> Iterator[FileRecord]:
        """The files of a tenant in the order of their hashes, read a page at a time."""
        after = ""
        while rows := self._tables.read("files.page", tenant=tenant, after=after, limit=PAGE):
            yield from (FileRecord(*row) for row in rows)
            after = rows[-1][0]

    def operations(self, tenant: str, job_id: str, limit: int) -> tuple[DocumentOperation, ...]:
        """What the operations of a document that has ended came to, in their order."""
        if not is_id(job_id):
            return ()
        rows = self._tables.read("operations.of_job", tenant=tenant, job_id=job_id, limit=_check_limit(limit))
        return tuple(sorted((DocumentOperation(*row) for row in rows), key=lambda operation: operation.order))

    def is_active(self, job_id: str) -> bool:
        """Whether a job waits or runs."""
        return is_id(job_id) and bool(self._tables.read("upkeep.is_active", job_id=job_id))


def _check_limit(limit: int) -> int:
    if not 1 <= limit <= MOST_LISTED:
        raise InvalidValue("limit", limit, f"is not between 1 and {MOST_LISTED}")
    return limit
