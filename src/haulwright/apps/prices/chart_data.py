"""What the chart of an intake in the dashboard is drawn from: days, amounts by kind, and the range of the valuation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

from typing_extensions import TypedDict

from haulwright.apps.prices.points import Point
from haulwright.apps.prices.valuation import Valuation
from haulwright.sources.tools.money import DECIMALS


class ChartSeriesView(TypedDict):
    """One line or one kind of dots; null where it has nothing at a day."""

    label: str
    shape: str
    """`dot`, `ring` or `square`, so that not the colour alone tells them apart; `level` is a line over all days."""
    values: list[float | None]


class ChartDataView(TypedDict):
    """Series over the same days, which are seconds of the epoch and only grow."""

    unit: str
    days: list[int]
    series: list[ChartSeriesView]


KINDS = (("sold", "sold", "dot"), ("ask", "asked", "ring"), ("bid", "bid", "square"))
RANGE = (("high", "high"), ("centre", "worth"), ("low", "low"))


def chart_data(points: Sequence[Point], valuation: Valuation | None) -> ChartDataView | None:
    """The points of one currency over time, with what they say that something is worth; None where there are none."""
    unit = (valuation.currency if valuation else None) or next((point.currency for point in points), None)
    visible = sorted((point for point in points if point.currency == unit), key=lambda point: point.day)
    if not visible or unit is None:
        return None
    series: list[ChartSeriesView] = [
        {"label": label, "shape": shape, "values": [_amount(each, unit, kind) for each in visible]}
        for kind, label, shape in KINDS
        if any(point.price_type == kind for point in visible)
    ]
    if valuation is not None and valuation.centre is not None:
        for name, label in RANGE:
            level = _scaled(getattr(valuation, name), unit)
            series.append({"label": label, "shape": "level", "values": [level] * len(visible)})
    return {"unit": unit, "days": [_seconds(point.day) for point in visible], "series": series}


def _amount(point: Point, unit: str, kind: str) -> float | None:
    return _scaled(point.minor, unit) if point.price_type == kind else None


def _scaled(minor: int, unit: str) -> float:
    return float(Decimal(minor).scaleb(-DECIMALS[unit]))


def _seconds(day: str) -> int:
    return int(datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC).timestamp())
