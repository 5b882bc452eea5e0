"""The figures of brands: how long, how many, how much, and who pays. Most have `brands_` before their names."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar, Final

from haulwright.application import ApplicationSettings, setting
from haulwright.apps.brands.evidence.bundle import BundleCaps
from haulwright.apps.brands.retry import COMPILE_RETRY
from haulwright.errors import InvalidValue
from haulwright.settings import DAY, figure

DEFAULT_POLL_TIMEOUT_S: Final = 300
DEFAULT_POLL_INTERVAL_S: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class BrandSettings(ApplicationSettings):
    """What can be set. `HAULWRIGHT_BRANDS_FRESH_SECONDS` sets `fresh_seconds`, and so on."""

    prefix: ClassVar[str] = "brands_"

    attempts: int = setting(
        COMPILE_RETRY.attempts, "how often a compile, or a source of it, is tried", minimum=1, maximum=1000
    )
    lease_seconds: float = setting(
        600.0, "the lease of a compile, and what one run of it may take", minimum=1, maximum=DAY
    )
    request_seconds: float = setting(30.0, "what one request to Apify may take", minimum=0.001, maximum=3600)
    """By a clock that nobody sets."""
    fresh_seconds: float = setting(DAY, "how long what a run found is used instead of bought anew", minimum=0.001)
    poll_interval_seconds: float = setting(
        float(DEFAULT_POLL_INTERVAL_S), "between two looks at a run", minimum=0.001, maximum=3600
    )
    """No worker is held meanwhile."""
    poll_timeout_seconds: float = setting(
        float(DEFAULT_POLL_TIMEOUT_S), "after so long a run is aborted", minimum=0.001, maximum=DAY
    )
    """A minute later Apify ends it by itself."""
    lag_seconds: float = setting(5.0, "how long an interrupted start is looked for at Apify", minimum=0.001, maximum=60)
    """After that it counts as not begun."""
    max_charge_usd: float = setting(1.0, "what one run may cost", minimum=0.001, maximum=10_000)
    bad_items_ratio: float = setting(0.5, "a larger share of unusable items fails a run", minimum=0.001, maximum=1)
    evidence_items: int = setting(2_000, "how many items of a source a compile looks at", minimum=1, maximum=50_000)
    """The newest first."""
    bundle_items_per_kind: int = setting(
        40, "how many items of one platform and content type a bundle takes", minimum=1, maximum=1_000
    )
    bundle_items: int = setting(200, "how many items a bundle takes in all", minimum=1, maximum=5_000)
    keep_raw_seconds: float = setting(90 * DAY, "how long the raw items of finished runs are kept", minimum=1)

    @property
    def bundle_caps(self) -> BundleCaps:
        """How many items a bundle takes at most."""
        return BundleCaps(per_kind=self.bundle_items_per_kind, in_all=self.bundle_items)

    def __post_init__(self) -> None:
        for each in fields(self):
            if not getattr(self, each.name) > 0:
                raise InvalidValue(f"brands_{each.name}", getattr(self, each.name), "is not more than nothing")


FIGURES: Final = (
    *BrandSettings.figures(),
    figure("brands_cron", "41 * * * *", "when runs that were left behind and old raw items are looked after"),
    figure("brands_disabled", None, "capabilities that are switched off, comma separated"),
    figure("brands_capabilities", None, "a TOML file with capabilities of your own"),
    figure("brands_draft_usd", 1.0, "what one draft of a model may cost", maximum=10_000),
    figure("brands_prompt_usd", None, "the price of a million prompt tokens", kind=float, maximum=1e6),
    figure("brands_completion_usd", None, "the price of a million completion tokens", kind=float, maximum=1e6),
    figure("openai_api_key", None, "the key of the account that pays for a model", "OPENAI_API_KEY", secret=True),
    figure("openai_base_url", "https://api.openai.com/v1", "where the model answers", "OPENAI_BASE_URL"),
    figure("apify_token", None, "the token of the Apify account that pays for runs", "APIFY_TOKEN", secret=True),
    figure("apify_base_url", "https://api.apify.com", "where Apify answers", "APIFY_BASE_URL"),
)
