"""The figures of the brief: when its jobs run, how hosts of feeds are asked, how long articles are kept."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Self

from penstock.apps.addresses import policy_of
from penstock.settings import DAY, Settings
from penstock.sources.http import Policy

PREFIX: Final = "brief_"


@dataclass(frozen=True, slots=True)
class Figures:
    """What can be set: `brief_feed_rate` of the settings is `feed_rate` here, and so on."""

    ingest_cron: str = "*/15 * * * *"
    cluster_cron: str = "5,20,35,50 * * * *"
    retention_cron: str = "30 3 * * *"
    cron: str = "0 6 * * *"
    """When the brief of the day is published."""
    tz: str = "UTC"
    """The zone of the schedules, and of the day of a brief."""
    attempts: int = 3
    """Runs of one slot in total; 1 is the document's rule, at most once."""
    feed_rate: str = "60/min"
    feed_burst: int = 10
    feed_concurrency: int = 4
    private_hosts: str = ""
    """Hosts and networks that feeds may be at although they are not public, comma separated."""
    keep_articles_seconds: float = 90 * DAY
    events: int = 20
    """How many events a brief tells of."""

    @classmethod
    def load(cls) -> Self:
        """The figures as the settings have them."""
        settings = Settings.load()
        return cls(**{one.name: settings[PREFIX + one.name] for one in fields(cls)})

    @property
    def policy(self) -> Policy:
        """Where feeds may be: public addresses, and the private hosts that somebody named."""
        return policy_of(self.private_hosts)
