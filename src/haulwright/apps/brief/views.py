"""How feeds, runs and briefs are shown. Keys are stable: programs rely on them and on their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haulwright.operations.times import iso

if TYPE_CHECKING:
    from haulwright.apps.brief.compat import ScheduleRun
    from haulwright.apps.brief.feeds import FeedSubscription
    from haulwright.apps.brief.publishing import Listed
    from haulwright.cli.kit.output import Out
    from haulwright.clock import Instant

ERROR_CHARS = 60
FEED_HEADERS = ("feed", "name", "url", "weight", "enabled", "checked", "failures", "error")
BRIEF_HEADERS = ("day", "events", "articles", "published")
RUN_HEADERS = ("job", "slot", "status", "started", "finished", "worker", "error")


def feed_document(one: FeedSubscription) -> dict[str, Any]:
    """A feed."""
    return {
        "tenant": one.tenant,
        "id": one.id,
        "url": one.url,
        "name": one.name,
        "weight": one.weight,
        "enabled": one.enabled,
        "format": one.format,
        "warnings": list(one.warnings),
        "due_at": iso(one.due_at),
        "checked_at": iso(one.checked_at),
        "changed_at": iso(one.changed_at),
        "failures": one.failures,
        "last_error": one.last_error,
        "last_failed_at": iso(one.last_failed_at),
    }


def feed_row(out: Out, one: FeedSubscription, now: Instant) -> tuple[object, ...]:
    """A feed as a line of a table."""
    error = " ".join((one.last_error or "").split())[:ERROR_CHARS]
    enabled = "yes" if one.enabled else "no"
    return one.id, one.name, one.url, one.weight, enabled, out.when(one.checked_at, now), one.failures or "", error


def brief_document(one: Listed) -> dict[str, Any]:
    """A brief in a list."""
    return {"day": one.day, "events": one.events, "articles": one.articles, "published_at": iso(one.published_at)}


def brief_row(out: Out, one: Listed, now: Instant) -> tuple[object, ...]:
    """A brief as a line of a table."""
    return one.day, one.events, one.articles, out.when(one.published_at, now)


def run_document(one: ScheduleRun) -> dict[str, Any]:
    """A run of a scheduled job."""
    times = {name: getattr(one, name) for name in ("scheduled_for", "started_at", "finished_at")}
    return {
        "id": one.id,
        "job_name": one.job_name,
        **{name: None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}" for name, moment in times.items()},
        "status": one.status,
        "worker_instance": one.worker_instance,
        "error_message": one.error_message,
    }


def run_row(one: ScheduleRun) -> tuple[object, ...]:
    """A run as a line of a table."""
    shown = run_document(one)
    error = " ".join((one.error_message or "").split())[:ERROR_CHARS]
    names = ("job_name", "scheduled_for", "status", "started_at", "finished_at", "worker_instance")
    return (*("" if shown[name] is None else shown[name] for name in names), error)
