"""B-cubed: how much of an article's cluster is of its event, and how much of its event is in its cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """Of one article, or the means over several."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        return 2 * self.precision * self.recall / (self.precision + self.recall)


def shares(events: Sequence[Hashable], clusters: Sequence[Hashable]) -> list[Score]:
    """For each article what share of its cluster is of its event, and what share of its event is in its cluster."""
    of_event, of_cluster = Counter(events), Counter(clusters)
    both = Counter(zip(events, clusters, strict=True))
    return [
        Score(both[event, cluster] / of_cluster[cluster], both[event, cluster] / of_event[event])
        for event, cluster in zip(events, clusters, strict=True)
    ]


def mean(scores: Sequence[Score]) -> Score:
    """The score of articles together."""
    count = len(scores)
    return Score(sum(one.precision for one in scores) / count, sum(one.recall for one in scores) / count)


def bcubed(events: Sequence[Hashable], clusters: Sequence[Hashable]) -> Score:
    """The score of the clusters of articles, given the events that they tell of."""
    return mean(shares(events, clusters))
