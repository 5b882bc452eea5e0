"""The figures of clustering: one setting for long texts and headlines, for streams of all subjects and of one."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Final

SHORT_WORDS: Final = 16
"""A text of so many words or fewer is a headline."""
DAY_US: Final = 86_400 * 1_000_000


@dataclass(frozen=True, slots=True)
class Tuning:
    """How words are weighed, and how near an article must be to an event. One for all streams."""

    prior_articles: int = 200
    """What is known of a language before the first article counts as so many articles of the stream."""
    name_percent: int = 150
    """What a name weighs beside another word that is as rare in the stream."""
    number_percent: int = 130
    """The same for a number."""
    join_long: float = 0.2
    """From this nearness on, an article of many words joins an event."""
    join_short: float = 0.15
    """The same for a headline: the few words of two papers about one event have less in common."""
    chance: float = 2.0
    """So many times, what the article has in common with just any other of the stream is taken off its nearness."""
    distance: float = 0.25
    """What a long time between the article and the event takes off; a day takes half of it."""

    def join_at(self, words: int) -> float:
        """The nearness from which on a text of so many words joins an event."""
        shortness = sqrt(SHORT_WORDS / max(words, SHORT_WORDS))
        return self.join_long + (self.join_short - self.join_long) * shortness

    def apart(self, gap_us: int) -> float:
        """What so much time between an article and an event takes off its nearness."""
        return self.distance * gap_us / (gap_us + DAY_US)


DEFAULT: Final = Tuning()
