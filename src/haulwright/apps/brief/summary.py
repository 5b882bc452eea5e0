"""Summaries: a few sentences of the reports themselves, those that say most of what all of them say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MOST_SENTENCES: Final = 3
MOST_CANDIDATES: Final = 200
"""Sentences of one event that are looked at."""
SHORTEST_CHARS, LONGEST_CHARS = 25, 400
SHORTEST_WORD: Final = 4
"""Shorter words of alphabets say little about what a sentence is about."""
FIRST_COUNTS: Final = 6
"""How much the first sentence of a report counts against one far down; it falls by one with each."""
LARGEST_OVERLAP: Final = 0.5
"""A sentence that shares more of its words with one that was chosen says it again."""

# After a mark that ends a sentence, its closing quotes, and a space; or after such a mark of Chinese and Japanese.
_END: Final = re.compile("(?<=[.!?\u2026])[\"'\u201d\u2019)\\]]*\\s+(?=[^\\sa-z])|(?<=[\u3002\uff01\uff1f])")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and the report that it is from."""

    text: str
    report: int
    place: int
    """Of the sentence in its report."""


def summarise(headline: str, texts: Sequence[str]) -> list[Sentence]:
    """The sentences that stand for all texts, in the order of the texts. What the headline says is not said again."""
    candidates = [sentence for number, text in enumerate(texts) for sentence in _sentences(text, number)][
        :MOST_CANDIDATES
    ]
    words = [_words(sentence.text) for sentence in candidates]
    report_counts = Counter(word for text in texts for word in _words(text))
    report_counts.update(dict.fromkeys(_words(headline), len(texts)))
    order = sorted(range(len(candidates)), key=lambda n: (-_weight(words[n], report_counts, candidates[n].place), n))
    covered = [_words(headline)]
    chosen: list[int] = []
    for number in order:
        if len(chosen) < MOST_SENTENCES and not any(_repeats(words[number], before) for before in covered):
            chosen.append(number)
            covered.append(words[number])
    return [candidates[number] for number in sorted(chosen)]


def _sentences(text: str, report: int) -> list[Sentence]:
    pieces = [" ".join(piece.split()) for piece in _END.split(text)]
    return [
        Sentence(piece, report, place)
        for place, piece in enumerate(pieces)
        if SHORTEST_CHARS <= len(piece) <= LONGEST_CHARS
    ]


def _words(text: str) -> frozenset[str]:
    words = _WORD.findall(text.casefold())
    return frozenset(word for word in words if len(word) >= SHORTEST_WORD or not word.isascii() or word.isdigit())


def _weight(words: frozenset[str], report_counts: Counter[str], place: int) -> int:
    """How many reports stand behind a word of it, on average; what a report begins with counts more.

    In thousandths: whole numbers are equal anywhere.
    """
    begins = max(FIRST_COUNTS - place, 1)
    return 1000 * begins * sum(report_counts[word] for word in words) // (len(words) + 2)


def _repeats(words: frozenset[str], before: frozenset[str]) -> bool:
    return not words or len(words & before) > LARGEST_OVERLAP * min(len(words), len(before) or 1)
