"""Match strength: how surely an offer is of the same kind as an intake, from 0 to 100. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from haulwright.extras import needs_extra

with needs_extra("apps", "Matching offers"):
    from rapidfuzz import fuzz

from haulwright.apps.prices.intakes import Intake
from haulwright.apps.prices.keys import normalized_title
from haulwright.apps.prices.offers import Offer

STRONG_ENOUGH: Final = 60
"""A weaker match is kept, and no valuation rests on it."""
CONTRADICTED: Final = 30
"""No match is stronger where one attribute says something else."""
TITLE_SHARE: Final = 0.6
"""What the title counts for, where attributes speak as well."""
MISSPELT: Final = 75
"""Words that are so alike, from 0 to 100, are one word written in two ways."""

_YEAR: Final = re.compile(r"(?<!\d)(1[0-9]{3}|20[0-9]{2})(?!\d)")
_WORD: Final = re.compile(r"[^\W_]+")


def match_strength(intake: Intake, offer: Offer) -> int:
    """How surely an offer is what was asked for: by its title, and by every attribute that both sides name.

    A listing may say more than was asked for; it may not say something else, and who says less is less sure.
    """
    title = normalized_title(offer.title)
    strength = fuzz.token_set_ratio(normalized_title(intake.words), title)
    verdicts = [verdict for verdict in _verdicts(intake, offer, title) if verdict is not None]
    if verdicts:
        by_attributes = 100 * sum(verdicts) / len(verdicts)
        strength = TITLE_SHARE * strength + (1 - TITLE_SHARE) * by_attributes
    strength = min(strength, _covered(intake, offer))
    return round(strength if all(verdicts) else min(strength, CONTRADICTED))


def _covered(intake: Intake, offer: Offer) -> float:
    """How much of what was asked for a listing says at all, word by word, from 0 to 100."""
    intake_words = _words(intake.words)
    offer_words = {word for text in (offer.title, *offer.attributes.values()) for word in _words(text)}
    return sum(_likeness(word, offer_words) for word in intake_words) / len(intake_words) if intake_words else 100.0


def _likeness(word: str, others: Collection[str]) -> float:
    """How like a word is to the likest of others, from 0 to 100; a number is one of them, or like none."""
    if word in others:
        return 100.0
    likest = max((fuzz.ratio(word, other) for other in others if word.isalpha()), default=0.0)
    return likest if likest >= MISSPELT else 0.0


def _verdicts(intake: Intake, offer: Offer, title: str) -> list[bool | None]:
    """For each attribute of the intake: the same, another, or not told."""
    return [_verdict(name, value, offer.attributes.get(name), title) for name, value in intake.described.items()]


def _verdict(name: str, value: str, offer_value: str | None, title: str) -> bool | None:
    if offer_value is not None:
        return _words(offer_value) == _words(value)
    if set(_words(value)) <= set(_words(title)):
        return True
    # A title need not name a mint or a series; one that names years names the year of the piece.
    return False if name == "year" and _YEAR.search(title) and _YEAR.fullmatch(value) else None


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
