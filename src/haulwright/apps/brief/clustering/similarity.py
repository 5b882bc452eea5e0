"""How alike an article and others are. Whole numbers are summed; one division at the end makes a share of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import repeat
from math import isqrt, sqrt
from operator import mul
from typing import Final

from haulwright.apps.brief.clustering.profile import Profile
from haulwright.apps.brief.clustering.sketch import resemble

SHARE_OF_ALL: Final = 0.7
"""How much the likeness to all articles of an event together counts beside that to the one most alike."""

_LENGTH: Final = 65_536


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


@dataclass(frozen=True, slots=True)
class Sum:
    """Articles added up, each with the same length."""

    terms: dict[int, int]
    square: int


def sum_of(members: Iterable[Profile]) -> Sum:
    """What the articles of an event have in common stands out in their sum."""
    terms: dict[int, int] = {}
    for profile in members:
        length = isqrt(profile.square)
        for term, weight in zip(profile.terms, profile.weights, strict=True):
            terms[term] = terms.get(term, 0) + weight * _LENGTH // length
    return Sum(terms, sum(map(mul, terms.values(), terms.values())))


def nearness(mine: Profile, event: Sum, best: float) -> float:
    """How near an article is to an event, from the sum of its articles and the likeness to the one most alike."""
    product: int = sum(map(mul, map(event.terms.get, mine.terms, repeat(0)), mine.weights))
    return SHARE_OF_ALL * product / sqrt(mine.square * event.square) + (1 - SHARE_OF_ALL) * best
