"""The figures of the brief: when its jobs run, how hosts of feeds are asked, how long articles are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from haulwright.application import ApplicationSettings, setting
from haulwright.apps.brief.retry import SLOT_RETRY
from haulwright.settings import DAY


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
    feed_rate: str = setting("60/min", "requests to one host of feeds")
    feed_burst: int = setting(10, "how many of them may go at once after a quiet time", minimum=1, maximum=10_000)
    feed_concurrency: int = setting(4, "how many of them may be under way", minimum=1, maximum=10_000)
    private_hosts: str = setting("", "hosts and networks of feeds that need not be public, comma separated")
    keep_articles_seconds: float = setting(90 * DAY, "how long articles that no brief cites are kept", minimum=30 * DAY)
    events: int = setting(20, "how many events a brief tells of", minimum=1, maximum=200)


FIGURES: Final = BriefSettings.figures()
