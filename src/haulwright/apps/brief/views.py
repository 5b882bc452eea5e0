"""How feeds, runs and briefs are shown. Keys are stable: programs rely on them and on their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def feed_document(feed: FeedSubscription) -> dict[str, Any]:
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


def brief_document(brief: PublishedBrief) -> dict[str, Any]:
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


def run_document(run: ScheduleRun) -> dict[str, Any]:
    """A run of a scheduled job."""
    times = {name: getattr(run, name) for name in ("scheduled_for", "started_at", "finished_at")}
    return {
        "id": run.id,
        "job_name": run.job_name,
        **{name: None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}" for name, moment in times.items()},
        "status": run.status,
        "worker_instance": run.worker_instance,
        "error_message": run.error_message,
        "rows_processed": run.rows_processed,
    }


def run_row(run: ScheduleRun) -> tuple[object, ...]:
    """A run as a line of a table."""
    document = run_document(run)
    error = " ".join((run.error_message or "").split())[:ERROR_CHARS]
    names = ("job_name", "scheduled_for", "status", "rows_processed", "started_at", "finished_at", "worker_instance")
    return (*("" if document[name] is None else document[name] for name in names), error)
