"""The feature report: what can be computed about a bundle, each fact with the items that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from haulwright.apps.brands.evidence.bundle import Bundle
from haulwright.apps.brands.evidence.item import EvidenceItem
from haulwright.apps.brands.snapshot.measures.feature import Feature
from haulwright.apps.brands.snapshot.measures.response import engagement
from haulwright.apps.brands.snapshot.measures.rhythm import cadence, formats
from haulwright.apps.brands.snapshot.measures.tags import hashtags, links
from haulwright.apps.brands.snapshot.measures.words import tone, topics
from haulwright.clock import Instant

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
        return [feature for feature in self.features if feature.group == group]

    def document(self) -> dict[str, list[dict[str, Any]]]:
        """All groups as JSON; one about which nothing is known is an empty list."""
        return {group: [feature.document() for feature in self.about(group)] for group in MEASURES}


def features(bundle: Bundle, now: Instant) -> FeatureReport:
    """Compute every measure over the items of a bundle; the same bundle and time give the same report."""
    return FeatureReport(tuple(fact for measure in MEASURES.values() for fact in measure(bundle.items, now)))
