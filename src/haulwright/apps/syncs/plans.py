"""Plans: how often the connections of a tenant may sync. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from haulwright.clock import SECOND
from haulwright.engine.durations import Duration, spell, us
from haulwright.errors import InvalidValue

HOUR_US: Final = 3_600 * SECOND
LONGEST_CADENCE_SECONDS: Final = 31 * 86_400


@dataclass(frozen=True, slots=True)
class Plan:
    """What a tenant pays for."""

    name: str
    floor_us: int
    """The shortest time from one sync of a connection to the next."""
    is_fixed: bool = False
    """Nobody chooses another."""

    def cadence_us(self, cadence: Duration | None) -> int | None:
        """The cadence that was asked for, in microseconds; refused where the plan does not allow it."""
        if cadence is None:
            return None
        length = us(cadence, what="cadence", maximum=LONGEST_CADENCE_SECONDS)
        floor = spell(self.floor_us / SECOND)
        if self.is_fixed and length != self.floor_us:
            hint = f"Leave the cadence out, or take another plan: {', '.join(PLANS)}."
            why = f"cannot be chosen on the plan {self.name}: it is {floor}"
            raise InvalidValue("cadence", cadence, why, hint=hint)
        if length < self.floor_us:
            hint = f"Choose {floor} or more, or take another plan."
            raise InvalidValue("cadence", cadence, f"is shorter than the {floor} of the plan {self.name}", hint=hint)
        return length

    def interval_us(self, cadence_us: int | None) -> int:
        """What is in force for a connection that asked for this cadence, perhaps under another plan."""
        if self.is_fixed or cadence_us is None:
            return self.floor_us
        return max(cadence_us, self.floor_us)


PLANS: Final = {
    plan.name: plan
    for plan in (
        Plan("free", 24 * HOUR_US, is_fixed=True),
        Plan("growth", 6 * HOUR_US),
        Plan("enterprise", HOUR_US),
    )
}
FREE: Final = PLANS["free"]
"""The plan of a tenant that nobody gave one."""


def plan_named(name: str) -> Plan:
    """The plan of this name; another is refused."""
    if name not in PLANS:
        raise InvalidValue("plan", name, "is no plan", hint=f"Known are: {', '.join(PLANS)}.")
    return PLANS[name]
