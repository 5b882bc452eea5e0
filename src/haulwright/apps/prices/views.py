"""How price points, sources and jobs of prices are shown. Keys are stable: programs rely on them and on their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from typing_extensions import TypedDict

if TYPE_CHECKING:
    from haulwright.apps.prices.points import Point
    from haulwright.apps.prices.sources import PriceSource
    from haulwright.apps.prices.valuation import Priced
    from haulwright.apps.prices.valuations import Valued

TITLE_CHARS = 50
ERROR_CHARS = 60
POINT_HEADERS = ("source", "day", "kind", "price", "match", "counts", "title")
LEFT_OUT = {"weak": "match too weakly", "other_currency": "in other currencies", "other_basis": "other kinds of price"}
"""Why prices do not count, in words."""
JOB_HEADERS = ("job", "source", "status", "retries", "points", "changed", "unusable", "error or note")


class PricedView(TypedDict):
    """A price that a valuation looked at."""

    source_id: str
    dedupe_key: str
    minor: int
    currency: str
    price_type: str
    strength: int


class ValuationView(TypedDict):
    """What an intake is worth, in the smallest unit of its currency, with what that rests on."""

    version: int
    valued_at: str
    currency: str | None
    basis: str | None
    centre: int | None
    low: int | None
    high: int | None
    spread: int | None
    confidence: int
    points: list[PricedView]
    outliers: list[PricedView]
    left_out: dict[str, int]
    rule: int


class IntakeView(TypedDict):
    """An intake."""

    tenant: str
    intake_id: str
    year: str | None
    mintmark: str | None
    denomination: str | None
    series: str | None
    title: str | None
    attributes: dict[str, str]
    currency: str | None
    created_at: str


class ValuedIntakeView(IntakeView):
    """An intake with what it is worth; null where nothing was collected yet."""

    valuation: ValuationView | None


class IntakePageView(TypedDict):
    """Some intakes, in the order of their ids."""

    intakes: list[ValuedIntakeView]
    next: str | None


class PointView(TypedDict):
    """One observation of a price, its amount as the currency writes it."""

    source_id: str
    day: str
    price_type: str
    amount: str
    currency: str
    match_strength: int
    title: str
    url: str | None
    dedupe_key: str
    observed_at: str


class PointsView(TypedDict):
    """The price points that count, the newest first."""

    points: list[PointView]


class PointPageView(PointsView):
    """Some observations, in the order of their keys."""

    next: str | None


class ValuationVersionView(TypedDict):
    """A version that a valuation has had."""

    version: int
    centre: int | None


class ValuationHistoryView(TypedDict):
    """What an intake is worth, and what it was, version by version."""

    valuation: ValuationView | None
    versions: list[ValuationVersionView]


class ChartView(TypedDict):
    """What the chart of an intake is drawn from."""

    title: str
    valuation: ValuationView | None
    points: list[PointView]


class CollectionView(TypedDict):
    """The job of a collection; not new where one was active already."""

    job_id: str
    created: bool


class CollectionsView(TypedDict):
    """The jobs that collect for an intake, one for each source."""

    jobs: list[CollectionView]


class PriceSourceView(TypedDict):
    """How a source stands."""

    id: str
    tenant: str
    name: str
    enabled: bool
    rate_limit_per_minute: float | None
    failure_streak: int | None
    last_success_at: str | None
    last_failure_at: str | None
    paused_until: str | None


class PriceSourcesView(TypedDict):
    """The sources of a tenant."""

    sources: list[PriceSourceView]


class PriceSourceDetailView(PriceSourceView):
    """A source with the rules that it is read by; what is secret in its address is masked."""

    revision: int
    rules: dict[str, Any]


def worth(valued: Valued | None) -> tuple[object, ...]:
    """What something is worth as cells of a table: centre, low, high, how many points, how sure."""
    from haulwright.apps.prices.amounts import amount_text  # noqa: PLC0415 - only where something is shown

    if valued is None:
        return ("", "", "", "", "")
    valuation = valued.valuation
    amounts = (amount_text(amount, valuation.currency) for amount in (valuation.centre, valuation.low, valuation.high))
    return (*amounts, len(valuation.points), valuation.confidence)


def left_out_text(left_out: dict[str, int]) -> str | None:
    """How many prices do not count, and why; None where all do."""
    return "; ".join(f"{count} {LEFT_OUT.get(why, why)}" for why, count in left_out.items() if count) or None


def by_weight(points: list[Point], valued: Valued | None) -> list[tuple[Point, str]]:
    """The points with whether each counts: first those that a valuation rests on, then those that lie too far out."""
    if valued is None:
        return [(point, "") for point in points]
    marks = {_key(priced): "too far out" for priced in valued.valuation.outliers}
    marks |= {_key(priced): "yes" for priced in valued.valuation.points}
    ranks = {"yes": 0, "too far out": 1, "": 2}
    marked = [(point, marks.get(_key(point), "")) for point in points]
    return sorted(marked, key=lambda entry: ranks[entry[1]])


def _key(point: Point | Priced) -> tuple[str, str]:
    return (point.source_id, point.dedupe_key)


def point_row(point: Point, counts: str) -> tuple[object, ...]:
    """A price point as a line of a table."""
    from haulwright.apps.prices.amounts import amount_text  # noqa: PLC0415 - as above

    title = point.title if len(point.title) <= TITLE_CHARS else f"{point.title[: TITLE_CHARS - 1]}…"
    amount = amount_text(point.minor, point.currency)
    return (point.source_id, point.day, point.price_type, amount, point.match_strength, counts, title)


def source_document(source: PriceSource, health: list[PriceSourceView]) -> PriceSourceDetailView:
    """A source with how it stands and the rules that it is read by."""
    from haulwright.sources.http.secret import shown_url  # noqa: PLC0415 - as above

    standing = next(row for row in health if row["id"] == source.source_id)
    rules = {**source.raw_rules, "url": shown_url(source.raw_rules["url"])}
    return cast("PriceSourceDetailView", {**standing, "revision": source.revision, "rules": rules})


def source_row(source: PriceSourceView) -> tuple[object, ...]:
    """A source as a line of a table."""
    cells = (
        source["tenant"],
        source["name"],
        "yes" if source["enabled"] else "no",
        source["rate_limit_per_minute"],
        source["failure_streak"],
        source["last_success_at"],
        source["last_failure_at"],
        source["paused_until"],
    )
    return tuple("" if cell is None else cell for cell in cells)


def job_row(job: dict[str, Any]) -> tuple[object, ...]:
    """A job as a line of a table."""
    result = job["result"] or {}
    remark = job["error_message"] or "; ".join(result.get("notes", []))
    cells = (
        job["id"],
        job["source_id"],
        job["status"],
        job["retry_count"],
        result.get("points"),
        result.get("changed"),
        result.get("quarantined"),
        " ".join(remark.split())[:ERROR_CHARS],
    )
    return tuple("" if cell is None else cell for cell in cells)
