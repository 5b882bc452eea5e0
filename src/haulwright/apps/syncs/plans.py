"""Plans: how often the connections of a tenant may sync. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from haulwright.clock import SECOND
from haulwright.engine.durations import Duration, spell, us
from haulwright.errors import InvalidValue

HOUR_US: Final = 3_600 * SECOND
FREE: Final = "free"
"""The plan of a tenant that nobody gave one."""
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
            hint = "Leave the cadence out, or take another plan: haulwright sync plan."
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


def plans(*, free: Duration = "24 h", growth: Duration = "6 h", enterprise: Duration = "1 h") -> dict[str, Plan]:
    """The plans by their names, with the shortest time that each allows."""

    def floor_us(name: str, floor: Duration) -> int:
        return us(floor, what=f"syncs_plan_{name}", minimum=1, maximum=LONGEST_CADENCE_SECONDS)

    return {
        FREE: Plan(FREE, floor_us(FREE, free), is_fixed=True),
        "growth": Plan("growth", floor_us("growth", growth)),
        "enterprise": Plan("enterprise", floor_us("enterprise", enterprise)),
    }


PLANS: Final = plans()
"""The plans as the document has them."""


def plan_named(name: str, known: Mapping[str, Plan] = PLANS) -> Plan:
    """The plan of this name; another is refused."""
    if name not in known:
        raise InvalidValue("plan", name, "is no plan", hint=f"Known are: {', '.join(known)}.")
    return known[name]
