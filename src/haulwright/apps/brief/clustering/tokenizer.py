"""The words of a text, the same for ever: a change of what this returns is a new version of clustering."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

SPACELESS: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
"""Thai, Lao, Burmese, Khmer, Japanese, Chinese and Korean: what spaces do not part, or not into words."""
MARKS: Final = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
"""Signs that belong to the letter before them and are no letters to a regular expression."""
MOST_CHARS: Final = 20_000
"""Of a text no more is read: a book in a feed costs what its beginning costs."""
LONGEST_WORD: Final = 40
MOST_CAPITALS: Final = 0.6
"""A headline in which Every Word Begins Like This has more."""

_TOKEN: Final = re.compile(
    rf"(?P<run>[{SPACELESS}]+)"
    r"|(?P<number>\d+(?:[.,:]\d+|\s[.:]\s\d+|\s?-\s?\d+)*)"  # 6.1, 10:30, and scores such as 20-13, spaced or not
    rf"|(?P<word>(?:(?![{SPACELESS}])[^\W\d_]|[{MARKS}])(?:(?![{SPACELESS}])[^\W_]|[{MARKS}])*)"
)
_SPACES: Final = re.compile(r"\s+")


def tokenize(text: str, most: int) -> list[str]:
    """The first words of a text, as written; scripts without spaces give pairs of neighbouring characters."""
    tokens: list[str] = []
    for token in _TOKEN.finditer(unicodedata.normalize("NFKC", text[:MOST_CHARS])):
        match token.lastgroup:
            case "word" if len(token[0]) > 1:  # single letters are what is left of 's and of initials
                tokens.append(token[0][:LONGEST_WORD])
            case "number":
                tokens.append(_SPACES.sub("", token[0])[:LONGEST_WORD])
            case "run":
                tokens += _pairs(token[0])
        if len(tokens) >= most:
            break
    return tokens[:most]


def proper_names(tokens: Sequence[str]) -> set[str]:
    """The words, folded, that begin with a capital wherever they stand. Where most words do, that says nothing."""
    high = {word.casefold() for word in tokens if word[0].isupper()}
    low = {word.casefold() for word in tokens if word[0].islower()}
    capitals = sum(1 for word in tokens if word[0].isupper())
    return high - low if capitals < MOST_CAPITALS * len(tokens) else set()


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [first + second for first, second in pairwise(run)]
