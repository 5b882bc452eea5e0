"""What a brand speaks of, and how."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from haulwright.apps.brands.evidence.item import EvidenceItem
from haulwright.apps.brands.snapshot.measures.feature import Feature, ids, most_frequent, share
from haulwright.apps.brands.snapshot.measures.stop_words import STOP_WORDS
from haulwright.clock import Instant

LOOKED_AT_CHARS: Final = 20_000
"""How much of one text is read."""
MOST_TOPICS: Final = 12
TOPIC_IN_ITEMS: Final = 2
"""A word that one item alone uses is no topic."""
WORD_CHARS: Final = (4, 30)

FURNITURE_PAGES: Final = 5
FURNITURE_SHARE: Final = 0.9
"""A word on so many pages of a site is part of its menu or footer."""

_NO_PROSE: Final = re.compile(r"https?://\S+|[#@][\w.]+|\b(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}\b")
_WORD: Final = re.compile(r"[^\W\d_]+")
_HABITS: Final[dict[str, re.Pattern[str]]] = {
    "asks": re.compile(r"\w\s?\?"),
    "exclaims": re.compile(r"\w\s?!"),
    "shouts": re.compile(r"\b[A-Z]{4,}\b.{0,200}\b[A-Z]{4,}\b", re.DOTALL),
    "uses emoji": re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]"),
    "says we": re.compile(r"\b(?:we|our|ours|us|wir|unser\w*|nous|notre|nos|nosotros|nuestr\w+)\b", re.IGNORECASE),
    "says you": re.compile(r"\b(?:you|your|yours|dein\w*|euch|euer|vous|votre|vos|ustedes|vuestr\w+)\b", re.IGNORECASE),
    "calls to act": re.compile(
        r"\b(?:buy|order|shop|join|book|visit|discover|subscribe|register|sign up|learn more|link in bio)\b",
        re.IGNORECASE,
    ),
}


def topics(items: Sequence[EvidenceItem], _now: Instant) -> Iterator[Feature]:
    """The words that most items share, without those that every text, or every page of a site, has."""
    items_by_word: dict[str, list[EvidenceItem]] = defaultdict(list)
    for item in items:
        for word in _telling_words(item):
            items_by_word[word].append(item)
    telling = _without_furniture(items_by_word, sum(item.platform == "web" for item in items))
    yield from most_frequent("topics", telling, of=len(items), most=MOST_TOPICS, least=TOPIC_IN_ITEMS)


def tone(items: Sequence[EvidenceItem], _now: Instant) -> Iterator[Feature]:
    """Habits of the voice that can be seen in the text, each with the items that show it."""
    spoken = [item for item in items if item.text.strip()]
    for habit, pattern in _HABITS.items():
        showing = [item for item in spoken if pattern.search(_prose(item))]
        if showing:
            yield Feature("tone", habit, share(len(showing), len(spoken)), ids(showing))


def _without_furniture(items_by_word: Mapping[str, list[EvidenceItem]], pages: int) -> dict[str, list[EvidenceItem]]:
    """The words with their items; those on nearly all pages count only where they stand elsewhere too."""
    most = max(FURNITURE_PAGES, FURNITURE_SHARE * pages)
    remaining = dict(items_by_word)
    for word, items in items_by_word.items():
        if sum(item.platform == "web" for item in items) >= most:
            remaining[word] = [item for item in items if item.platform != "web"]
    return remaining


def _telling_words(item: EvidenceItem) -> set[str]:
    shortest, longest = WORD_CHARS
    words = set(_WORD.findall(_prose(item).lower()))
    own = set(_WORD.findall((item.author or "").lower()))
    return {word for word in words - STOP_WORDS - own if shortest <= len(word) <= longest}


def _prose(item: EvidenceItem) -> str:
    """Title and text without addresses, hosts, tags and handles, as far as they are read."""
    return _NO_PROSE.sub(" ", f"{item.title or ''}\n{item.text}"[:LOOKED_AT_CHARS])
