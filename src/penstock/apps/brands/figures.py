"""The figures of brands: how long, how many, how much. They are settings, with `brands_` before their names."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

from penstock.errors import InvalidValue
from penstock.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What can be set. `PENSTOCK_BRANDS_FRESH_SECONDS` sets `fresh_seconds`, and so on."""

    attempts: int
    """How often a compile, or one source of it, is tried in all."""
    lease_seconds: float
    """The lease of a compile, and how long one run of it may take."""
    request_seconds: float
    """What one request to Apify may take, by a clock that nobody sets."""
    fresh_seconds: float
    """How long what a run found is used again instead of bought anew."""
    poll_interval_seconds: float
    """Between two looks at a run; no worker is held meanwhile."""
    poll_timeout_seconds: float
    """After so long a run is aborted; a minute later Apify ends it by itself."""
    max_charge_usd: float
    """What one run may cost at most."""
    bad_items_ratio: float
    """With a larger share of unusable items a run counts as failed."""
    lag_seconds: float
    """For how long an interrupted start is looked for at Apify before it counts as not begun."""
    evidence_items: int
    """How many items of each source a compile looks at, the newest first."""
    keep_raw_seconds: float
    """How long the raw items of a finished run are kept."""

    def __post_init__(self) -> None:
        for one in fields(self):
            if not getattr(self, one.name) > 0:
                raise InvalidValue(f"brands_{one.name}", getattr(self, one.name), "is not more than nothing")

    @classmethod
    def load(cls, settings: Settings | None = None, **said: float) -> Self:
        """The figures of the settings, with what is said here in their place."""
        known = settings or Settings.load()
        return cls(**{one.name: said.get(one.name, known[f"brands_{one.name}"]) for one in fields(cls)})
