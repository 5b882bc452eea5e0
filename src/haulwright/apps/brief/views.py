"""How feeds, runs and briefs are shown. Keys are stable: programs rely on them and on their order."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import TypedDict

from haulwright.operations.times import iso

if TYPE_CHECKING:
    from haulwright.apps.brief.compat import ScheduleRun
    from haulwright.apps.brief.feeds import FeedSubscription
    from haulwright.apps.brief.publishing import PublishedBrief
    from haulwright.cli.kit.output import Out
    from haulwright.clock import Instant

ERROR_CHARS = 60
FEED_HEADERS = ("feed", "name", "url", "weight", "enabled", "checked", "failures", "error")
BRIEF_HEADERS = ("day", "edition", "events", "articles", "published")
RUN_HEADERS = ("job", "slot", "status", "rows", "started", "finished", "worker", "error")


class FeedView(TypedDict):
    """A feed, and how it has been lately."""

    tenant: str
    id: str
    url: str
    name: str
    weight: float
    enabled: bool
    format: str | None
    warnings: list[str]
    due_at: str | None
    checked_at: str | None
    changed_at: str | None
    failures: int
    last_error: str | None
    last_failed_at: str | None


class FeedPageView(TypedDict):
    """Some feeds, in the order of their ids."""

    feeds: list[FeedView]
    next: str | None


class FeedRemovedView(TypedDict):
    """A feed that is gone."""

    tenant: str
    id: str


class PublishedBriefView(TypedDict):
    """A brief in a list."""

    day: str
    edition: int
    events: int
    articles: int
    published_at: str | None


class PublishedBriefsView(TypedDict):
    """The briefs of a tenant, the newest first."""

    briefs: list[PublishedBriefView]


class QuotedSentenceView(TypedDict):
    """A sentence of a summary, and who wrote it."""

    text: str
    source: str
    link: str | None


class NewsReportView(TypedDict):
    """A report of an event."""

    title: str
    source: str
    link: str | None
    published_at: str
    article_id: str


class NewsEventView(TypedDict):
    """An event that a brief tells of."""

    rank: int
    id: str
    headline: str
    link: str | None
    summary: list[QuotedSentenceView]
    sources: list[str]
    reports: list[NewsReportView]
    reports_not_named: int
    score: float
    size: float
    novelty: float
    weight: float
    why: str


class BriefView(TypedDict):
    """The brief of a day."""

    day: str
    title: str
    published_at: str
    clustering_version: str
    articles: int
    sources: int
    events: list[NewsEventView]
    events_not_shown: int


class NewsEventsView(TypedDict):
    """The events that the brief of a day tells of, the weightiest first."""

    day: str
    events: list[NewsEventView]
    events_not_shown: int


class ScheduleRunView(TypedDict):
    """A run of a scheduled job, in the words of job_runs."""

    id: str
    job_name: str
    scheduled_for: str | None
    started_at: str | None
    finished_at: str | None
    status: str
    worker_instance: str | None
    error_message: str | None
    rows_processed: int | None


class ScheduleRunsView(TypedDict):
    """The newest runs of the scheduled jobs."""

    job_runs: list[ScheduleRunView]


def feed_document(feed: FeedSubscription) -> FeedView:
    """A feed."""
    return {
        "tenant": feed.tenant,
        "id": feed.id,
        "url": feed.url,
        "name": feed.name,
        "weight": feed.weight,
        "enabled": feed.enabled,
        "format": feed.format,
        "warnings": list(feed.warnings),
        "due_at": iso(feed.due_at),
        "checked_at": iso(feed.checked_at),
        "changed_at": iso(feed.changed_at),
        "failures": feed.failures,
        "last_error": feed.last_error,
        "last_failed_at": iso(feed.last_failed_at),
    }


def feed_row(out: Out, feed: FeedSubscription, now: Instant) -> tuple[object, ...]:
    """A feed as a line of a table."""
    error = " ".join((feed.last_error or "").split())[:ERROR_CHARS]
    enabled = "yes" if feed.enabled else "no"
    return (
        feed.id,
        feed.name,
        feed.url,
        feed.weight,
        enabled,
        out.when(feed.checked_at, now),
        feed.failures or "",
        error,
    )


def brief_document(brief: PublishedBrief) -> PublishedBriefView:
    """A brief in a list."""
    return {
        "day": brief.day,
        "edition": brief.edition,
        "events": brief.events,
        "articles": brief.articles,
        "published_at": iso(brief.published_at),
    }


def brief_row(out: Out, brief: PublishedBrief, now: Instant) -> tuple[object, ...]:
    """A brief as a line of a table."""
    return brief.day, brief.edition, brief.events, brief.articles, out.when(brief.published_at, now)


def run_document(run: ScheduleRun) -> ScheduleRunView:
    """A run of a scheduled job."""
    return {
        "id": run.id,
        "job_name": run.job_name,
        "scheduled_for": _utc(run.scheduled_for),
        "started_at": _utc(run.started_at),
        "finished_at": _utc(run.finished_at),
        "status": run.status,
        "worker_instance": run.worker_instance,
        "error_message": run.error_message,
        "rows_processed": run.rows_processed,
    }


def _utc(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def run_row(run: ScheduleRun) -> tuple[object, ...]:
    """A run as a line of a table."""
    document = cast("dict[str, Any]", run_document(run))
    error = " ".join((run.error_message or "").split())[:ERROR_CHARS]
    names = ("job_name", "scheduled_for", "status", "rows_processed", "started_at", "finished_at", "worker_instance")
    return (*("" if document[name] is None else document[name] for name in names), error)
