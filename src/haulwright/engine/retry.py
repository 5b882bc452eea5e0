"""Retries: how often a job may run and how long it waits in between. Pure arithmetic: chance is an argument."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final

from haulwright.engine.durations import Duration, us
from haulwright.engine.unknown_options import check_init_options
from haulwright.errors import InvalidValue

LARGEST_ATTEMPTS: Final = 1_000
LARGEST_FACTOR: Final = 100.0
LARGEST_FIRST_EXPONENT: Final = 100

Chance = Random | Callable[[], float]
"""Where jitter comes from: a generator, or anything that returns numbers from 0 up to 1."""


@check_init_options
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

    def delay_us(self, attempt: int, rng: Chance) -> int:
        """Return how long to wait after this attempt failed: the value, capped, jittered both ways, clamped."""
        if attempt < 1:
            raise InvalidValue("attempt", attempt, "is not an attempt", hint="Attempts count from 1.")
        value = self._value_us(attempt - 1 + self.first_exponent)
        swing = self.jitter * (2 * _draw(rng) - 1)
        return min(self.cap_us, max(0, round(value * (1 + swing))))

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
