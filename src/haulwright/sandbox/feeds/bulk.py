"""Feeds by the thousand: each with articles of its own that follow from seed and number, cheap to make and to tell."""

from __future__ import annotations

from functools import lru_cache

from haulwright.sandbox.chance import chance, identifier
from haulwright.sandbox.feeds.formats import Channel
from haulwright.sandbox.feeds.stories import PEOPLE, STORIES, cast
from haulwright.sandbox.feeds.world import HOUR, WorldArticle

ENTRIES = 50
LARGEST_NUMBER = 100_000
CACHED_FEEDS = 64


def channel(seed: int, number: int, base: str, *, before: float, build: int) -> Channel:
    """The feed of a number: articles that all appeared before a moment. Another build says so and nothing else."""
    name = f"bulk-{number}"
    title = f"Bulk {number}" if build == 0 else f"Bulk {number}, build {build}"
    return Channel(title, base, name, _articles(seed, number, before))


@lru_cache(maxsize=CACHED_FEEDS)
def _articles(seed: int, number: int, before: float) -> tuple[WorldArticle, ...]:
    return tuple(_article(seed, number, place, before - (place + 1) * HOUR) for place in range(ENTRIES))


def _article(seed: int, number: int, place: int, published: float) -> WorldArticle:
    luck = chance(seed, "bulk", number, place)
    story = luck.choice(STORIES)
    names = cast(number * ENTRIES + place)
    facts = [fact.format(**names) for fact in luck.sample(story.facts, k=3)]
    return WorldArticle(
        id=identifier(seed, "bulk", number, place, length=12),
        paper=f"bulk-{number}",
        event=f"bulk-{number}-{place}",
        section=story.section,
        title=luck.choice(story.headlines).format(**names),
        summary=facts[0],
        text=f"{' '.join(facts)} Report {number}/{place}.",
        author=luck.choice(PEOPLE),
        published=float(int(published)),
        updated=float(int(published)),
    )
