"""Price points: every observation once, and what is last known of each listing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from haulwright.apps.prices.intakes import Intake
from haulwright.apps.prices.keys import KEY_VERSION, dedupe_key, listing_key
from haulwright.apps.prices.matching import match_strength
from haulwright.apps.prices.offers import Offer
from haulwright.apps.prices.valuation import Priced
from haulwright.clock import Instant
from haulwright.stores.paging import Page, check_page, cursor_of, page_of, read_cursor

if TYPE_CHECKING:
    from haulwright.application import Tables, Writing
    from haulwright.apps.prices.pages import BadOffer
    from haulwright.apps.prices.sources import PriceSource
    from haulwright.stores.connection import Row

MOST_CURRENT: Final = 1_000
"""Listings of one intake that a valuation looks at, the newest first."""
PAGE: Final = 1_000
MOST_QUARANTINED: Final = 200
"""Items of one collection that are written down; the others are only counted."""


@dataclass(frozen=True, slots=True)
class Point:
    """One observation of a price."""

    intake_id: str
    source_id: str
    dedupe_key: str
    minor: int
    currency: str
    price_type: str
    match_strength: int
    day: str
    title: str
    url: str | None
    observed_at: Instant

    @property
    def priced(self) -> Priced:
        """As far as a valuation needs it."""
        return Priced(self.source_id, self.dedupe_key, self.minor, self.currency, self.price_type, self.match_strength)


@dataclass(frozen=True, slots=True)
class Observed:
    """What one collection brought for an intake from a source."""

    intake: Intake
    source: PriceSource
    job_id: str
    day: str
    observed_at: Instant
    offers: Sequence[Offer]
    bad: Sequence[BadOffer]


class Points:
    """The price points of all tenants. Every read names its tenant and intake."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def current(self, tenant: str, intake_id: str, limit: int = MOST_CURRENT) -> list[Point]:
        """What is last known of each listing, the newest first."""
        rows = self._tables.read("points.current", tenant=tenant, intake_id=intake_id, limit=limit)
        return [point_of(row) for row in rows]

    def history(self, tenant: str, intake_id: str, most: int | None = None) -> list[Point]:
        """Every observation, the newest first; of more than `most`, so many of them."""
        points = islice(self._pages(tenant, intake_id), most)
        return sorted(points, key=lambda point: (point.day, point.observed_at), reverse=True)

    def page(self, tenant: str, intake_id: str, *, after: str | None, limit: int) -> Page[Point]:
        """Some observations, in the order of their keys."""
        source, key = ("", "") if after is None else read_cursor(after, str, str)
        place = {"after_source": source, "after_key": key, "limit": check_page(limit) + 1}
        rows = self._tables.read("points.history", tenant=tenant, intake_id=intake_id, **place)
        points = [point_of(row) for row in rows]
        return page_of(points, limit, lambda point: cursor_of(point.source_id, point.dedupe_key))

    def quarantined(self, tenant: str, intake_id: str, limit: int = MOST_QUARANTINED) -> list[dict[str, Any]]:
        """What the last collections could not use, with the reasons."""
        rows = self._tables.read("points.quarantined", tenant=tenant, intake_id=intake_id, limit=limit)
        return [dict(zip(("source_id", "page", "place", "reason", "excerpt"), row, strict=True)) for row in rows]

    def _pages(self, tenant: str, intake_id: str) -> Iterator[Point]:
        """Every observation in the order of its key, a page at a time."""
        after = {"after_source": "", "after_key": ""}
        while rows := self._tables.read("points.history", tenant=tenant, intake_id=intake_id, limit=PAGE, **after):
            points = [point_of(row) for row in rows]
            yield from points
            after = {"after_source": points[-1].source_id, "after_key": points[-1].dedupe_key}


def put(writing: Writing, observed: Observed) -> tuple[int, int]:
    """Write what was observed, and in place of the last quarantine this one; how many points are new, and changed."""
    whose = {
        "tenant": observed.intake.tenant,
        "intake_id": observed.intake.intake_id,
        "source_id": observed.source.source_id,
    }
    writing.each("points.drop_undated", _undated(observed), **whose)
    rows = writing.each(
        "points.put",
        _rows(observed),
        **whose,
        key_version=KEY_VERSION,
        parser_version=observed.source.rules.version,
        job_id=observed.job_id,
        observed_at=observed.observed_at,
    )
    writing.run("points.release", **whose)
    bad = [
        {"page": offer.page, "place": offer.place, "reason": offer.reason, "excerpt": offer.excerpt}
        for offer in observed.bad[:MOST_QUARANTINED]
    ]
    writing.each("points.quarantine", bad, **whose, job_id=observed.job_id)
    new = sum(bool(is_new) for _, is_new in rows)
    return new, len(rows) - new


def point_of(row: Row) -> Point:
    """A point from its row."""
    return Point(*row)


def _rows(observed: Observed) -> list[dict[str, Any]]:
    """A row for each key, in one order: a listing that stood on two pages counts with its better match."""
    best: dict[str, dict[str, Any]] = {}
    for offer in observed.offers:
        row = _row(observed, offer)
        other = best.get(row["dedupe_key"])
        if other is None or _rank(row) > _rank(other):
            best[row["dedupe_key"]] = row
    return [best[key] for key in sorted(best)]


def _undated(observed: Observed) -> list[dict[str, Any]]:
    """The points that the sales of a collection were before their dates could be read: the same sales."""
    sales = {
        (dedupe_key(replace(offer, sold_on=None), observed.day), offer.minor)
        for offer in observed.offers
        if offer.sold_on is not None
    }
    return [{"dedupe_key": key, "minor": minor} for key, minor in sorted(sales)]


def _rank(row: dict[str, Any]) -> tuple[int, int]:
    return (row["match_strength"], row["minor"])


def _row(observed: Observed, offer: Offer) -> dict[str, Any]:
    return {
        "dedupe_key": dedupe_key(offer, observed.day),
        "listing_key": listing_key(offer),
        "external_id": offer.external_id,
        "url": offer.url,
        "title": offer.title,
        "minor": offer.minor,
        "currency": offer.currency,
        "price_type": offer.price_type,
        "day": offer.sold_on or observed.day,  # of a sale without a date: when it was first seen
        "match_strength": match_strength(observed.intake, offer),
    }
