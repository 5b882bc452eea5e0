"""How often a brand publishes, and in which form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from haulwright.apps.brands.evidence.item import EvidenceItem
from haulwright.apps.brands.snapshot.measures.feature import Feature, by_kind, ids, share
from haulwright.clock import SECOND, Instant

DAY = 86_400 * SECOND
WEEK = 7 * DAY
WEEKDAYS = ("Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday")
"""From the first day of 1970 on."""


def cadence(items: Sequence[EvidenceItem], now: Instant) -> Iterator[Feature]:
    """For each kind with dated items: how many a week, the usual gap, the usual weekday, the age of the newest."""
    for kind, of_kind in by_kind(items).items():
        dated = [item for item in of_kind if item.published_at is not None]
        if dated:
            moments = sorted(item.published_at or 0 for item in dated)
            yield Feature("cadence", kind, _pace(moments, now), ids(dated))


def formats(items: Sequence[EvidenceItem], _now: Instant) -> Iterator[Feature]:
    """For each kind: its share of all items, how long its texts are, and how many come with pictures or video."""
    for kind, of_kind in by_kind(items).items():
        value = {
            **share(len(of_kind), len(items)),
            "with_media": sum(bool(item.media) for item in of_kind),
            "median_words": median(len(item.text.split()) for item in of_kind),
        }
        yield Feature("formats", kind, value, ids(of_kind))


def _pace(moments: Sequence[Instant], now: Instant) -> dict[str, Any]:
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    span = sum(gaps)
    weekdays = Counter(moment // DAY % 7 for moment in moments)
    often = min(weekdays, key=lambda day: (-weekdays[day], day))
    return {
        "items": len(moments),
        "per_week": round(len(gaps) * WEEK / span, 2) if span else None,
        "median_gap_days": round(median(gaps) / DAY, 2) if gaps else None,
        "newest_age_days": round(max(0, now - moments[-1]) / DAY, 2),
        "usual_weekday": WEEKDAYS[often],
    }
