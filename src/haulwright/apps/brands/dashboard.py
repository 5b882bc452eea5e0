"""Brands in the dashboard: a brand with its sources, how its last compile went, and its snapshot down to each item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from typing_extensions import TypedDict

from haulwright.apps.brands import views
from haulwright.apps.brands.application import Brands
from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import ActionDone, PageRoutes
from haulwright.dashboard.kit.tenants import TENANT, acting_principal, page_principal
from haulwright.dashboard.kit.turns import PAGED, Turns
from haulwright.errors import InvalidValue, NotFound
from haulwright.operations.principal import TenantRequired
from haulwright.visible import web_address

if TYPE_CHECKING:
    from haulwright.dashboard.kit.forms import Form
    from haulwright.operations.principal import Principal

pages = PageRoutes("brands", module=__file__)

MOST_ITEMS: Final = 300
"""Of a snapshot on its page, those first that statements rest on; the JSON has all."""
NUMBER: Final = "number"
MOST_DIGITS: Final = 9


class CitedItemView(TypedDict):
    """An item that a snapshot rests on, numbered as its statements cite it."""

    id: str
    place: int
    """By which statements name it: [3]."""
    source: str
    kind: str
    external_id: str | None
    url: str | None
    """None where it is no address of the web."""
    author: str | None
    published_at: str | None
    excerpt: str
    why: str
    """Why it was chosen."""
    run_id: str
    is_cited: bool


@dataclass(frozen=True, slots=True)
class BrandsPage:
    """The brands of a tenant. `tenant` is none where none is named."""

    tenant: str | None
    brands: list[views.BrandView]
    turns: Turns


@dataclass(frozen=True, slots=True)
class BrandPageOfOne:
    """A brand with all that is known of it. `brand` is none where no tenant is named."""

    tenant: str | None
    brand: views.BrandView | None = None
    connections: tuple[views.BrandConnectionView, ...] = ()
    compile: views.CompileStatusView | None = None
    """The newest one."""
    snapshot: views.SnapshotView | None = None
    newest: int | None = None
    """The number of the newest snapshot."""
    items: tuple[CitedItemView, ...] = ()
    more_items: int = 0
    diff: views.SnapshotDiffView | None = None
    """What changed since the snapshot before."""


@pages.get(
    "/brands",
    "brands.html",
    "Brands",
    verb="brands.read",
    nav=Nav("Brands", group="Applications"),
    query=(TENANT, *PAGED),
)
def brands_of_tenant(call: PageCall) -> BrandsPage:
    """The brands of a tenant, the oldest first."""
    principal = page_principal(call)
    turns = call.turns(principal.tenant)
    try:
        page = _brands(call).page(principal, after=turns.after, limit=turns.limit)
    except TenantRequired:
        return BrandsPage(None, [], turns)
    return BrandsPage(principal.tenant, [views.brand(row) for row in page.rows], turns.then(page.next))


@pages.get("/brands/{brand}", "brand.html", "Brand", verb="brands.read", query=(TENANT, NUMBER))
def brand_of_one(call: PageCall) -> BrandPageOfOne:
    """A brand: its snapshot down to each item, what changed since the one before, its compiles and its sources."""
    principal, brands, brand_id = page_principal(call), _brands(call), call.path["brand"]
    try:
        brand = brands.get(principal, brand_id)
    except TenantRequired:
        return BrandPageOfOne(None)
    snapshot = _snapshot(brands, principal, brand.id, _number(call))
    newest = snapshot if snapshot is None or NUMBER not in call.query else _snapshot(brands, principal, brand.id, None)
    items = () if snapshot is None else _items(snapshot)
    has_earlier = snapshot is not None and snapshot["number"] > 1
    return BrandPageOfOne(
        principal.tenant,
        views.brand(brand),
        tuple(views.connection(row) for row in brands.connections(principal, brand.id)),
        _newest_compile(brands, principal, brand.id),
        snapshot,
        None if newest is None else newest["number"],
        items[:MOST_ITEMS],
        max(0, len(items) - MOST_ITEMS),
        views.comparison(brands.compare(principal, brand.id, new=snapshot["number"]))
        if snapshot is not None and has_earlier
        else None,
    )


@pages.post("/brands/{brand}/compile", verb="brands.compile")
def compile_brand(call: PageCall, form: Form) -> ActionDone:
    """Have a brand compiled: what is stale is bought, and a new snapshot made."""
    run = _brands(call).compile(acting_principal(call, form), call.path["brand"])
    to = call.link("brands", run.brand_id, tenant=call.query.get(TENANT))
    return ActionDone("It is compiled: a worker refreshes what is stale, then makes a new snapshot.", to=to)


def _snapshot(brands: Brands, principal: Principal, brand_id: str, number: int | None) -> views.SnapshotView | None:
    """A snapshot; None where there is none yet. One that was named by its number is missed."""
    try:
        return cast("views.SnapshotView", brands.snapshot(principal, brand_id, number))
    except NotFound:
        if number is not None:
            raise
        return None


def _newest_compile(brands: Brands, principal: Principal, brand_id: str) -> views.CompileStatusView | None:
    try:
        return views.status(brands.status(principal, brand_id))
    except NotFound:
        return None


def _items(snapshot: views.SnapshotView) -> tuple[CitedItemView, ...]:
    """The items of a snapshot, in the order in which its statements cite them; then those that none does."""
    statements = [statement for section in snapshot["sections"].values() for statement in section]
    cited = dict.fromkeys(item for statement in statements for item in statement["evidence"])
    ids = [*cited, *(item for item in snapshot["evidence"] if item not in cited)]
    return tuple(
        _item(item_id, place, snapshot["evidence"][item_id], is_cited=item_id in cited)
        for place, item_id in enumerate(ids, 1)
        if item_id in snapshot["evidence"]
    )


def _item(item_id: str, place: int, provenance: dict[str, Any], *, is_cited: bool) -> CitedItemView:
    return {
        "id": item_id,
        "place": place,
        "source": provenance["source"],
        "kind": provenance["kind"],
        "external_id": provenance["external_id"],
        "url": web_address(provenance["url"]),
        "author": provenance["author"],
        "published_at": provenance["published_at"],
        "excerpt": provenance["excerpt"],
        "why": str(provenance["why"]),
        "run_id": provenance["run_id"],
        "is_cited": is_cited,
    }


def _number(call: PageCall) -> int | None:
    text = call.query.get(NUMBER, "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > MOST_DIGITS or int(text) < 1:
        raise InvalidValue(NUMBER, text[:40], "is no number of a snapshot")
    return int(text)


def _brands(call: PageCall) -> Brands:
    return cast("Brands", call.application("brands"))
