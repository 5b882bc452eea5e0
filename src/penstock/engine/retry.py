"""Retries: how often a job may run and how long it waits in between. Pure arithmetic: chance is an argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final

from penstock.engine.words import Duration, us
from penstock.errors import InvalidValue

LARGEST_ATTEMPTS: Final = 1_000
LARGEST_FACTOR: Final = 100.0
LARGEST_FIRST_EXPONENT: Final = 100
HINT_CAP_US: Final = 3_600_000_000
"""The longest wait that another server can talk us into: one hour."""

Chance = Random | Callable[[], float]
"""Where jitter comes from: a generator, or anything that returns numbers from 0 up to 1."""


@dataclass(frozen=True)
class Retry:
    """A retry policy. After attempt n fails the job waits `base * factor ** (n - 1 + first_exponent)`."""

    attempts: int = 5
    """Executions in total, the first one included."""
    base: Duration = field(default="30 s", compare=False)
    """The first delay, while `first_exponent` is 0."""
    factor: float = 2.0
    """What each further delay is multiplied by."""
    cap: Duration = field(default="1 h", compare=False)
    """No delay is longer than this, jitter included."""
    jitter: float = 0.25
    """The part of a delay that chance may add or take away."""
    first_exponent: int = 0
    """The exponent of the first delay: 1 starts at `base * factor`."""
    base_us: int = field(init=False, repr=False)
    """`base`, parsed."""
    cap_us: int = field(init=False, repr=False)
    """`cap`, parsed."""

    def __post_init__(self) -> None:
        """Parse the words once and refuse a policy that makes no sense."""
        _require_whole("attempts", self.attempts, 1, LARGEST_ATTEMPTS)
        _require_whole("first_exponent", self.first_exponent, 0, LARGEST_FIRST_EXPONENT)
        _require_between("factor", self.factor, 1, LARGEST_FACTOR)
        _require_between("jitter", self.jitter, 0, 1)
        object.__setattr__(self, "base_us", us(self.base, what="Retry.base"))
        object.__setattr__(self, "cap_us", us(self.cap, what="Retry.cap"))
        if self.cap_us < self.base_us:
            raise InvalidValue("Retry.cap", self.cap, f"is less than the base, {self.base!r}")

    def exhausted(self, attempts: int) -> bool:
        """Tell whether a job that ran so often may not run again."""
        return attempts >= self.attempts

    def delay_us(self, attempt: int, rng: Chance) -> int:
        """Return how long to wait after this attempt failed: the value, capped, jittered both ways, clamped."""
        if attempt < 1:
            raise InvalidValue("attempt", attempt, "is not an attempt", hint="Attempts count from 1.")
        value = self._value_us(attempt - 1 + self.first_exponent)
        swing = self.jitter * (2 * _draw(rng) - 1)
        return min(self.cap_us, max(0, round(value * (1 + swing))))

    def after_hint(self, seconds: float, rng: Chance) -> int:
        """Return the wait in microseconds where a server named it: jittered upwards only, at most an hour.

        A server may send anything: what is negative or no number counts as no wait.
        """
        asked = min(seconds * 1_000_000, HINT_CAP_US) if seconds > 0 else 0
        return min(HINT_CAP_US, math.ceil(asked * (1 + self.jitter * _draw(rng))))

    def _value_us(self, exponent: int) -> float:
        """Return the delay before jitter. A power beyond the floats is beyond every cap as well."""
        try:
            return min(float(self.cap_us), self.base_us * float(self.factor) ** exponent)
        except OverflowError:
            return float(self.cap_us) if self.base_us else 0.0


def _draw(rng: Chance) -> float:
    return rng.random() if isinstance(rng, Random) else rng()


def _require_whole(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidValue(f"Retry.{name}", value, f"is not a whole number from {low} to {high}")


def _require_between(name: str, value: object, low: float, high: float) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidValue(f"Retry.{name}", value, f"is not a number from {low:g} to {high:g}")


BRANDS: Final = Retry(3, base="30 s", cap="1 h", jitter=0, first_exponent=1)
"""Compiling a brand: 60 s, 120 s, dead."""
SYNCS: Final = Retry(6, base="60 s", cap="3600 s", jitter=0.25)
"""A connector's sync: 60 s doubling, give or take a quarter; five retries."""
PRICES: Final = Retry(5, base="1 min", cap="24 h", jitter=0)
"""Scraping a price: 1 min doubling."""
DOCUMENTS: Final = Retry(5)
"""Fetching a document."""
BRIEF: Final = Retry(3)
"""One slot of the daily brief; 1 attempt would be its at-most-once rule."""
