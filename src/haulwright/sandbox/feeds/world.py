"""What happens, week by week, and who writes about it. A function of the seed: nothing is stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from haulwright.sandbox.chance import chance, identifier
from haulwright.sandbox.feeds import details
from haulwright.sandbox.feeds.stories import PEOPLE, STORIES, cast

HOUR = 3600.0
WEEK = 7 * 24 * HOUR
EVENTS_A_WEEK = 40
FEWEST_PAPERS, MOST_PAPERS = 2, 6
LATEST_HOURS = 20.0
"""How long after the first report the last paper may follow."""
EDITED_SHARE = 0.1
DETAILS_TOLD = 5
"""Of the six that an event has: two papers always have most of them in common."""
CACHED_WEEKS = 16

PAPERS: dict[str, str] = {
    "harbour-times": "The Harbour Times",
    "northern-post": "Northern Post",
    "daily-ledger": "Daily Ledger",
    "metro-wire": "Metro Wire",
    "civic-radio": "Civic Radio",
    "the-lantern": "The Lantern",
    "evening-star": "Evening Star",
    "open-courier": "Open Courier",
}
"""The feeds, and the names of the papers behind them."""

DATELINE = "{place}, {region}: "
SPEAKER = "{speaker} spoke for {office} in {region}, {person} for {company}, {guest} for {society}; {host} presided."
"""What all reports of an event begin and end with: names that are its own, as in an agency's reports."""
LEADS = ("", "According to first reports, ", "It was confirmed on site: ", "Officials say that much is clear. ")


@dataclass(frozen=True, slots=True)
class WorldArticle:
    """One report of one paper about one event."""

    id: str
    paper: str
    event: str
    """The truth for whoever clusters: reports of the same event share it."""
    section: str
    title: str
    summary: str
    text: str
    author: str
    published: float
    updated: float
    """Later than `published` once it was edited."""


def articles(seed: int, start: float, end: float) -> list[WorldArticle]:
    """What was published from start up to end, oldest first, as it stands at the end."""
    first = int((start - LATEST_HOURS * HOUR) // WEEK)
    weeks = (report for week in range(first, int(end // WEEK) + 1) for report in _week(seed, week))
    articles = [_as_of(report, end) for report in weeks if start <= report.published <= end]
    return sorted(articles, key=lambda article: (article.published, article.id))


@lru_cache(maxsize=CACHED_WEEKS)
def _week(seed: int, week: int) -> tuple[WorldArticle, ...]:
    return tuple(article for number in range(EVENTS_A_WEEK) for article in _event(seed, week, number))


def _event(seed: int, week: int, number: int) -> Iterator[WorldArticle]:
    luck = chance(seed, "event", week, number)
    story = luck.choice(STORIES)
    happened = (week + luck.random()) * WEEK
    story_number = week * EVENTS_A_WEEK + number
    particulars = details.of_story(story_number)
    names = cast(story_number)
    papers = luck.sample(sorted(PAPERS), k=luck.randint(FEWEST_PAPERS, MOST_PAPERS))
    headlines = luck.sample(story.headlines, k=len(story.headlines))
    for place, paper in enumerate(papers):
        own = chance(seed, "article", week, number, paper)
        sentences = [own.choice(story.facts).format(**names), *details.sentences(particulars, own, DETAILS_TOLD)]
        # Whole seconds: feeds cannot say more, and a reader has to get back what was meant.
        published = float(int(happened + (own.uniform(0, LATEST_HOURS) * HOUR if place else 0.0)))
        yield WorldArticle(
            id=identifier(seed, week, number, paper, length=12),
            paper=paper,
            event=f"{week}-{number}",
            section=story.section,
            title=headlines[place % len(headlines)].format(**names),
            summary=sentences[0],
            text=DATELINE.format(**names) + own.choice(LEADS) + " ".join([*sentences, SPEAKER.format(**names)]),
            author=own.choice(PEOPLE),
            published=published,
            updated=published + 3 * HOUR if own.random() < EDITED_SHARE else published,
        )


def _as_of(article: WorldArticle, now: float) -> WorldArticle:
    """An article as it stands now: one that will be edited is not yet."""
    if article.updated == article.published or article.updated > now:
        return replace(article, updated=article.published)
    text = f"{article.text} This report was corrected after a reader wrote in."
    return replace(article, title=f"{article.title} (updated)", text=text)
