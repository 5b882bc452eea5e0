"""How alike an article and others are. Whole numbers are summed; one division at the end makes a share of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from math import isqrt, sqrt
from operator import mul
from typing import Final

from haulwright.apps.brief.clustering.profile import MOST_TERMS, Profile
from haulwright.apps.brief.clustering.sketch import resemble

SHARE_OF_ALL: Final = 0.7
"""How much the likeness to all articles of an event together counts beside that to the one most alike."""

_LENGTH: Final = 65_536
_LEAST_LENGTH: Final = _LENGTH - isqrt(MOST_TERMS) - 1
"""An article has this length in a sum at least: rounding down takes less than one off each of its terms."""


def terms_of(profile: Profile) -> dict[int, int]:
    """The weights by term, to compare one article with many."""
    return dict(zip(profile.terms, profile.weights, strict=True))


def cosine(mine: Mapping[int, int], square: int, other: Profile) -> float:
    """How much two articles point the same way, from 0 to 1."""
    product = sum(map(mul, map(mine.get, other.terms, repeat(0)), other.weights))
    return product / sqrt(square * other.square) if product else 0.0


def is_copy(first: Profile, second: Profile) -> bool:
    """Whether one article is the other again: the same words, or most of the same runs of words.

    What the words weigh says nothing about it: that was another when the first of the two came.
    """
    if first.sketch == second.sketch and set(first.all_terms) == set(second.all_terms):
        return True
    return resemble(first.sketch, second.sketch)


@dataclass(slots=True)
class Sum:
    """Articles added up, each with the same length: what they have in common stands out."""

    terms: dict[int, int] = field(default_factory=dict)
    square: int = 0

    def add(self, profile: Profile) -> None:
        """Add one more article."""
        get, length = self.terms.get, isqrt(profile.square)
        for term, weight in zip(profile.terms, profile.weights, strict=True):
            before = get(term, 0)
            share = weight * _LENGTH // length
            self.terms[term] = before + share
            self.square += share * (2 * before + share)

    def product(self, mine: Profile) -> int:
        """What an article has in common with all of them."""
        return sum(map(mul, map(self.terms.get, mine.terms, repeat(0)), mine.weights))


def product_with(mine: Mapping[int, int], members: Iterable[Profile]) -> tuple[int, int]:
    """The same product without adding the articles up, and a square that is not more than that of their sum.

    The sum of several is at least as long as if none of them had a term in common with another.
    """
    product = least_square = 0
    for profile in members:
        length = isqrt(profile.square)
        shared = zip(map(mine.get, profile.terms), profile.weights, strict=True)
        product += sum([own * (weight * _LENGTH // length) for own, weight in shared if own])
        least_square += _LEAST_LENGTH**2 if length else 0
    return product, least_square


def nearness(mine: Profile, product: int, square: int, best: float) -> float:
    """How near an article is to an event, from the sum of its articles and the likeness to the one most alike."""
    return SHARE_OF_ALL * product / sqrt(mine.square * square) + (1 - SHARE_OF_ALL) * best
