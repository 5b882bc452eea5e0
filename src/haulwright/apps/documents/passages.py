"""Where a text says what a search asked for: a few words around the first place."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from haulwright.apps.documents.pdf_reading import PAGE_END
from haulwright.apps.documents.tokenizer import tokenize

AROUND_CHARS: Final = 70
MOST_WORDS: Final = 50_000
"""So many words of a text are looked at for the first that was asked for."""
_WORD: Final = re.compile(r"\w+")


class Passage(NamedTuple):
    """A place in a text."""

    text: str
    """The words there, in one line."""
    page: int | None
    """The page that it is on, where the text has pages; None where what was asked for is not in the text."""


def find_passage(text: str, terms: list[str]) -> Passage:
    """The words around the first that one of these terms stands for; the beginning where the title alone has them."""
    whole = {term for term in terms if not term.endswith("*")}
    beginnings = tuple(term[:-1] for term in terms if term.endswith("*"))
    start, end, is_found = 0, 0, False
    for count, match in enumerate(_WORD.finditer(text)):
        if count >= MOST_WORDS:
            break
        words = tokenize(match[0])
        if any(word in whole or (beginnings and word.startswith(beginnings)) for word in words):
            (start, end), is_found = match.span(), True
            break
    passage = _clipped(text, max(0, start - AROUND_CHARS), end + AROUND_CHARS)
    return Passage(passage, text.count(PAGE_END, 0, start) + 1 if is_found else None)


def _clipped(text: str, start: int, end: int) -> str:
    """A span of a text in one line, with whole words, and dots where it goes on."""
    passage = text[start:end]
    if start:
        passage = passage.partition(" ")[2] or passage
    if end < len(text):
        passage = passage.rpartition(" ")[0] or passage
    line = " ".join(passage.split())
    return f"{'... ' if start else ''}{line}{' ...' if end < len(text) else ''}" if line else ""
