"""Syncs in the dashboard: connections with their cadence and last syncs, and what operators ask about all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from haulwright.apps.syncs.application import Syncs
from haulwright.apps.syncs.views import (
    STAT_HEADERS,
    SyncConnectionView,
    SyncJobView,
    SyncStatsView,
    connection_document,
)
from haulwright.clock import SECOND
from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import ActionDone, PageRoutes
from haulwright.dashboard.kit.tenants import TENANT, acting_principal, page_principal
from haulwright.dashboard.kit.turns import PAGED, Turns
from haulwright.operations.principal import TenantRequired

if TYPE_CHECKING:
    from haulwright.apps.syncs.plans import Plan
    from haulwright.dashboard.kit.forms import Form
    from haulwright.operations.principal import Principal

pages = PageRoutes("syncs", module=__file__)

LATEST: Final = 30
"""Syncs of one connection on its page, the newest first."""


@dataclass(frozen=True, slots=True)
class SyncPlanOfPage:
    """The plan of a tenant, which its connections keep to."""

    name: str
    floor_seconds: float
    """The shortest time from one sync of a connection to the next."""
    is_fixed: bool


@dataclass(frozen=True, slots=True)
class SyncsPage:
    """The connections of a tenant, or of all."""

    tenant: str | None
    plan: SyncPlanOfPage | None
    connections: list[SyncConnectionView]
    turns: Turns


@dataclass(frozen=True, slots=True)
class SyncConnectionPage:
    """A connection with its last syncs. `connection` is none where no tenant is named."""

    tenant: str | None
    connection: SyncConnectionView | None = None
    plan: SyncPlanOfPage | None = None
    syncs: tuple[SyncJobView, ...] = ()


@dataclass(frozen=True, slots=True)
class SyncStatsPage:
    """Syncs counted, of a tenant or of all."""

    tenant: str | None
    stats: SyncStatsView
    headings: dict[str, str]


@pages.get(
    "/syncs",
    "connections.html",
    "Syncs",
    verb="syncs.read",
    nav=Nav("Syncs", group="Applications"),
    query=(TENANT, *PAGED),
)
def connections(call: PageCall) -> SyncsPage:
    """Connections with their cadence and when they were synced."""
    principal, syncs = page_principal(call), _syncs(call)
    turns = call.turns(principal.tenant)
    page = syncs.page_connections(principal, after=turns.after, limit=turns.limit)
    documents = [connection_document(row) for row in page.rows]
    return SyncsPage(principal.tenant, _plan(syncs, principal), documents, turns.then(page.next))


@pages.get("/syncs/stats", "stats.html", "Syncs counted", verb="syncs.read", query=(TENANT,))
def stats(call: PageCall) -> SyncStatsPage:
    """Syncs by state, connection and error."""
    principal = page_principal(call)
    return SyncStatsPage(principal.tenant, _syncs(call).get_stats(principal), STAT_HEADERS)


@pages.get("/syncs/connections/{connection:path}", "connection.html", "Connection", verb="syncs.read", query=(TENANT,))
def connection_of_one(call: PageCall) -> SyncConnectionPage:
    """One connection with its last syncs."""
    principal, syncs, name = page_principal(call), _syncs(call), call.path["connection"]
    try:
        connection = syncs.get_connection(principal, name)
    except TenantRequired:
        return SyncConnectionPage(None)
    jobs = syncs.list_jobs(principal, connector_id=name, limit=LATEST)
    plan = _plan(syncs, principal)
    return SyncConnectionPage(principal.tenant, connection_document(connection), plan, tuple(jobs))


@pages.post("/syncs/connections/{connection:path}/switch", verb="syncs.change")
def switch(call: PageCall, form: Form) -> ActionDone:
    """Sync a connection again, or leave it alone."""
    enabled = form.text("enabled") == "true"
    row = _syncs(call).enable(acting_principal(call, form), call.path["connection"], enabled=enabled)
    sentence = f"{row.connector_id} is {'synced from now on' if enabled else 'left alone'}."
    return ActionDone(sentence, to=_to_connection(call))


@pages.post("/syncs/connections/{connection:path}/dispatch", verb="syncs.dispatch")
def dispatch(call: PageCall, form: Form) -> ActionDone:
    """Enqueue a sync now. Only support goes below what the plan allows."""
    job_id = _syncs(call).dispatch(acting_principal(call, form), call.path["connection"])
    return ActionDone(f"The job {job_id} syncs it.", to=_to_connection(call))


def _plan(syncs: Syncs, principal: Principal) -> SyncPlanOfPage | None:
    """The plan of one tenant; none where the page is of all."""
    if principal.tenant is None:
        return None
    plan: Plan = syncs.get_plan(principal)
    return SyncPlanOfPage(plan.name, plan.floor_us / SECOND, plan.is_fixed)


def _to_connection(call: PageCall) -> str:
    return call.link("syncs", "connections", call.path["connection"], tenant=call.query.get(TENANT))


def _syncs(call: PageCall) -> Syncs:
    return cast("Syncs", call.application("syncs"))
