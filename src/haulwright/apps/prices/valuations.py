"""Valuations: one for each intake, always that of all committed points, with every version that it has had."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from haulwright.apps.prices.intakes import Intake, intake_of
from haulwright.apps.prices.points import MOST_CURRENT, Observed, point_of, put
from haulwright.apps.prices.valuation import Priced, Valuation, valuate
from haulwright.clock import Instant
from haulwright.engine.payload import canonical
from haulwright.events import Event
from haulwright.stores.paging import Page, check_page, cursor_of, page_of, read_cursor

if TYPE_CHECKING:
    from haulwright.application import Tables, Writing

VALUATION_CHANGED: Final = "valuation.changed"
MOST_VERSIONS: Final = 100
INTAKE_COLUMNS: Final = 10


@dataclass(frozen=True, slots=True)
class Valued:
    """A version of a valuation as it was written."""

    version: int
    valuation: Valuation
    valued_at: Instant


class Valuations:
    """The valuations of all tenants. Every read of one names its tenant."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def find(self, tenant: str, intake_id: str) -> Valued | None:
        """The valuation of an intake; None where nothing was collected for it yet."""
        rows = self._tables.read("valuations.get", tenant=tenant, intake_id=intake_id)
        return _valued(*rows[0]) if rows else None

    def versions(self, tenant: str, intake_id: str, limit: int = MOST_VERSIONS) -> list[Valued]:
        """Every version that it has had, the newest first."""
        rows = self._tables.read("valuations.versions", tenant=tenant, intake_id=intake_id, limit=limit)
        return [_valued(*row) for row in rows]

    def of_intakes(self, tenant: str | None, limit: int) -> list[tuple[Intake, Valued | None]]:
        """Intakes with what they are worth."""
        return self._read(tenant, ("", ""), limit)

    def page(self, tenant: str | None, *, after: str | None, limit: int) -> Page[tuple[Intake, Valued | None]]:
        """The same, a page at a time."""
        rows = self._read(tenant, ("", "") if after is None else read_cursor(after, str, str), check_page(limit) + 1)
        return page_of(rows, limit, lambda row: cursor_of(row[0].tenant, row[0].intake_id))

    def _read(self, tenant: str | None, after: tuple[str, str], limit: int) -> list[tuple[Intake, Valued | None]]:
        place = {"after_tenant": after[0], "after_intake": after[1], "limit": limit}
        rows = self._tables.read("valuations.list", tenant=tenant, **place)
        return [
            (intake_of(row[:INTAKE_COLUMNS]), None if row[-1] is None else _valued(*row[INTAKE_COLUMNS:]))
            for row in rows
        ]

    def recompute(self, intake: Intake) -> Valuation:
        """What the committed points give from scratch. Nothing is written."""
        whose = {"tenant": intake.tenant, "intake_id": intake.intake_id}
        rows = self._tables.read("points.current", **whose, limit=MOST_CURRENT)
        return valuate([point_of(row).priced for row in rows], intake.currency)


def record(writing: Writing, observed: Observed) -> tuple[int, int, int | None]:
    """Write what was observed and value its intake anew; how many points are new and changed, and the new version.

    One at a time for each intake: whoever waited for the lock sees what the others committed, and values that as well.
    """
    intake = observed.intake
    writing.run("intakes.lock", tenant=intake.tenant, intake_id=intake.intake_id)
    new, changed = put(writing, observed)
    return new, changed, _revalue(writing, intake)


def _revalue(writing: Writing, intake: Intake) -> int | None:
    """The version of the valuation that all points give now; None where it says what the last one said."""
    whose = {"tenant": intake.tenant, "intake_id": intake.intake_id}
    rows = writing.run("points.current", **whose, limit=MOST_CURRENT)
    valuation = valuate([point_of(row).priced for row in rows], intake.currency)
    versions = writing.run("valuations.put", **whose, **_row(valuation))
    if not versions:
        return None
    version = int(versions[0][0])
    data = {
        "intake_id": intake.intake_id,
        "version": version,
        "centre": valuation.centre,
        "currency": valuation.currency,
        "confidence": valuation.confidence,
    }
    writing.record(Event(VALUATION_CHANGED, intake.tenant, data=data))
    return version


def _row(valuation: Valuation) -> dict[str, Any]:
    return {
        "currency": valuation.currency,
        "basis": valuation.basis,
        "centre": valuation.centre,
        "low": valuation.low,
        "high": valuation.high,
        "spread": valuation.spread,
        "count": len(valuation.points),
        "confidence": valuation.confidence,
        "detail": canonical(valuation.detail, root="valuation"),
    }


def _valued(version: int, detail: str, valued_at: Instant) -> Valued:
    fields = json.loads(detail)
    for name in ("points", "outliers"):
        fields[name] = tuple(Priced(**price) for price in fields[name])
    return Valued(version, Valuation(**fields), valued_at)
