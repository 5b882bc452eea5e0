"""The figures of brands: how long, how many, how much. Each can be set by a variable of the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, Self

from penstock.errors import InvalidValue

PREFIX: Final = "PENSTOCK_BRANDS_"


@dataclass(frozen=True, slots=True)
class Figures:
    """What can be set. `PENSTOCK_BRANDS_FRESH_SECONDS` sets `fresh_seconds`, and so on."""

    fresh_seconds: float = 24 * 3600.0
    """How long what a run found is used again instead of bought anew."""
    poll_interval_seconds: float = 5.0
    """Between two looks at a run; no worker is held meanwhile."""
    poll_timeout_seconds: float = 300.0
    """After so long a run is aborted; a minute later Apify ends it by itself."""
    max_charge_usd: float = 1.0
    """What one run may cost at most."""
    bad_items_ratio: float = 0.5
    """With a larger share of unusable items a run counts as failed."""
    lag_seconds: float = 5.0
    """For how long an interrupted start is looked for at Apify before it counts as not begun."""
    evidence_items: float = 2_000
    """How many items of each source a compile looks at, the newest first."""

    def __post_init__(self) -> None:
        for one in fields(self):
            if not getattr(self, one.name) > 0:
                raise InvalidValue(PREFIX + one.name.upper(), getattr(self, one.name), "is not more than nothing")

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read the figures; what makes no sense is refused."""
        given = os.environ if environ is None else environ
        said = {
            one.name: given[PREFIX + one.name.upper()] for one in fields(cls) if given.get(PREFIX + one.name.upper())
        }
        return cls(**{name: _number(name, text) for name, text in said.items()})


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidValue(PREFIX + name.upper(), text, "is not a number") from None
