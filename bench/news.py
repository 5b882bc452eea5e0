"""Made news: events with names of their own, told in words that follow Zipf's law, as those of a language do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, count
from random import Random

from haulwright.apps.brief.clustering import Article

VOCABULARY = 30_000
COMMON_WORDS, TOPIC_WORDS, NAMES = 110, 25, 10
"""The words of a report: of the language, of its subject, and the names in it."""
SUBJECTS = 300
MOST_REPORTS = 8
EVERY_US = 6_000_000
"""A report every six seconds: 100,000 of them are a week of a large reader."""

_RANKS = list(accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))
_LANGUAGE = [f"word{rank}" for rank in range(VOCABULARY)]


def news(seed: int) -> Iterator[Article]:
    """Reports without end; those of one event follow each other, between those of others."""
    luck = Random(seed)  # noqa: S311 - a seed, not a secret
    under_way: list[tuple[int, int]] = []
    events = count()
    for number in count():
        if len(under_way) < 2 * MOST_REPORTS:
            under_way.append((next(events), luck.randint(1, MOST_REPORTS)))
        place = luck.randrange(len(under_way))
        event, left = under_way[place]
        under_way[place : place + 1] = [(event, left - 1)] if left > 1 else []
        yield Article(str(number), _report(event, luck), published_at=number * EVERY_US)


def _report(event: int, luck: Random) -> str:
    subject = event % SUBJECTS
    common = luck.choices(_LANGUAGE, cum_weights=_RANKS, k=COMMON_WORDS)
    topical = [f"topic{subject}x{luck.randrange(60)}" for _ in range(TOPIC_WORDS)]
    names = [f"name{event}x{luck.randrange(NAMES)}" for _ in range(2 * NAMES)]
    told = [*common, *topical, *names]
    luck.shuffle(told)
    return " ".join(told)
