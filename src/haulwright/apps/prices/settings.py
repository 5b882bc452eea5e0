"""The figures of prices: how long a collection is leased, how often it is tried, and where sources may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from haulwright import Retry
from haulwright.application import ApplicationSettings, setting
from haulwright.errors import InvalidValue
from haulwright.settings import DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceSettings(ApplicationSettings):
    """What can be set."""

    prefix: ClassVar[str] = "prices_"

    lease_seconds: float = setting(
        300.0,
        "the lease of a collection: without a heartbeat for so long it is taken back",
        "JOB_LOCK_TIMEOUT_SECONDS",
        minimum=1,
        maximum=DAY,
    )
    tries: int = setting(5, "how often a collection is tried, the first time included", minimum=1, maximum=1_000)
    base_delay_minutes: float = setting(1.0, "between the first try and the second; it doubles", maximum=DAY / 60)
    max_delay_minutes: float = setting(1_440.0, "no try is later than this after the last", maximum=31 * DAY / 60)
    private_hosts: str = setting("", "hosts and networks of price sources that need not be public, comma separated")

    def __post_init__(self) -> None:
        if self.max_delay_minutes < self.base_delay_minutes:
            why = f"is less than prices_base_delay_minutes, {self.base_delay_minutes:g}"
            raise InvalidValue("prices_max_delay_minutes", self.max_delay_minutes, why)

    @property
    def retry(self) -> Retry:
        """How often a collection runs, and how long it waits in between."""
        return Retry(self.tries, base=self.base_delay_minutes * 60, cap=self.max_delay_minutes * 60, jitter=0)


FIGURES: Final = PriceSettings.figures()
