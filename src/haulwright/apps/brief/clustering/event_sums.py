"""The sums of events: those that news is compared with now are kept, and grow with their events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from haulwright.apps.brief.clustering.profile import Profile
from haulwright.apps.brief.clustering.similarity import Sum, product_with, terms_of

MOST_COMPARED: Final = 32
"""The newest articles of an event stand for it."""
MOST_SUMS: Final = 1_000
"""Sums that are kept, those that were asked for last; they only save time."""
FEW_TEXTS: Final = 8
"""Of an event of so few it is looked at first whether it can be the nearest at all."""

Score = Callable[[str, int, int], float]
"""How near an event is, from its product with the article and its squared length: the less, the longer it is."""


@dataclass(slots=True)
class _EventSum:
    """The sum of an event's articles, and their texts, each once: what was printed ten times was still written once."""

    total: Sum = field(default_factory=Sum)
    sketches: set[bytes] = field(default_factory=set)


class EventSums:
    """What an article has in common with events as a whole. It follows from their articles alone."""

    def __init__(self, newest: Callable[[str], Iterable[Profile]]) -> None:
        self._newest = newest
        """The newest articles of an event, the oldest of them first."""
        self._sums: dict[str, _EventSum] = {}
        """In the order in which they were last asked for."""

    def nearest(self, events: Sequence[str], mine: Profile, score: Score) -> tuple[str, float]:
        """The event with the highest score, the first of equals, and its score.

        Most of them share a few words with an article and no more. For such a one a length that it has at least shows
        that it is not the nearest, so that its articles need not be added up.
        """
        scores: dict[str, float] = {}
        most: dict[str, float] = {}
        terms = terms_of(mine)
        for event in events:
            if event not in self._sums and len(texts := self._texts(event)) <= FEW_TEXTS:
                most[event] = score(event, *product_with(terms, texts.values()))
            else:
                scores[event] = self._score(event, mine, score)
        for event in sorted(most, key=lambda event: -most[event]):
            if scores and most[event] < max(scores.values()):
                break
            scores[event] = self._score(event, mine, score)
        nearest = max((event for event in events if event in scores), key=lambda event: scores[event])
        return nearest, scores[nearest]

    def add(self, event: str, profile: Profile, articles: int) -> None:
        """An event has one more article, and so many now. Its sum grows, unless another one leaves it for that."""
        kept, sketch = self._sums.get(event), profile.sketch.tobytes()
        if kept is None:
            return
        if articles > MOST_COMPARED or sketch in kept.sketches:
            self.forget(event)
            return
        kept.sketches.add(sketch)
        kept.total.add(profile)

    def forget(self, event: str) -> None:
        """The articles of an event changed otherwise."""
        self._sums.pop(event, None)

    def _texts(self, event: str) -> dict[bytes, Profile]:
        return {profile.sketch.tobytes(): profile for profile in self._newest(event)}

    def _score(self, event: str, mine: Profile, score: Score) -> float:
        kept = self._sums.pop(event, None) or self._added_up(event)
        if len(self._sums) >= MOST_SUMS:
            del self._sums[next(iter(self._sums))]
        self._sums[event] = kept
        return score(event, kept.total.product(mine), kept.total.square)

    def _added_up(self, event: str) -> _EventSum:
        texts = self._texts(event)
        added_up = _EventSum(sketches=set(texts))
        for profile in texts.values():
            added_up.total.add(profile)
        return added_up
