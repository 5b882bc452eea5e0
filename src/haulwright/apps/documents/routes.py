"""Documents over HTTP: have them fetched, see how they stand, find them by their words, and get the files."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final, Literal, cast

from fastapi import Query
from pydantic import Field

from haulwright.api.kit.call import ApiCall, Caller
from haulwright.api.kit.files import ApiFile
from haulwright.api.kit.params import LONGEST_NAME_CHARS, VISIBLE, Key, Limit, RequestBody
from haulwright.api.kit.routes import ApiReply, ApiRoutes
from haulwright.api.kit.uploads import Upload
from haulwright.apps.documents.application import LATEST, Documents
from haulwright.apps.documents.file_names import LONGEST_NAME_BYTES, name_of_url
from haulwright.apps.documents.manifest import LARGEST_BYTES, LONGEST_TITLE_CHARS, Item
from haulwright.apps.documents.views import (
    DocumentsView,
    DocumentView,
    FileHitsView,
    ManifestView,
    PlannedDocumentView,
    hit_document,
    manifest_document,
    planned_document,
)
from haulwright.errors import InvalidValue

routes = ApiRoutes("documents", prefix="/documents")

CSV: Final = ("text/csv", "text/tab-separated-values")
JSON_LINES: Final = ("application/json", "application/x-ndjson", "application/jsonl")
LONGEST_URL_CHARS: Final = 8_000
LONGEST_QUERY_CHARS: Final = 1_000
State = Literal[
    "PLANNED", "LEASED", "HEAD_DONE", "RESUME_OK", "STREAMING", "FINALIZED", "INDEXED", "DEDUPED", "SKIPPED_DUPLICATE",
    "FAILED",
]  # fmt: skip


class NewDocumentBody(RequestBody):
    """A document to be fetched. What is left out follows from its address."""

    url: Annotated[str, Field(min_length=1, max_length=LONGEST_URL_CHARS)]
    work_id: Annotated[
        str, Field(max_length=LONGEST_NAME_CHARS, description="What it is a part of; else its host.")
    ] = ""
    artifact_id: Annotated[str, Field(max_length=LONGEST_NAME_CHARS, description="Which part; else its address.")] = ""
    title: Annotated[str, Field(max_length=LONGEST_TITLE_CHARS)] | None = None
    name: Annotated[str, Field(max_length=LONGEST_NAME_BYTES, description="Of the file; else that of its address.")] = (
        ""
    )
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="The hash that it must have.")] | None = None
    bytes: Annotated[int, Field(ge=0, le=LARGEST_BYTES, description="The length that it must have.")] | None = None
    type: Annotated[str, Field(max_length=LONGEST_NAME_CHARS, examples=["application/pdf"])] | None = None


@routes.post("", PlannedDocumentView, status=HTTPStatus.ACCEPTED, conflict=True, keyed=True)
def add(call: Caller, body: NewDocumentBody) -> ApiReply:
    """Have one document fetched. The same document is the same job."""
    planned = _documents(call).add(call.principal, Item(**body.model_dump()))
    return ApiReply(planned_document(planned), HTTPStatus.ACCEPTED, {"Location": call.url_of("jobs", planned.job_id)})


@routes.post("/manifests", ManifestView, status=HTTPStatus.ACCEPTED, uploads=(*CSV, *JSON_LINES))
def upload_manifest(
    call: Caller,
    body: Upload,
    name: Annotated[
        str, Query(max_length=LONGEST_NAME_BYTES, pattern=VISIBLE, description="What the records call it.")
    ] = "upload",
) -> ManifestView:
    """Plan what a manifest lists: CSV with a header, or JSON Lines. A bad line is on record, and the rest goes on."""
    media_type = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in {*CSV, *JSON_LINES}:
        hint = f"A manifest is one of: {', '.join((*CSV, *JSON_LINES))}."
        raise InvalidValue("Content-Type", media_type, "is no type of a manifest", hint=hint)
    is_json = media_type in JSON_LINES
    return manifest_document(_documents(call).take_in_body(call.principal, body, name=name, is_json=is_json))


@routes.get("", DocumentsView)
def list_(
    call: Caller,
    state: Annotated[State | None, Query(description="Of the newest, only those in this state.")] = None,
    limit: Limit = LATEST,
) -> DocumentsView:
    """Show how documents stand: how many in each state, and the newest of them."""
    documents, principal = _documents(call), call.principal
    files, size, missing = documents.get_totals(principal)
    return {
        "states": documents.count_states(principal),
        "files": files,
        "bytes": size,
        "missing": missing,
        "documents": documents.list_documents(principal, state=state, limit=limit),
    }


@routes.get("/search", FileHitsView)
def search(
    call: Caller,
    words: Annotated[
        str, Query(min_length=1, max_length=LONGEST_QUERY_CHARS, pattern=VISIBLE, examples=["annual harb*"])
    ],
    limit: Limit = LATEST,
) -> FileHitsView:
    """Find files that have all of these words; harb* stands for every word that begins so."""
    return {"files": [hit_document(hit) for hit in _documents(call).search_hits(call.principal, words, limit)]}


@routes.get("/{document}", DocumentView, missing=True, etag=True)
def show(call: Caller, document: Key) -> DocumentView:
    """Show how one document stands, by its job or its key."""
    return _documents(call).get_document(call.principal, document)


@routes.file("/{document}/file")
def file(call: Caller, document: Key) -> ApiFile:
    """Give out the file of a document, or a range of it, by its hash or the beginning of it, its job or its key."""
    record, path = _documents(call).get_file(call.principal, document)
    return ApiFile(path, name_of_url(record.source), record.kind, record.sha256)


def _documents(call: ApiCall) -> Documents:
    return cast("Documents", call.application("documents"))
