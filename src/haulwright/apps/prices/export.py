"""Exports: the price points of an intake and its valuation, for other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, cast

from haulwright.apps.prices.amounts import decimal_text
from haulwright.apps.prices.intakes import Intake
from haulwright.apps.prices.points import Point
from haulwright.apps.prices.valuations import Valued
from haulwright.apps.prices.views import IntakeView, PointView, ValuationView
from haulwright.clock import SECOND, Instant

COLUMNS: Final = (
    "source_id", "day", "price_type", "amount", "currency", "match_strength", "title", "url", "dedupe_key",
    "observed_at",
)  # fmt: skip
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for the beginning of a formula."""


def points_csv(points: Sequence[Point]) -> str:
    """The points as CSV. A text that a spreadsheet would run as a formula is made one that it shows."""
    buffer = io.StringIO()
    lines = csv.DictWriter(buffer, COLUMNS, lineterminator="\n")
    lines.writeheader()
    for point in points:
        lines.writerow({name: _harmless(value) for name, value in point_document(point).items()})
    return buffer.getvalue()


def point_document(point: Point) -> PointView:
    """A point with its amount as the currency writes it."""
    return {
        "source_id": point.source_id,
        "day": point.day,
        "price_type": point.price_type,
        "amount": decimal_text(point.minor, point.currency),
        "currency": point.currency,
        "match_strength": point.match_strength,
        "title": point.title,
        "url": point.url,
        "dedupe_key": point.dedupe_key,
        "observed_at": moment(point.observed_at),
    }


def intake_document(intake: Intake) -> IntakeView:
    """An intake."""
    return {
        "tenant": intake.tenant,
        "intake_id": intake.intake_id,
        "year": intake.year,
        "mintmark": intake.mintmark,
        "denomination": intake.denomination,
        "series": intake.series,
        "title": intake.title,
        "attributes": intake.attributes,
        "currency": intake.currency,
        "created_at": moment(intake.created_at),
    }


def valuation_document(valued: Valued | None) -> ValuationView | None:
    """A valuation, with what it rests on."""
    if valued is None:
        return None
    head = {"version": valued.version, "valued_at": moment(valued.valued_at)}
    return cast("ValuationView", {**head, **valued.valuation.detail})


def moment(instant: Instant) -> str:
    """A moment as ISO 8601, UTC."""
    return datetime.fromtimestamp(instant / SECOND, UTC).isoformat(timespec="seconds")


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
