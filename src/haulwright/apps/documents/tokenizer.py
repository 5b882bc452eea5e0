"""Words, folded: without case and diacritics, and the same on both databases, for none of them folds by itself."""

from __future__ import annotations

import unicodedata
from typing import Final

from haulwright.errors import InvalidValue

LONGEST_WORD_CHARS: Final = 64
MOST_WORDS_BYTES: Final = 800_000
"""Of one file, each word counted once: what PostgreSQL holds in one row."""
MOST_TERMS: Final = 32


class _Folding(dict[int, str | None]):
    """What becomes of each character: letters, digits and marks stay, diacritics go, all else keeps words apart."""

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        folded: str | None = char if unicodedata.category(char)[0] in "LNM" else " "
        if unicodedata.combining(char):
            folded = None
        self[code] = folded
        return folded


_FOLDING: Final = _Folding()


def tokenize(text: str) -> list[str]:
    """The words of a text, each once, in the order in which they come; longer ones than people type are left out."""
    folded = unicodedata.normalize("NFKD", text.casefold()).casefold().translate(_FOLDING)
    unique = dict.fromkeys(word for word in folded.split() if len(word) <= LONGEST_WORD_CHARS)
    size, words = 0, []
    for word in unique:
        size += len(word.encode())
        if size > MOST_WORDS_BYTES:
            break
        words.append(word)
    return words


def parse_query(query: str) -> list[str]:
    """What a search asks for: words, and beginnings of words with a star at their end. All of them must be there."""
    terms: dict[str, None] = {}
    for piece in query.split():
        words = tokenize(piece)
        if words and piece.endswith("*"):
            words[-1] += "*"
        terms |= dict.fromkeys(words)
    if not 1 <= len(terms) <= MOST_TERMS:
        hint = 'Write words, such as: harbour "night tr*"'
        raise InvalidValue("search", query, f"has not between 1 and {MOST_TERMS} words", hint=hint)
    return list(terms)
