"""How price points, sources and jobs of prices are shown. Keys are stable: programs rely on them and on their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def source_document(source: PriceSource, health: list[dict[str, Any]]) -> dict[str, Any]:
    """A source with how it stands and the rules that it is read by."""
    standing: dict[str, Any] = next(row for row in health if row["id"] == source.source_id)
    return {**standing, "revision": source.revision, "rules": dict(source.raw_rules)}


def source_row(source: dict[str, Any]) -> tuple[object, ...]:
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
