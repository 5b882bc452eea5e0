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
class BriefDraft:
    """A brief before it is published."""

    document: dict[str, Any]
    cited_ids: tuple[str, ...]
    """The articles that it names or quotes: they are kept as long as it is."""
    shown_ids: frozenset[str]
    """All articles of the events that it tells of; the others were left out for want of room."""


def build_brief(day: str, events: Sequence[RankedEvent], *, most_events: int, now: Instant, version: str) -> BriefDraft:
    """The brief of a day from its ranked events."""
    shown_events = events[:most_events]
    sections = [_event(rank, event) for rank, event in enumerate(shown_events, 1)]
    document = {
        "day": day,
        "title": f"Brief of {spoken(day)}",
        "published_at": utc(now),
        "clustering_version": version,
        "articles": sum(len(event.reports) for event in events),
        "sources": len({report.feed_id for event in events for report in event.reports}),
        "events": [section for section, _ in sections],
        "events_not_shown": len(events) - len(shown_events),
    }
    cited_ids = tuple(sorted({article for _, cited_ids in sections for article in cited_ids}))
    return BriefDraft(
        document, cited_ids, frozenset(report.article_id for event in shown_events for report in event.reports)
    )


def _event(rank: int, event: RankedEvent) -> tuple[dict[str, Any], set[str]]:
    lead = event.lead
    reports = sorted(
        event.reports, key=lambda report: (report is not lead, report.is_copy, report.at, report.article_id)
    )
    named_reports = reports[:MOST_REPORTS]
    headline = lead.title or UNTITLED
    sentences = summarise(headline, [report.text for report in reports[:MOST_SUMMARISED]])
    quoted = [reports[sentence.report] for sentence in sentences]
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
        "reports": [_report(report) for report in named_reports],
        "reports_not_named": len(reports) - len(named_reports),
        "score": event.score,
        "size": round(event.size, 4),
        "novelty": round(event.novelty, 4),
        "weight": round(event.weight, 4),
        "why": event.why,
    }
    return document, {report.article_id for report in (*named_reports, *quoted)}


def _report(report: NewsReport) -> dict[str, Any]:
    return {
        "title": report.title or UNTITLED,
        "source": report.source,
        "link": report.link,
        "published_at": utc(report.at),
        "article_id": report.article_id,
    }


def spoken(day: str) -> str:
    """A day as people say it."""
    when = date.fromisoformat(day)
    return f"{when.day} {when:%B %Y}"


def utc(instant: Instant) -> str:
    """A moment as programs read it, to the second."""
    return (_EPOCH + timedelta(microseconds=instant)).strftime("%Y-%m-%dT%H:%M:%SZ")
