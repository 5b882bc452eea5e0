"""Ranking: which events of the day come first, and why. A function of values: the same news, the same order."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from haulwright.clock import Instant


@dataclass(frozen=True, slots=True)
class NewsReport:
    """An article that is news."""

    article_id: str
    title: str
    text: str
    link: str | None
    at: Instant
    feed_id: str
    source: str
    """The name of its feed."""
    weight: float
    is_copy: bool
    """Another report has the same text."""


@dataclass(frozen=True)
class RankedEvent:
    """Reports that are about the same thing."""

    id: str
    reports: tuple[NewsReport, ...]
    """The oldest first."""
    told_before: int
    """How many more of its reports earlier briefs told of."""

    @cached_property
    def sources(self) -> dict[str, float]:
        """The names of its sources, each with its weight, in the order of their reports."""
        return {report.source: report.weight for report in self.reports}

    @cached_property
    def size(self) -> float:
        """Grows with each report that is no copy, by less each time."""
        return math.log2(1 + max(1, sum(not report.is_copy for report in self.reports)))

    @cached_property
    def novelty(self) -> float:
        """1 where nothing of it was told before, down to 0."""
        return len(self.reports) / (len(self.reports) + self.told_before)

    @cached_property
    def weight(self) -> float:
        """The mean weight of its sources."""
        return sum(sorted(self.sources.values())) / len(self.sources)

    @property
    def score(self) -> float:
        """What it is ranked by."""
        return round(self.size * (1 + self.novelty) / 2 * self.weight, 4)

    @property
    def lead(self) -> NewsReport:
        """The report that speaks for it: of its weightiest source, the earliest that has a title and is no copy."""
        return min(
            self.reports,
            key=lambda report: (not report.title, report.is_copy, -report.weight, report.at, report.article_id),
        )

    @property
    def why(self) -> str:
        """Why it is ranked where it is, in a sentence."""
        reports, sources = len(self.reports), len(self.sources)
        coverage = f"{_count(reports, 'report')} by {_count(sources, 'source')}"
        before = f"{_count(self.told_before, 'report')} told before" if self.told_before else "new in this brief"
        return f"{coverage}, {before}, source weight {self.weight:.3g}: score {self.score:g}"


def rank_events(news: Iterable[tuple[str, NewsReport]], told_before: Mapping[str, int]) -> list[RankedEvent]:
    """The events that the news is about, the most important first; of equals, the one that was told first."""
    reports: dict[str, list[NewsReport]] = defaultdict(list)
    for cluster, report in news:
        reports[cluster].append(report)
    events = [
        RankedEvent(cluster, tuple(cluster_reports), told_before.get(cluster, 0))
        for cluster, cluster_reports in reports.items()
    ]
    return sorted(events, key=lambda event: (-event.score, event.reports[0].at, event.id))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
