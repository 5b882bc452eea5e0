"""The figures of syncs: how often Airbyte and other people's accounts are asked for something."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

from penstock.engine.words import Duration, rate, seconds
from penstock.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is allowed, in words. Each is checked when it is given; `SYNCS_POLL` sets `poll`, and so on."""

    min_interval: Duration
    """At least so much between two triggers of a connection."""
    account_rate: str
    """Triggers for one external account, whichever tenants it serves."""
    api_rate: str
    """Requests to Airbyte with one credential."""
    api_burst: int
    """How many of them may go at once after a quiet time."""
    api_concurrency: int
    """How many of them may be under way."""
    poll: Duration
    """From one look at a workspace to the next, while syncs are under way there."""
    longest: Duration
    """A sync that takes longer is stopped at Airbyte and counts as failed."""

    def __post_init__(self) -> None:
        rate(self.account_rate, what="syncs_account_rate")
        rate(self.api_rate, what="syncs_api_rate")
        for name in ("min_interval", "poll", "longest"):
            seconds(getattr(self, name), what=f"syncs_{name}", minimum=1)

    @classmethod
    def load(cls, settings: Settings | None = None, **said: Any) -> Self:
        """The figures of the settings, with what is said here in their place."""
        known = settings or Settings.load()
        return cls(**{one.name: said.get(one.name, known[f"syncs_{one.name}"]) for one in fields(cls)})

    @property
    def min_interval_seconds(self) -> float:
        """The spacing of triggers."""
        return seconds(self.min_interval, what="min_interval")

    @property
    def poll_seconds(self) -> float:
        """The spacing of polls."""
        return seconds(self.poll, what="poll")

    @property
    def longest_seconds(self) -> float:
        """The time limit of one sync."""
        return seconds(self.longest, what="longest")
