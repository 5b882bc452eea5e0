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
from typing import Final
from zlib import crc32

from haulwright.apps.brief.clustering.frequencies import Frequencies
from haulwright.apps.brief.clustering.sketch import BUCKETS, sketch
from haulwright.apps.brief.clustering.tokenizer import proper_names, tokenize
from haulwright.apps.brief.clustering.tuning import DEFAULT, Tuning
from haulwright.apps.brief.clustering.weights import prior
from haulwright.errors import InvalidValue

MOST_WORDS: Final = 300
"""News says first what happened. What comes after so many words is background, which other events share."""
LEAD_WORDS: Final = 60
LEAD_TIMES: Final = 3
"""A word of the title or of the first sentences counts as if it stood there so often."""
MOST_NUMBERS: Final = MOST_WORDS + LEAD_WORDS
MOST_TERMS: Final = 96
"""The heaviest terms of an article are compared; the others are only counted."""
HEAVIEST: Final = 255
PREFIX: Final = "2."
"""How a signature of this version begins."""

_REPETITION: Final = tuple(round(64 * count**0.3) for count in range(MOST_WORDS + LEAD_TIMES * 2 * LEAD_WORDS))
"""How much a word weighs that stands so often: twice as often says by far not twice as much."""
_TERM_BYTES: Final = 4
_SKETCH_BYTES: Final = 2 * BUCKETS
_PERCENT: Final = 100


@dataclass(frozen=True, slots=True)
class Words:
    """The words of an article that count, as they are written."""

    title: list[str]
    text: list[str]

    @classmethod
    def of(cls, title: str, text: str) -> Words:
        """The first words of an article."""
        return cls(tokenize(title, LEAD_WORDS), tokenize(text, MOST_WORDS))

    def __len__(self) -> int:
        return len(self.title) + len(self.text)

    def counts(self) -> Counter[str]:
        """How often each word stands; those that come first count more."""
        counts = Counter(word.casefold() for word in self.text)
        for word in self.title + self.text[:LEAD_WORDS]:
            counts[word.casefold()] += LEAD_TIMES - 1
        return counts


@dataclass(frozen=True, slots=True)
class Profile:
    """The terms of an article by their hashes, heaviest first, the weight of each, and the sketch of its text."""

    terms: array[int]
    weights: bytes
    others: array[int]
    """The terms that weigh least. They are compared with nothing, but stand in the article all the same."""
    sketch: array[int]
    square: int
    """Of its length: the sum of the squared weights."""

    @classmethod
    def of(cls, terms: array[int], weights: bytes, others: array[int], sketched: array[int]) -> Profile:
        """A profile with its length."""
        return cls(terms, weights, others, sketched, sum(weight * weight for weight in weights))

    @property
    def all_terms(self) -> array[int]:
        """Every term of the article, each once."""
        return self.terms + self.others

    def as_text(self) -> str:
        """A form that can be stored."""
        numbers = _little(self.all_terms).tobytes() + _little(self.sketch).tobytes()
        packed = bytes([len(self.weights)]) + self.weights + numbers
        return PREFIX + urlsafe_b64encode(packed).decode("ascii").rstrip("=")


def profile_of(words: Words, frequencies: Frequencies, tuning: Tuning = DEFAULT) -> Profile:
    """What is kept of an article, with the weights that its words have now."""
    by_term = _weights(words, frequencies, tuning)
    ordered = sorted(by_term.items(), key=lambda item: (-item[1], item[0]))
    heavy = [item for item in ordered[:MOST_TERMS] if item[1] > 0]
    most = heavy[0][1] if heavy else 1
    scaled = bytes(max(1, weight * HEAVIEST // most) for _, weight in heavy)
    sketched = sketch([word.casefold() for word in words.text or words.title])
    terms, others = ([term for term, _ in part] for part in (heavy, ordered[len(heavy) :]))
    return Profile.of(array("I", terms), scaled, array("I", sorted(others)), sketched)


def read_profile(text: str) -> Profile:
    """The profile that a stored text holds; anything else is refused."""
    try:
        body = text.removeprefix(PREFIX)
        packed = urlsafe_b64decode(body + "=" * (-len(body) % 4))
    except ValueError:
        packed = b""
    count = packed[0] if packed else 0
    end = len(packed) - _SKETCH_BYTES
    numbers, remainder = divmod(end - 1 - count, _TERM_BYTES)
    if not text.startswith(PREFIX) or remainder or count > MOST_TERMS or not count <= numbers <= MOST_NUMBERS:
        raise InvalidValue("signature", text[:20], "was not made by this version of clustering")
    terms = _little(array("I", packed[1 + count : end]))
    return Profile.of(terms[:count], packed[1 : 1 + count], terms[count:], _little(array("H", packed[end:])))


def _weights(words: Words, frequencies: Frequencies, tuning: Tuning) -> dict[int, int]:
    """What each term weighs: how rare it is in the stream, what kind it is of, and how often it stands here."""
    names, levels = proper_names(words.text) | proper_names(words.title), prior()
    by_term: dict[int, int] = {}
    for word, count in words.counts().items():
        term = crc32(word.encode("utf-8", "surrogatepass"))
        rarity = frequencies.rarity(term, levels.level(word), tuning.prior_articles)
        percent = tuning.number_percent if word[0].isdecimal() else tuning.name_percent if word in names else _PERCENT
        by_term[term] = max(by_term.get(term, 0), rarity * percent * _REPETITION[count])
    return by_term


def _little(numbers: array[int]) -> array[int]:
    """The same numbers with the least byte first, or back again."""
    if sys.byteorder == "little":
        return numbers
    turned = numbers[:]
    turned.byteswap()
    return turned
