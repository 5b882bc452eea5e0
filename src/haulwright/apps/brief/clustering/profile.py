"""What clustering keeps of an article: its weightiest terms and a sketch, all whole numbers, and their form as text.

Whole numbers add up to the same in any order and on any machine, so the same articles in the same order give the same
clusters everywhere.
"""

from __future__ import annotations

import sys
from array import array
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import Counter
from dataclasses import dataclass
from math import isqrt
from typing import Final
from zlib import crc32

from haulwright.apps.brief.clustering.sketch import BUCKETS, sketch
from haulwright.apps.brief.clustering.tokenizer import proper_names, tokenize
from haulwright.apps.brief.clustering.weights import Weights
from haulwright.errors import InvalidValue

MOST_WORDS: Final = 300
"""News says first what happened. What comes after so many words is background, which other events share."""
LEAD_WORDS: Final = 60
LEAD_TIMES: Final = 3
"""A word of the title or of the first sentences counts as if it stood there so often."""
NAME_TIMES: Final = 2
NUMBER_TIMES: Final = 3
"""Who, where and how many part two events of a kind, which share most of their other words."""
MOST_TERMS: Final = 96
HEAVIEST: Final = 255
PREFIX: Final = "1."
"""How a signature of this version begins."""

_FINENESS: Final = 64
_TERM_BYTES: Final = 5
_SKETCH_BYTES: Final = 2 * BUCKETS


@dataclass(frozen=True, slots=True)
class Profile:
    """The terms of an article by their hashes, heaviest first, the weight of each, and the sketch of its text."""

    terms: array[int]
    weights: bytes
    sketch: array[int]
    square: int
    """Of its length: the sum of the squared weights."""

    @classmethod
    def of(cls, terms: array[int], weights: bytes, sketched: array[int]) -> Profile:
        """A profile with its length."""
        return cls(terms, weights, sketched, sum(weight * weight for weight in weights))

    def as_text(self) -> str:
        """A form that can be stored."""
        packed = _little(self.terms).tobytes() + self.weights + _little(self.sketch).tobytes()
        return PREFIX + urlsafe_b64encode(packed).decode("ascii").rstrip("=")


def profile_of(title: str, text: str, weights: Weights) -> Profile:
    """What is kept of an article."""
    of_title, of_text = tokenize(title, LEAD_WORDS), tokenize(text, MOST_WORDS)
    heavy = _heaviest(of_title, of_text, weights)
    most = heavy[0][1] if heavy else 1
    scaled = bytes(max(1, weight * HEAVIEST // most) for _, weight in heavy)
    sketched = sketch([word.casefold() for word in of_text or of_title])
    return Profile.of(array("I", [term for term, _ in heavy]), scaled, sketched)


def read_profile(text: str) -> Profile:
    """The profile that a stored text holds; anything else is refused."""
    try:
        body = text.removeprefix(PREFIX)
        packed = urlsafe_b64decode(body + "=" * (-len(body) % 4))
    except ValueError:
        packed = b""
    count, remainder = divmod(len(packed) - _SKETCH_BYTES, _TERM_BYTES)
    if not text.startswith(PREFIX) or remainder or not 0 <= count <= MOST_TERMS:
        raise InvalidValue("signature", text[:20], "was not made by this version of clustering")
    terms, sketched = array("I", packed[: 4 * count]), array("H", packed[5 * count :])
    return Profile.of(_little(terms), packed[4 * count : 5 * count], _little(sketched))


def _heaviest(of_title: list[str], of_text: list[str], weights: Weights) -> list[tuple[int, int]]:
    """The terms that weigh most, with their weights: its level, its kind, and the root of how often a word stands."""
    folded_names = proper_names(of_text) | proper_names(of_title)
    by_term: dict[int, int] = {}
    for word, count in _counts(of_title, of_text).items():
        times = NUMBER_TIMES if word[0].isdecimal() else NAME_TIMES if word in folded_names else 1
        weight = weights.level(word) * times * isqrt(count * _FINENESS)
        term = crc32(word.encode("utf-8", "surrogatepass"))
        if weight > by_term.get(term, 0):
            by_term[term] = weight
    return sorted(by_term.items(), key=lambda item: (-item[1], item[0]))[:MOST_TERMS]


def _counts(of_title: list[str], of_text: list[str]) -> Counter[str]:
    counts = Counter(word.casefold() for word in of_text)
    for word in of_title + of_text[:LEAD_WORDS]:
        counts[word.casefold()] += LEAD_TIMES - 1
    return counts


def _little(numbers: array[int]) -> array[int]:
    """The same numbers with the least byte first, or back again."""
    if sys.byteorder == "little":
        return numbers
    turned = numbers[:]
    turned.byteswap()
    return turned
