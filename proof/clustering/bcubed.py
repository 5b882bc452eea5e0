"""B-cubed: how much of an article's cluster is of its event, and how much of its event is in its cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """The means over all articles."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        return 2 * self.precision * self.recall / (self.precision + self.recall)


def bcubed(events: Sequence[Hashable], clusters: Sequence[Hashable]) -> Score:
    """The score of the clusters of articles, given the events that they tell of."""
    of_event, of_cluster = Counter(events), Counter(clusters)
    both = Counter(zip(events, clusters, strict=True))
    shared = [(both[pair], of_event[pair[0]], of_cluster[pair[1]]) for pair in zip(events, clusters, strict=True)]
    count = len(shared)
    return Score(
        sum(one / whole for one, _, whole in shared) / count, sum(one / whole for one, whole, _ in shared) / count
    )
