"""How people react to what a brand publishes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from haulwright.apps.brands.evidence.bundle import reactions
from haulwright.apps.brands.evidence.item import EvidenceItem
from haulwright.apps.brands.snapshot.measures.feature import Feature, by_kind, ids
from haulwright.clock import Instant

TOP = 3
SEEN = ("views", "plays", "impressions")


def engagement(items: Sequence[EvidenceItem], _now: Instant) -> Iterator[Feature]:
    """For each kind whose reactions were counted: the usual number, the usual part of the views, the best items."""
    for kind, of_kind in by_kind(items).items():
        counted = [item for item in of_kind if item.metrics]
        if not counted:
            continue
        rates = [reactions(item) / views for item in counted if (views := _seen(item))]
        best = sorted(counted, key=lambda item: (-reactions(item), item.id))[:TOP]
        value = {
            "items": len(counted),
            "median_reactions": median(map(reactions, counted)),
            "most_reactions": reactions(best[0]),
            "median_per_view": round(median(rates), 4) if rates else None,
            "best": [item.id for item in best],
        }
        yield Feature("engagement", kind, value, ids(counted))


def _seen(item: EvidenceItem) -> int:
    return max((item.metrics.get(name, 0) for name in SEEN), default=0)
