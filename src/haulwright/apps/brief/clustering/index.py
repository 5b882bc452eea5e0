"""Which articles share rare terms: an inverted index whose cost to ask does not grow with what it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

INDEXED_TERMS: Final = 40
"""So many of an article's heaviest terms lead to it."""
MOST_OF_A_TERM: Final = 64
"""Of the articles that share a term only the newest are looked at: a term that more of them share says little."""
MOST_LOOKED_AT: Final = 1_000
"""The rarest terms come first; what is left when so many entries were read is not rare."""
MOST_FOUND: Final = 24


class PostingIndex:
    """The articles by number, under their terms. Only what is taken out is dropped: it is asking that is bounded."""

    def __init__(self) -> None:
        self._postings: dict[int, list[int]] = {}

    def add(self, number: int, terms: Sequence[int]) -> None:
        """Put an article under its terms. Numbers only grow."""
        for term in terms[:INDEXED_TERMS]:
            self._postings.setdefault(term, []).append(number)

    def remove(self, terms_by_number: Mapping[int, Sequence[int]]) -> None:
        """Forget articles, given with their terms."""
        for term in {term for terms in terms_by_number.values() for term in terms[:INDEXED_TERMS]}:
            remaining = [number for number in self._postings[term] if number not in terms_by_number]
            if remaining:
                self._postings[term] = remaining
            else:
                del self._postings[term]

    def nearest(self, terms: Sequence[int], weights: Sequence[int]) -> list[int]:
        """The articles that share most of the weight of these terms, most first, newest first where that is equal."""
        shared: dict[int, int] = {}
        looked_at = 0
        for _, term, weight in self._rarest_first(terms, weights):
            numbers = self._postings[term][-MOST_OF_A_TERM:]
            for number in numbers:
                shared[number] = shared.get(number, 0) + weight
            looked_at += len(numbers)
            if looked_at >= MOST_LOOKED_AT:
                break
        least = sorted(shared.values())[-MOST_FOUND:][0] if shared else 0
        found = sorted(((total, number) for number, total in shared.items() if total >= least), reverse=True)
        return [number for _, number in found[:MOST_FOUND]]

    def _rarest_first(self, terms: Sequence[int], weights: Sequence[int]) -> list[tuple[int, int, int]]:
        weighted_terms = zip(terms[:INDEXED_TERMS], weights, strict=False)
        return sorted(
            (len(self._postings[term]), term, weight) for term, weight in weighted_terms if term in self._postings
        )
