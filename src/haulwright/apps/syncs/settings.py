"""The figures of syncs: how often Airbyte and other people's accounts are asked for something, and who asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from haulwright import Retry
from haulwright.application import ApplicationSettings, setting
from haulwright.apps.syncs.plans import Plan, plans
from haulwright.engine.durations import rate, seconds
from haulwright.errors import InvalidValue


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncSettings(ApplicationSettings):
    """What is allowed, in words. Each is checked when it is given; `SYNCS_POLL` sets `poll`, and so on."""

    prefix: ClassVar[str] = "syncs_"

    cron: str = setting("*/5 * * * *", "when syncs that are due are dispatched", "SYNCS_CRON")
    min_interval: str = setting("60 s", "between two triggers of a connection", "SYNCS_MIN_INTERVAL")
    account_rate: str = setting("1/min", "triggers for one external account", "SYNCS_ACCOUNT_RATE")
    """Whichever tenants it serves."""
    api_rate: str = setting("60/min", "requests to Airbyte with one credential", "SYNCS_API_RATE")
    api_burst: int = setting(10, "how many of them may go at once", "SYNCS_API_BURST", minimum=1, maximum=10_000)
    api_concurrency: int = setting(4, "and be under way", "SYNCS_API_CONCURRENCY", minimum=1, maximum=10_000)
    poll: str = setting("30 s", "between two looks at a workspace while it has syncs", "SYNCS_POLL")
    longest: str = setting("24 h", "a sync that takes longer is stopped", "SYNCS_LONGEST")
    """It is stopped at Airbyte, and counts as failed."""
    max_retries: int = setting(
        5, "how often a sync that failed is tried again", "SYNCS_MAX_RETRIES", minimum=0, maximum=999
    )
    base_delay: str = setting("60 s", "before the first retry; it doubles", "SYNCS_BASE_DELAY")
    max_delay: str = setting("3600 s", "no retry waits longer", "SYNCS_MAX_DELAY")
    jitter: float = setting(0.25, "the part of a delay that chance adds or takes away", "SYNCS_JITTER", maximum=1)
    plan_free: str = setting("24 h", "between two syncs of a connection on the plan free", "SYNCS_PLAN_FREE")
    plan_growth: str = setting("6 h", "the least between two on the plan growth", "SYNCS_PLAN_GROWTH")
    plan_enterprise: str = setting("1 h", "the least between two on the plan enterprise", "SYNCS_PLAN_ENTERPRISE")

    def __post_init__(self) -> None:
        rate(self.account_rate, what="syncs_account_rate")
        rate(self.api_rate, what="syncs_api_rate")
        for name in ("min_interval", "poll", "longest"):
            seconds(getattr(self, name), what=f"syncs_{name}", minimum=1)
        base, cap = (seconds(getattr(self, name), what=f"syncs_{name}") for name in ("base_delay", "max_delay"))
        if cap < base:
            raise InvalidValue("syncs_max_delay", self.max_delay, f"is less than syncs_base_delay, {self.base_delay!r}")
        _ = self.retry, self.plans  # what makes no sense in them is refused now

    @property
    def retry(self) -> Retry:
        """How often a sync runs, and how long it waits in between."""
        return Retry(1 + self.max_retries, base=self.base_delay, cap=self.max_delay, jitter=self.jitter)

    @property
    def plans(self) -> dict[str, Plan]:
        """The plans by their names."""
        return plans(free=self.plan_free, growth=self.plan_growth, enterprise=self.plan_enterprise)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AirbyteSettings(ApplicationSettings):
    """Where Airbyte is, and who asks it."""

    prefix: ClassVar[str] = "airbyte_"

    base_url: str = setting("https://api.airbyte.com/v1", "where Airbyte answers", "AIRBYTE_BASE_URL")
    api_token: str | None = setting(
        None, "a token for Airbyte; client credentials are better", "AIRBYTE_API_TOKEN", secret=True
    )
    client_id: str | None = setting(None, "the client that asks Airbyte for tokens", "AIRBYTE_CLIENT_ID")
    client_secret: str | None = setting(None, "the secret of that client", "AIRBYTE_CLIENT_SECRET", secret=True)
    workspace_id: str | None = setting(None, "the workspace whose syncs are polled", "AIRBYTE_WORKSPACE_ID")


FIGURES: Final = (*SyncSettings.figures(), *AirbyteSettings.figures())
