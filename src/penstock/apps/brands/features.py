"""The feature report: what can be computed about a bundle, each fact with the items that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from penstock.apps.brands.bundle import Bundle
from penstock.apps.brands.evidence import EvidenceItem
from penstock.apps.brands.measures.feature import Feature
from penstock.apps.brands.measures.response import engagement
from penstock.apps.brands.measures.rhythm import cadence, formats
from penstock.apps.brands.measures.tags import hashtags, links
from penstock.apps.brands.measures.words import tone, topics
from penstock.clock import Instant

Measure = Callable[[Sequence[EvidenceItem], Instant], Iterable[Feature]]
MEASURES: Final[dict[str, Measure]] = {
    "cadence": cadence,
    "formats": formats,
    "engagement": engagement,
    "topics": topics,
    "tone": tone,
    "hashtags": hashtags,
    "links": links,
}


@dataclass(frozen=True, slots=True)
class FeatureReport:
    """What was computed about a bundle."""

    features: tuple[Feature, ...]

    def about(self, group: str) -> list[Feature]:
        """The facts of one group, the most telling first."""
        return [one for one in self.features if one.group == group]

    def document(self) -> dict[str, list[dict[str, Any]]]:
        """All groups as JSON; one about which nothing is known is an empty list."""
        return {group: [one.document() for one in self.about(group)] for group in MEASURES}


def features(bundle: Bundle, now: Instant) -> FeatureReport:
    """Compute every measure over the items of a bundle; the same bundle and time give the same report."""
    return FeatureReport(tuple(fact for measure in MEASURES.values() for fact in measure(bundle.items, now)))
