"""What the demo came to: the checks of its acts and of the engine, as a table and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from haulwright.application.scenario import Check, World
from haulwright.cli.kit.output import Table
from haulwright.engine.transitions import State

LOST = "jobs: leases of the killed worker taken back"


@dataclass(frozen=True, slots=True)
class DemoSummary:
    """Everything that was checked."""

    checks: Sequence[Check]
    held_when_killed: int
    seconds: float

    @property
    def is_sound(self) -> bool:
        """Whether everything is as it must be."""
        return all(check.good for check in self.checks)

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "sound": self.is_sound,
            "held_when_killed": self.held_when_killed,
            "seconds": round(self.seconds, 1),
            "checks": [{"what": check.what, "found": check.value, "good": check.good} for check in self.checks],
        }

    def table(self) -> Table:
        """For people."""
        rows = [(check.what, check.value, "ok" if check.good else "PROBLEM") for check in self.checks]
        return Table(("what", "found", "verdict"), rows)


def engine_checks(world: World, held: int) -> list[Check]:
    """What must be true of the jobs themselves."""
    jobs = world.jobs()
    over = sum(job.state in {State.SUCCEEDED, State.SKIPPED} for job in jobs)
    losses = sum(job.losses for job in jobs)
    keys = {job.job_key for job in jobs}
    effects = [row for key in keys for row in world.app.store.effects.of_job(world.tenant, key) if row.kind == "effect"]
    done = sum(row.state == "done" for row in effects)
    return [
        Check("jobs: finished, none lost and none dead", f"{over} of {len(jobs)}", over == len(jobs)),
        Check(LOST, f"{losses} of {held}", losses == held),
        Check("jobs: effects on the ledger, none left open", f"{done} of {len(effects)}", done == len(effects)),
    ]
