"""How often a term stands in the articles that are remembered: what a word says in this stream, by now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from math import exp
from typing import Final

FOUNDER: Final = 2
"""How much an article counts that begins an event."""
JOINER: Final = 1
"""One that joins an event counts half: what many papers report makes the words of its event no less telling."""
CHANCE_ARTICLES: Final = 50
"""Among fewer articles than this, what two have in common by chance is not known well."""

_PARTS: Final = 1_024
_FINENESS_BITS: Final = 6
_SIXTEENTHS: Final = 16


class Frequencies:
    """Counts of the remembered articles by term. They follow from those articles alone, and from no order."""

    def __init__(self) -> None:
        self._articles = 0
        self._counts: Counter[int] = Counter()

    def __len__(self) -> int:
        """How many terms are counted."""
        return len(self._counts)

    def add(self, terms: Iterable[int], times: int) -> None:
        """Count an article, given with all its terms."""
        self._articles += times
        for _ in range(times):
            self._counts.update(terms)

    def remove(self, terms: Iterable[int], times: int) -> None:
        """Count it no more. What is in no article takes no room."""
        self._articles -= times
        for term in terms:
            left = self._counts[term] - times
            if left:
                self._counts[term] = left
            else:
                del self._counts[term]

    def rarity(self, term: int, level: int, prior_articles: int) -> int:
        """One in how many articles has the term, as sixteenths of the binary logarithm.

        Counted are the remembered articles, the one that comes now, and those of the prior, of which
        one in exp(level / 10) has the word.
        """
        articles = self._articles + FOUNDER * (prior_articles + 2)
        standing = (self._counts.get(term, 0) + FOUNDER) * _PARTS + _prior_standing(prior_articles)[level]
        ratio = (articles * _PARTS << _FINENESS_BITS) // standing
        # x to the power of 16 has floor(16 log2 x) + 1 bits: whole numbers, the same on every machine.
        return int((ratio**_SIXTEENTHS).bit_length()) - 1 - _SIXTEENTHS * _FINENESS_BITS

    def chance(self, terms: Sequence[int], weights: Sequence[int], square: int) -> float:
        """How much an article with these terms has in common with just any other."""
        get = self._counts.get
        shared = sum(weight * weight * get(term, 0) for term, weight in zip(terms, weights, strict=True))
        return shared / (square * (self._articles + FOUNDER * CHANCE_ARTICLES)) if shared else 0.0


@cache
def _prior_standing(prior_articles: int) -> tuple[int, ...]:
    """For each level, what the articles of the prior add to the count of a word."""
    return tuple(round(FOUNDER * prior_articles * _PARTS * exp(-level / 10)) for level in range(256))
