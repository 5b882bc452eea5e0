"""The figures of syncs: how often Airbyte and other people's accounts are asked for something."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Self

from penstock.engine.words import Duration, rate, seconds
from penstock.errors import InvalidValue


@dataclass(frozen=True, slots=True)
class Limits:
    """What is allowed, in words. Each figure is checked when it is given."""

    min_interval: Duration = "60 s"
    """At least so much between two triggers of a connection."""
    account_rate: str = "1/min"
    """Triggers for one external account, whichever tenants it serves."""
    api_rate: str = "60/min"
    """Requests to Airbyte with one credential."""
    api_burst: int = 10
    """How many of them may go at once after a quiet time."""
    api_concurrency: int = 4
    """How many of them may be under way."""
    poll: Duration = "30 s"
    """From one look at a workspace to the next, while syncs are under way there."""
    longest: Duration = "24 h"
    """A sync that takes longer is stopped at Airbyte and counts as failed."""

    def __post_init__(self) -> None:
        rate(self.account_rate, what="account_rate")
        rate(self.api_rate, what="api_rate")
        for name in ("min_interval", "poll", "longest"):
            seconds(getattr(self, name), what=name, minimum=1)

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None) -> Self:
        """The figures with what the environment says: `SYNCS_MIN_INTERVAL`, `SYNCS_ACCOUNT_RATE` and so on."""
        environ = os.environ if environ is None else environ
        said = {figure.name: environ.get(f"SYNCS_{figure.name.upper()}") for figure in fields(cls)}
        return cls(**{name: _whole(name, value) for name, value in said.items() if value})  # type: ignore[arg-type]

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


def _whole(name: str, value: str) -> str | int:
    """A figure that counts is a whole number; the others are words."""
    if name not in {"api_burst", "api_concurrency"}:
        return value
    if not value.isdigit():
        raise InvalidValue(f"SYNCS_{name.upper()}", value, "is not a whole number")
    return int(value)
