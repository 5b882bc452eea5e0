"""The document of a brief: what is stored, and what every format is written from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from haulwright.apps.brief.ranking import NewsReport, RankedEvent
from haulwright.apps.brief.summary import summarise
from haulwright.clock import Instant

MOST_REPORTS: Final = 8
"""Of one event that are named; the others are counted."""
MOST_SUMMARISED: Final = 20
"""Reports of one event that its summary is drawn from."""
UNTITLED: Final = "Without a title"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Made:
    """A brief before it is published."""

    document: dict[str, Any]
    cited: tuple[str, ...]
    """The articles that it names or quotes: they are kept as long as it is."""
    shown: frozenset[str]
    """All articles of the events that it tells of; the others were left out for want of room."""


def make(day: str, events: Sequence[RankedEvent], *, most_events: int, now: Instant, version: str) -> Made:
    """The brief of a day from its ranked events."""
    shown = events[:most_events]
    told = [_event(rank, event) for rank, event in enumerate(shown, 1)]
    document = {
        "day": day,
        "title": f"Brief of {spoken(day)}",
        "published_at": utc(now),
        "clustering_version": version,
        "articles": sum(len(event.reports) for event in events),
        "sources": len({one.feed_id for event in events for one in event.reports}),
        "events": [one for one, _ in told],
        "events_not_shown": len(events) - len(shown),
    }
    cited = tuple(sorted({article for _, cited in told for article in cited}))
    return Made(document, cited, frozenset(one.article_id for event in shown for one in event.reports))


def _event(rank: int, event: RankedEvent) -> tuple[dict[str, Any], set[str]]:
    lead = event.lead
    others = sorted(event.reports, key=lambda one: (one is not lead, one.is_copy, one.at, one.article_id))
    named = others[:MOST_REPORTS]
    headline = lead.title or UNTITLED
    sentences = summarise(headline, [one.text for one in others[:MOST_SUMMARISED]])
    quoted = [others[sentence.report] for sentence in sentences]
    document = {
        "rank": rank,
        "id": event.id,
        "headline": headline,
        "link": lead.link,
        "summary": [
            {"text": sentence.text, "source": report.source, "link": report.link}
            for sentence, report in zip(sentences, quoted, strict=True)
        ],
        "sources": sorted(event.sources),
        "reports": [_report(one) for one in named],
        "reports_not_named": len(others) - len(named),
        "score": event.score,
        "size": round(event.size, 4),
        "novelty": round(event.novelty, 4),
        "weight": round(event.weight, 4),
        "why": event.why,
    }
    return document, {one.article_id for one in (*named, *quoted)}


def _report(one: NewsReport) -> dict[str, Any]:
    return {
        "title": one.title or UNTITLED,
        "source": one.source,
        "link": one.link,
        "published_at": utc(one.at),
        "article_id": one.article_id,
    }


def spoken(day: str) -> str:
    """A day as people say it."""
    when = date.fromisoformat(day)
    return f"{when.day} {when:%B %Y}"


def utc(instant: Instant) -> str:
    """A moment as programs read it, to the second."""
    return (_EPOCH + timedelta(microseconds=instant)).strftime("%Y-%m-%dT%H:%M:%SZ")
