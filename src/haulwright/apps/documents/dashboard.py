"""Documents in the dashboard: how they stand, what they say, and one of them with its operations and its file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast

from typing_extensions import TypedDict

from haulwright.apps.documents.application import Documents
from haulwright.apps.documents.routes import LONGEST_QUERY_CHARS
from haulwright.apps.documents.views import DocumentView, FileHitView, hit_document
from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import PageRoutes
from haulwright.dashboard.kit.tenants import TENANT, page_principal
from haulwright.errors import InvalidValue, NotFound
from haulwright.operations.principal import TenantRequired
from haulwright.operations.times import iso
from haulwright.operations.views.effects import EffectView, effect_view
from haulwright.visible import web_address

if TYPE_CHECKING:
    from haulwright.operations.principal import Principal

pages = PageRoutes("documents", module=__file__)

LATEST: Final = 100
"""Documents in the list, the newest first; the states and the search find the others."""
MOST_HITS: Final = 50
MOST_OPERATIONS: Final = 50


class OperationView(TypedDict):
    """What one operation of a document came to."""

    name: str
    tries: int
    result: Any
    started_at: str | None
    settled_at: str | None


@dataclass(frozen=True, slots=True)
class DocumentsPage:
    """Documents by their state, or files by their words. `tenant` is none where none is named."""

    tenant: str | None
    state: str = ""
    words: str = ""
    states: dict[str, int] | None = None
    files: int = 0
    bytes: int = 0
    missing: int = 0
    documents: tuple[DocumentView, ...] = ()
    hits: tuple[FileHitView, ...] | None = None
    """None where nothing is searched for."""
    refusal: str = ""
    """Why nothing can be searched for by these words."""
    is_cut: bool = False
    """There are more than these."""


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """One document. `document` is none where no tenant is named."""

    tenant: str | None
    document: DocumentView | None = None
    link: str | None = None
    """Its address, where it is one of the web."""
    operations: tuple[OperationView, ...] = ()
    effects: tuple[EffectView, ...] = ()
    """The same while it is under way."""


@pages.get(
    "/documents",
    "documents.html",
    "Documents",
    verb="documents.read",
    nav=Nav("Documents", group="Applications"),
    query=(TENANT, "state", "words"),
)
def documents_of_tenant(call: PageCall) -> DocumentsPage:
    """How documents stand, and what they say."""
    principal, documents = page_principal(call), _documents(call)
    state, words = call.query.get("state", ""), call.query.get("words", "").strip()
    if len(words) > LONGEST_QUERY_CHARS:
        raise InvalidValue("words", f"{words[:40]}...", f"are more than {LONGEST_QUERY_CHARS} characters")
    try:
        files, size, missing = documents.get_totals(principal)
    except TenantRequired:
        return DocumentsPage(None, state, words)
    hits, refusal = _search(documents, principal, words)
    rows = documents.list_documents(principal, state=state or None, limit=LATEST + 1) if hits is None else []
    return DocumentsPage(
        principal.tenant,
        state,
        words,
        documents.count_states(principal),
        files,
        size,
        missing,
        tuple(map(_dated, rows[:LATEST])),
        None if hits is None else hits[:MOST_HITS],
        refusal,
        len(rows) > LATEST or len(hits or ()) > MOST_HITS,
    )


@pages.get("/documents/{document:path}", "document.html", "Document", verb="documents.read", query=(TENANT,))
def document_of_one(call: PageCall) -> DocumentPage:
    """One document with its operations and its file, by its job, its key or its hash."""
    principal, documents = page_principal(call), _documents(call)
    try:
        document = documents.get_document(principal, call.path["document"])
    except TenantRequired:
        return DocumentPage(None)
    job_id = document["job_id"] or ""
    operations = documents.list_operations(principal, job_id, MOST_OPERATIONS)
    return DocumentPage(
        principal.tenant,
        _dated(document),
        web_address(document["canonical_url"]),
        tuple(
            OperationView(
                name=each.name,
                tries=each.tries,
                result=None if each.result is None else json.loads(each.result),
                started_at=iso(each.started_at),
                settled_at=iso(each.settled_at),
            )
            for each in operations
        ),
        () if operations else _effects(call, principal, job_id),
    )


def _search(documents: Documents, principal: Principal, words: str) -> tuple[tuple[FileHitView, ...] | None, str]:
    """The files that have these words; none where there are no words, and why where nothing can be searched for."""
    if not words:
        return None, ""
    try:
        hits = documents.search_hits(principal, words, MOST_HITS + 1)
    except InvalidValue as refusal:
        return (), refusal.message
    return tuple(hit_document(hit) for hit in hits), ""


def _effects(call: PageCall, principal: Principal, job_id: str) -> tuple[EffectView, ...]:
    """The operations of a document that is under way: effects of its job, where there is one."""
    try:
        page = call.app.operations(principal).effects.of_job(job_id, limit=MOST_OPERATIONS)
    except NotFound:
        return ()
    return tuple(effect_view(effect) for effect in page.rows)


def _dated(document: DocumentView) -> DocumentView:
    """A document with its moment as ISO 8601, whichever form a database has it in."""
    value: Any = document["updated_at"]
    if value is None:
        return document
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
    return {**document, "updated_at": moment.astimezone(UTC).isoformat(timespec="seconds")}


def _documents(call: PageCall) -> Documents:
    return cast("Documents", call.application("documents"))
