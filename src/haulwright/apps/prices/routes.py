"""Prices over HTTP: intakes, the sources they are priced by, price points, valuations and their chart."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final, Literal, cast

from fastapi import Query
from pydantic import Field

from haulwright.api.kit.call import ApiCall, Caller
from haulwright.api.kit.params import LONGEST_NAME_CHARS, Cursor, Key, Limit, RequestBody
from haulwright.api.kit.routes import ApiReply, ApiRoutes
from haulwright.apps.prices.application import Prices
from haulwright.apps.prices.chart import chart as draw
from haulwright.apps.prices.export import intake_document, point_document, valuation_document
from haulwright.apps.prices.intakes import LONGEST_TITLE_CHARS, LONGEST_VALUE_CHARS, MOST_ATTRIBUTES, NewIntake
from haulwright.apps.prices.views import (
    ChartView,
    CollectionsView,
    IntakePageView,
    PointPageView,
    PointsView,
    PriceSourceDetailView,
    PriceSourcesView,
    ValuationHistoryView,
    ValuedIntakeView,
    source_document,
)

routes = ApiRoutes("prices", prefix="/prices")

SVG: Final = "image/svg+xml"
MOST_CHARTED: Final = 20_000
"""Observations that a chart looks at; of these it draws the newest."""
MOST_SOURCES_NAMED: Final = 100
Value = Annotated[str, Field(max_length=LONGEST_VALUE_CHARS)]
Form = Annotated[Literal["json", "svg"], Query(description="The data of the chart, or the chart.")]


class NewIntakeBody(RequestBody):
    """Something to be valued: by its title, or by what describes it."""

    intake_id: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME_CHARS)] | None = None
    year: Value | None = None
    mintmark: Value | None = None
    denomination: Value | None = None
    series: Value | None = None
    title: Annotated[str, Field(max_length=LONGEST_TITLE_CHARS)] | None = None
    attributes: Annotated[dict[str, Value], Field(max_length=MOST_ATTRIBUTES)] = {}  # noqa: RUF012 - pydantic copies it
    currency: Annotated[str, Field(description="Of its valuation; else the one that most prices are in.")] | None = None


class CollectBody(RequestBody):
    """What is collected: from which sources, and with which values in their addresses."""

    sources: Annotated[list[Value], Field(min_length=1, max_length=MOST_SOURCES_NAMED)] | None = None
    query_params: Annotated[dict[str, str], Field(max_length=MOST_ATTRIBUTES)] = {}  # noqa: RUF012 - as above


class PriceRulesBody(RequestBody):
    """The rules of a source, as its TOML file has them: where it answers, and how it is read."""

    rules: dict[str, Any]


@routes.get("/intakes", IntakePageView)
def list_intakes(call: Caller, cursor: Cursor = None, limit: Limit = 50) -> IntakePageView:
    """List intakes with what they are worth; staff who name no tenant see those of all."""
    cursors = call.cursors()
    page = _prices(call).page_intakes(call.principal, after=cursors.unwrap(cursor), limit=limit)
    intakes: list[ValuedIntakeView] = [
        {**intake_document(intake), "valuation": valuation_document(valued)} for intake, valued in page.rows
    ]
    return {"intakes": intakes, "next": cursors.wrap(page.next)}


@routes.post("/intakes", ValuedIntakeView, status=HTTPStatus.CREATED, conflict=True, keyed=True)
def add_intake(call: Caller, body: NewIntakeBody) -> ApiReply:
    """Have something valued from now on."""
    intake = _prices(call).add_intake(call.principal, NewIntake(**body.model_dump()))
    view: ValuedIntakeView = {**intake_document(intake), "valuation": None}
    return ApiReply(view, HTTPStatus.CREATED, {"Location": call.url_of("prices", "intakes", intake.intake_id)})


@routes.get("/intakes/{intake}", ValuedIntakeView, missing=True, etag=True)
def show_intake(call: Caller, intake: Key) -> ValuedIntakeView:
    """Show one intake with what it is worth."""
    record = _prices(call).get_intake(call.principal, intake)
    return {
        **intake_document(record),
        "valuation": valuation_document(_prices(call).find_valuation(call.principal, intake)),
    }


@routes.post(
    "/intakes/{intake}/collect",
    CollectionsView,
    status=HTTPStatus.ACCEPTED,
    missing=True,
    conflict=True,
    keyed=True,
)
def collect(call: Caller, intake: Key, body: CollectBody) -> CollectionsView:
    """Enqueue one job for each source of an intake. One that is active already stands."""
    jobs = _prices(call).collect(call.principal, intake, **body.model_dump())
    return {"jobs": [{"job_id": job.id, "created": job.created} for job in jobs]}


@routes.get("/intakes/{intake}/points", PointsView, missing=True)
def list_points(call: Caller, intake: Key) -> PointsView:
    """List what is last known of each listing, the newest first."""
    _prices(call).get_intake(call.principal, intake)
    return {"points": [point_document(point) for point in _prices(call).list_points(call.principal, intake)]}


@routes.get("/intakes/{intake}/history", PointPageView, missing=True)
def list_history(call: Caller, intake: Key, cursor: Cursor = None, limit: Limit = 500) -> PointPageView:
    """List every observation of an intake."""
    cursors = call.cursors(intake)
    page = _prices(call).page_history(call.principal, intake, after=cursors.unwrap(cursor), limit=limit)
    return {"points": [point_document(point) for point in page.rows], "next": cursors.wrap(page.next)}


@routes.get("/intakes/{intake}/valuation", ValuationHistoryView, missing=True)
def show_valuation(call: Caller, intake: Key) -> ValuationHistoryView:
    """Show what an intake is worth and why, and what it was, version by version."""
    prices, principal = _prices(call), call.principal
    prices.get_intake(principal, intake)
    versions = prices.list_valuations(principal, intake)
    return {
        "valuation": valuation_document(prices.find_valuation(principal, intake)),
        "versions": [{"version": valued.version, "centre": valued.valuation.centre} for valued in versions],
    }


@routes.get("/intakes/{intake}/chart", ChartView, missing=True, etag=True, media_types=(SVG,))
def chart(call: Caller, intake: Key, form: Form = "json") -> ChartView | ApiReply:
    """Draw the chart of an intake, or give what it is drawn from."""
    prices, principal = _prices(call), call.principal
    record = prices.get_intake(principal, intake)
    points, valued = prices.list_history(principal, intake, MOST_CHARTED), prices.find_valuation(principal, intake)
    if form == "svg":
        valuation = valued.valuation if valued else prices.value_anew(principal, intake)
        headers = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
        return ApiReply(draw(record.heading, points, valuation), headers=headers, media_type=SVG)
    documents = [point_document(point) for point in points]
    return {"title": record.heading, "valuation": valuation_document(valued), "points": documents}


@routes.get("/sources", PriceSourcesView)
def list_sources(call: Caller) -> PriceSourcesView:
    """List how the sources of a tenant stand; staff who name none see those of all."""
    return {"sources": _prices(call).list_sources(call.principal)}


@routes.get("/sources/{source}", PriceSourceDetailView, missing=True)
def show_source(call: Caller, source: Key) -> PriceSourceDetailView:
    """Show one source with its rules."""
    prices = _prices(call)
    return source_document(prices.get_source(call.principal, source), prices.list_sources(call.principal))


@routes.put("/sources/{source}", PriceSourceDetailView)
def put_source(call: Caller, source: Key, body: PriceRulesBody) -> PriceSourceDetailView:
    """Configure a source, or give it other rules."""
    prices = _prices(call)
    return source_document(prices.put_source(call.principal, source, body.rules), prices.list_sources(call.principal))


@routes.post("/sources/{source}/enable", PriceSourceDetailView, missing=True)
def enable_source(call: Caller, source: Key) -> PriceSourceDetailView:
    """Collect from a source again."""
    prices = _prices(call)
    return source_document(
        prices.enable_source(call.principal, source, enabled=True), prices.list_sources(call.principal)
    )


@routes.post("/sources/{source}/disable", PriceSourceDetailView, missing=True)
def disable_source(call: Caller, source: Key) -> PriceSourceDetailView:
    """Leave a source alone until it is enabled again; jobs of it wait meanwhile."""
    prices = _prices(call)
    return source_document(
        prices.enable_source(call.principal, source, enabled=False), prices.list_sources(call.principal)
    )


def _prices(call: ApiCall) -> Prices:
    return cast("Prices", call.application("prices"))
