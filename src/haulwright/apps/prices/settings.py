"""The figures of prices: how long a collection is leased, and where sources may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from haulwright.application import ApplicationSettings, setting
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
    private_hosts: str = setting("", "hosts and networks of price sources that need not be public, comma separated")


FIGURES: Final = PriceSettings.figures()
