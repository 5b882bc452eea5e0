"""Prices in the dashboard: intakes with what they are worth, one of them with all that this rests on, and sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from typing_extensions import TypedDict

from haulwright.apps.prices.amounts import amount_text
from haulwright.apps.prices.application import Prices
from haulwright.apps.prices.chart_data import ChartDataView, chart_data
from haulwright.apps.prices.export import intake_document, point_document, valuation_document
from haulwright.apps.prices.intakes import Intake
from haulwright.apps.prices.points import Point
from haulwright.apps.prices.valuations import Valued
from haulwright.apps.prices.views import (
    PointView,
    PriceSourceView,
    ValuedIntakeView,
    by_weight,
    left_out_text,
)
from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import ActionDone, PageRoutes
from haulwright.dashboard.kit.tenants import TENANT, acting_principal, page_principal
from haulwright.dashboard.kit.turns import PAGED, Turns
from haulwright.operations.principal import TenantRequired
from haulwright.visible import web_address

if TYPE_CHECKING:
    from haulwright.dashboard.kit.forms import Form

pages = PageRoutes("prices", module=__file__)

MOST_POINTS: Final = 200
"""Of an intake on its page, the newest; the API has the rest."""
MOST_SOURCES: Final = 100
LATEST_VERSIONS: Final = 10
MOST_BAD: Final = 20


class AmountsView(TypedDict):
    """The amounts of a valuation as people write them."""

    centre: str
    low: str
    high: str
    spread: str


class IntakeRowView(ValuedIntakeView):
    """An intake as it stands in a list."""

    heading: str
    amounts: AmountsView | None


class CountedPointView(PointView):
    """A price with whether it counts."""

    written: str
    """Its amount as people write it."""
    counts: str
    """`yes`, `too far out`, or nothing where it is neither."""


class VersionView(TypedDict):
    """What an intake was worth before."""

    version: int
    valued_at: str
    amounts: AmountsView
    confidence: int
    points: int


@dataclass(frozen=True, slots=True)
class IntakesPage:
    """Intakes with what they are worth, and the sources that say so."""

    tenant: str | None
    intakes: list[IntakeRowView]
    turns: Turns
    sources: list[PriceSourceView]
    more_sources: bool


@dataclass(frozen=True, slots=True)
class IntakePageOfOne:
    """An intake with all that its valuation rests on. `intake` is none where no tenant is named."""

    tenant: str | None
    intake: IntakeRowView | None = None
    left_out: str | None = None
    """How many prices do not count, and why."""
    points: tuple[CountedPointView, ...] = ()
    more_points: bool = False
    chart: ChartDataView | None = None
    versions: tuple[VersionView, ...] = ()
    unusable: tuple[dict[str, Any], ...] = ()
    """Items of listings that could not be used, with their reasons."""
    collections: tuple[dict[str, Any], ...] = ()
    """The newest jobs."""


@pages.get(
    "/prices",
    "intakes.html",
    "Prices",
    verb="prices.read",
    nav=Nav("Prices", group="Applications"),
    query=(TENANT, *PAGED),
)
def intakes(call: PageCall) -> IntakesPage:
    """Intakes with what they are worth, and how the sources are."""
    principal, prices = page_principal(call), _prices(call)
    turns = call.turns(principal.tenant)
    page = prices.page_intakes(principal, after=turns.after, limit=turns.limit)
    sources = prices.list_sources(principal)
    return IntakesPage(
        principal.tenant,
        [_intake_row(intake, valued) for intake, valued in page.rows],
        turns.then(page.next),
        sources[:MOST_SOURCES],
        len(sources) > MOST_SOURCES,
    )


@pages.get("/prices/intakes/{intake:path}", "intake.html", "Intake", verb="prices.read", query=(TENANT,))
def intake_of_one(call: PageCall) -> IntakePageOfOne:
    """One intake: what it is worth, and what this rests on."""
    principal, prices, intake_id = page_principal(call), _prices(call), call.path["intake"]
    try:
        intake = prices.get_intake(principal, intake_id)
    except TenantRequired:
        return IntakePageOfOne(None)
    valued = prices.find_valuation(principal, intake_id)
    points = prices.list_points(principal, intake_id, MOST_POINTS + 1)
    shown = points[:MOST_POINTS]
    return IntakePageOfOne(
        principal.tenant,
        _intake_row(intake, valued),
        left_out_text(valued.valuation.left_out) if valued else None,
        tuple(_counted(point, counts) for point, counts in by_weight(shown, valued)),
        len(points) > MOST_POINTS,
        chart_data(shown, valued.valuation if valued else None),
        tuple(_version(each) for each in prices.list_valuations(principal, intake_id, LATEST_VERSIONS)),
        tuple(prices.list_quarantined(principal, intake_id, MOST_BAD)),
        tuple(prices.list_jobs(principal, intake_id)),
    )


@pages.post("/prices/intakes/{intake:path}/collect", verb="prices.collect")
def collect(call: PageCall, form: Form) -> ActionDone:
    """Collect prices of an intake from every source that is enabled."""
    intake_id = call.path["intake"]
    jobs = _prices(call).collect(acting_principal(call, form), intake_id)
    created = sum(job.created for job in jobs)
    sentence = f"{created} jobs collect its prices; {len(jobs) - created} were active already."
    return ActionDone(sentence, to=call.link("prices", "intakes", intake_id, tenant=call.query.get(TENANT)))


@pages.post("/prices/sources/{source:path}/switch", verb="prices.change")
def switch(call: PageCall, form: Form) -> ActionDone:
    """Collect from a source, or leave it alone until it is enabled again."""
    enabled = form.text("enabled") == "true"
    source = _prices(call).enable_source(acting_principal(call, form), call.path["source"], enabled=enabled)
    sentence = f"The source {source.name} is {'asked from now on' if enabled else 'left alone'}."
    return ActionDone(sentence, to=call.url("/prices", tenant=call.query.get(TENANT)))


def _intake_row(intake: Intake, valued: Valued | None) -> IntakeRowView:
    return {
        **intake_document(intake),
        "valuation": valuation_document(valued),
        "heading": intake.heading,
        "amounts": None if valued is None else _amounts(valued),
    }


def _amounts(valued: Valued) -> AmountsView:
    valuation = valued.valuation
    return {
        "centre": amount_text(valuation.centre, valuation.currency),
        "low": amount_text(valuation.low, valuation.currency),
        "high": amount_text(valuation.high, valuation.currency),
        "spread": amount_text(valuation.spread, valuation.currency),
    }


def _counted(point: Point, counts: str) -> CountedPointView:
    view = point_document(point)
    written = amount_text(point.minor, point.currency)
    return {**view, "url": web_address(point.url), "written": written, "counts": counts}


def _version(valued: Valued) -> VersionView:
    view = valuation_document(valued)
    return {
        "version": valued.version,
        "valued_at": "" if view is None else view["valued_at"],
        "amounts": _amounts(valued),
        "confidence": valued.valuation.confidence,
        "points": len(valued.valuation.points),
    }


def _prices(call: PageCall) -> Prices:
    return cast("Prices", call.application("prices"))
