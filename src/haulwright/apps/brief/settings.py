"""The figures of the brief: when its jobs run, how hosts of feeds are asked, how long articles are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from haulwright import Retry
from haulwright.application import ApplicationSettings, setting
from haulwright.apps.brief.compat import (
    DAILY_BRIEF,
    EVENT_CLUSTERING,
    JOBS,
    RETENTION_CLEANUP,
    RSS_INGESTION,
    JobOptions,
)
from haulwright.apps.brief.retry import SLOT_RETRY
from haulwright.settings import DAY

_PREFIXES: Final = {
    RSS_INGESTION: "ingest",
    EVENT_CLUSTERING: "cluster",
    RETENTION_CLEANUP: "retention",
    DAILY_BRIEF: "daily",
}
"""What the settings of each job begin with."""


@dataclass(frozen=True, slots=True)
class BriefSettings(ApplicationSettings):
    """What can be set: `brief_feed_rate` of the settings is `feed_rate` here, and so on."""

    prefix: ClassVar[str] = "brief_"

    ingest_cron: str = setting("*/15 * * * *", "when the feeds of the brief are asked")
    cluster_cron: str = setting("5,20,35,50 * * * *", "when new articles are gathered into events")
    retention_cron: str = setting("30 3 * * *", "when old articles are removed")
    cron: str = setting("0 6 * * *", "when the brief of the day is published")
    tz: str = setting("UTC", "the time zone of these four, and of the day of a brief")
    attempts: int = setting(
        SLOT_RETRY.attempts, "runs of one of their slots; 1 is at most once", minimum=1, maximum=100
    )
    ingest_coalesce: bool = setting(
        JOBS[RSS_INGESTION].coalesce, "whether only the newest due slot of rss_ingestion is run"
    )
    ingest_grace_seconds: float = setting(
        JOBS[RSS_INGESTION].misfire_grace_time, "how late a slot of rss_ingestion may be opened", kind=float, minimum=1
    )
    ingest_expected_runtime_seconds: float = setting(
        JOBS[RSS_INGESTION].expected_runtime,
        "what rss_ingestion takes at most; twice that is too long",
        kind=float,
        minimum=1,
    )
    ingest_attempts: int | None = setting(
        None, "runs of a slot of rss_ingestion and of its parts, else brief_attempts", kind=int, minimum=1, maximum=100
    )
    ingest_retry_seconds: float = setting(30.0, "before the second run of rss_ingestion; it doubles", maximum=DAY)
    cluster_coalesce: bool = setting(
        JOBS[EVENT_CLUSTERING].coalesce, "whether only the newest due slot of event_clustering is run"
    )
    cluster_grace_seconds: float = setting(
        JOBS[EVENT_CLUSTERING].misfire_grace_time,
        "how late a slot of event_clustering may be opened",
        kind=float,
        minimum=1,
    )
    cluster_expected_runtime_seconds: float = setting(
        JOBS[EVENT_CLUSTERING].expected_runtime,
        "what event_clustering takes at most; twice that is too long",
        kind=float,
        minimum=1,
    )
    cluster_attempts: int | None = setting(
        None,
        "runs of a slot of event_clustering and of its parts, else brief_attempts",
        kind=int,
        minimum=1,
        maximum=100,
    )
    cluster_retry_seconds: float = setting(30.0, "before the second run of event_clustering; it doubles", maximum=DAY)
    retention_coalesce: bool = setting(
        JOBS[RETENTION_CLEANUP].coalesce, "whether only the newest due slot of retention_cleanup is run"
    )
    retention_grace_seconds: float = setting(
        JOBS[RETENTION_CLEANUP].misfire_grace_time,
        "how late a slot of retention_cleanup may be opened",
        kind=float,
        minimum=1,
    )
    retention_expected_runtime_seconds: float = setting(
        JOBS[RETENTION_CLEANUP].expected_runtime,
        "what retention_cleanup takes at most; twice that is too long",
        kind=float,
        minimum=1,
    )
    retention_attempts: int | None = setting(
        None,
        "runs of a slot of retention_cleanup and of its parts, else brief_attempts",
        kind=int,
        minimum=1,
        maximum=100,
    )
    retention_retry_seconds: float = setting(
        30.0, "before the second run of retention_cleanup; it doubles", maximum=DAY
    )
    daily_coalesce: bool = setting(JOBS[DAILY_BRIEF].coalesce, "whether only the newest due slot of daily_brief is run")
    daily_grace_seconds: float = setting(
        JOBS[DAILY_BRIEF].misfire_grace_time, "how late a slot of daily_brief may be opened", kind=float, minimum=1
    )
    daily_expected_runtime_seconds: float = setting(
        JOBS[DAILY_BRIEF].expected_runtime,
        "what daily_brief takes at most; twice that is too long",
        kind=float,
        minimum=1,
    )
    daily_attempts: int | None = setting(
        None, "runs of a slot of daily_brief and of its parts, else brief_attempts", kind=int, minimum=1, maximum=100
    )
    daily_retry_seconds: float = setting(30.0, "before the second run of daily_brief; it doubles", maximum=DAY)
    feed_rate: str = setting("60/min", "requests to one host of feeds")
    feed_burst: int = setting(10, "how many of them may go at once after a quiet time", minimum=1, maximum=10_000)
    feed_concurrency: int = setting(4, "how many of them may be under way", minimum=1, maximum=10_000)
    private_hosts: str = setting("", "hosts and networks of feeds that need not be public, comma separated")
    keep_articles_seconds: float = setting(90 * DAY, "how long articles that no brief cites are kept", minimum=30 * DAY)
    events: int = setting(20, "how many events a brief tells of", minimum=1, maximum=200)

    def job_options(self, job_name: str) -> JobOptions:
        """How a job is scheduled."""
        prefix = _PREFIXES[job_name]
        return JobOptions(
            coalesce=getattr(self, f"{prefix}_coalesce"),
            misfire_grace_time=getattr(self, f"{prefix}_grace_seconds"),
            max_instances=1,
            expected_runtime=getattr(self, f"{prefix}_expected_runtime_seconds"),
        )

    def retry(self, job_name: str) -> Retry:
        """How often a job and the jobs that do its work are run, and how long they wait in between."""
        prefix = _PREFIXES[job_name]
        attempts: int | None = getattr(self, f"{prefix}_attempts")
        return Retry(attempts or self.attempts, base=getattr(self, f"{prefix}_retry_seconds"))


FIGURES: Final = BriefSettings.figures()
