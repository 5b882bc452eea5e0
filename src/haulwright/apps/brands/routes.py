"""Brands over HTTP: brands and their sources, compiles, and what came of them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final, cast

from fastapi import Query
from pydantic import Field

from haulwright.api.kit.call import ApiCall, Caller
from haulwright.api.kit.params import LONGEST_NAME_CHARS, VISIBLE, Cursor, Key, Limit, RequestBody
from haulwright.api.kit.routes import ApiReply, ApiRoutes
from haulwright.apps.brands import views
from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.compile_request import LONGEST_WORD_CHARS

routes = ApiRoutes("brands", prefix="/brands")

HIGHEST_NUMBER: Final = 2**31 - 1
MOST_OF_A_SOURCE: Final = 100
LONGEST_IDENTIFIER_CHARS: Final = 2_000
Text = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME_CHARS)]
Answers = Annotated[dict[str, Any], Field(description="Onboarding answers by question.")]
Number = Annotated[int | None, Query(ge=1, le=HIGHEST_NUMBER, description="The number of a snapshot.")]
Forced = Annotated[bool, Query(description="As if every source were to be bought anew.")]


class NewBrandBody(RequestBody):
    """A brand to be made."""

    name: Text
    answers: Answers = {}  # noqa: RUF012 - pydantic copies it


class BrandChangeBody(RequestBody):
    """What changes: an answer that is null goes, those that are not named stay."""

    name: Text | None = None
    answers: Answers | None = None


class BrandSourceBody(RequestBody):
    """A source of a brand: a handle on a platform, or the address of a site."""

    platform: Annotated[Text, Field(examples=["instagram"])]
    capability: Annotated[Text, Field(examples=["posts"])]
    identifier: Annotated[str, Field(min_length=1, max_length=LONGEST_IDENTIFIER_CHARS)]
    settings: dict[str, Any] = {}  # noqa: RUF012 - as above
    enabled: bool = True


class CompileBody(RequestBody):
    """A compile to be made."""

    force_refresh: Annotated[bool, Field(description="Buy every source anew, once, whatever is fresh.")] = False
    prompt_version: Annotated[str, Field(max_length=LONGEST_WORD_CHARS)] = "v1"
    model: Annotated[str, Field(max_length=LONGEST_WORD_CHARS, description="Who writes; else nobody.")] | None = None
    request_id: Annotated[Text, Field(description="A second compile under this id is not made.")] | None = None


@routes.get("", views.BrandPageView)
def list_(call: Caller, cursor: Cursor = None, limit: Limit = 50) -> views.BrandPageView:
    """List the brands of a tenant, the oldest first."""
    cursors = call.cursors()
    page = _brands(call).page(call.principal, after=cursors.unwrap(cursor), limit=limit)
    return {"brands": [views.brand(brand) for brand in page.rows], "next": cursors.wrap(page.next)}


@routes.post("", views.BrandView, status=HTTPStatus.CREATED, keyed=True)
def add(call: Caller, body: NewBrandBody) -> ApiReply:
    """Make a brand with its onboarding answers."""
    brand = _brands(call).add(call.principal, body.name, body.answers)
    return ApiReply(views.brand(brand), HTTPStatus.CREATED, {"Location": call.url_of("brands", brand.id)})


@routes.get("/compiles/{compile_id}", views.CompileStatusView, missing=True, etag=True)
def show_compile(call: Caller, compile_id: Key) -> views.CompileStatusView:
    """Say how far a compile is, and what became of each source."""
    return views.status(_brands(call).status(call.principal, compile_id))


@routes.get("/{brand}", views.BrandView, missing=True, etag=True)
def show(call: Caller, brand: Key) -> views.BrandView:
    """Show a brand with its answers."""
    return views.brand(_brands(call).get(call.principal, brand))


@routes.patch("/{brand}", views.BrandView)
def update(call: Caller, brand: Key, body: BrandChangeBody) -> views.BrandView:
    """Change the name or the answers of a brand. The next compile works with them."""
    return views.brand(_brands(call).update(call.principal, brand, name=body.name, answers=body.answers))


@routes.get("/{brand}/connections", views.BrandConnectionsView, missing=True)
def list_connections(call: Caller, brand: Key) -> views.BrandConnectionsView:
    """List the sources of a brand."""
    return {"connections": [views.connection(row) for row in _brands(call).connections(call.principal, brand)]}


@routes.post("/{brand}/connections", views.BrandConnectionView, missing=True, conflict=True, keyed=True)
def connect(call: Caller, brand: Key, body: BrandSourceBody) -> views.BrandConnectionView:
    """Connect a source to a brand. Saying it again changes its settings, and switches it on or off."""
    return views.connection(_brands(call).connect(call.principal, brand, **body.model_dump()))


@routes.post(
    "/{brand}/compiles",
    views.CompileRunView,
    status=HTTPStatus.ACCEPTED,
    missing=True,
    conflict=True,
    keyed=True,
)
def compile_(call: Caller, brand: Key, body: CompileBody) -> ApiReply:
    """Compile a brand: refresh what is stale, then make a new snapshot. A worker does it."""
    run = _brands(call).compile(call.principal, brand, **body.model_dump())
    place = {} if run.job_id is None else {"Location": call.url_of("jobs", run.job_id)}
    return ApiReply(views.run(run), HTTPStatus.ACCEPTED, place)


@routes.get("/{brand}/plan", views.CompilePlanView, missing=True)
def plan(call: Caller, brand: Key, force_refresh: Forced = False) -> views.CompilePlanView:  # noqa: FBT002 - a query
    """Say what a compile would buy, reuse or skip now, and why. Nothing is changed."""
    return views.plan(brand, _brands(call).plan(call.principal, brand, force_refresh=force_refresh))


@routes.get("/{brand}/status", views.CompileStatusView, missing=True)
def status(call: Caller, brand: Key) -> views.CompileStatusView:
    """Say how far the newest compile of a brand is."""
    return views.status(_brands(call).status(call.principal, brand))


@routes.get("/{brand}/snapshot", views.SnapshotView, missing=True, etag=True)
def snapshot(call: Caller, brand: Key, number: Number = None) -> views.SnapshotView:
    """Show a snapshot of a brand: the newest, or one by its number."""
    return cast("views.SnapshotView", _brands(call).snapshot(call.principal, brand, number))


@routes.get("/{brand}/diff", views.SnapshotDiffView, missing=True)
def diff(call: Caller, brand: Key, old: Number = None, new: Number = None) -> views.SnapshotDiffView:
    """Compare two snapshots of a brand: the last two, or by their numbers."""
    return views.comparison(_brands(call).compare(call.principal, brand, old, new))


@routes.get("/{brand}/evidence", views.EvidenceListView, missing=True)
def evidence(
    call: Caller,
    brand: Key,
    connection: Annotated[
        str | None, Query(max_length=LONGEST_NAME_CHARS, pattern=VISIBLE, description="Only of this source.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_OF_A_SOURCE, description="At most so many of each source.")] = 20,
) -> views.EvidenceListView:
    """List the newest items of each source of a brand."""
    items = _brands(call).list_evidence(call.principal, brand, connection_id=connection, limit=limit)
    return {"evidence": [views.evidence(item) for item in items]}


def _brands(call: ApiCall) -> Brands:
    return cast("Brands", call.application("brands"))
