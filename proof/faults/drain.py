"""A drain that is struck by faults: two workers, a mixed load, and blows that fall while it is under way."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from proof.faults.aftermath import Aftermath, aftermath
from proof.faults.crew import Crew, has_finished, is_drained, until
from proof.faults.hazards import GO, Hazards
from proof.support.company import Company
from proof.support.workload import Workload

WORKERS = 2
HELD = 2
"""Jobs that are in hand from the first blow to the last, with leases that would run out during a long fault."""


@dataclass(frozen=True)
class Drained:
    """How a struck drain ended."""

    left: Aftermath
    crew: Crew
    seconds: float
    company: Company
    """What became of commits that shared a transaction."""

    def troubles(self) -> dict[str, int]:
        """Which parts of the workers said that the database was in trouble, and how often."""
        said = [line["message"].partition(":")[0] for line in self.crew.told("the database is in trouble")]
        return {part: said.count(part) for part in sorted(set(said))}

    def __str__(self) -> str:
        told = ", ".join(f"{part} {times}" for part, times in self.troubles().items())
        return f"{self.left}; {self.seconds:.1f} s; {self.company}; troubles told: {told or 'none'}"


def mixed_load(work: Workload, hazards: Hazards, jobs: int) -> None:
    """Plain jobs, jobs with an effect and a commit, with a commit alone, and jobs that fail once, all mixed."""
    tenth = max(1, jobs // 10 // 10)
    for _ in range(10):
        work.enqueue(work.note, range(tenth * 6))
        work.enqueue(work.settling, range(tenth))
        work.enqueue(work.harvesting, range(tenth * 2))
        work.enqueue(hazards.faltering, range(tenth))


def drain_under(work: Workload, crew: Crew, strike: Callable[[], object], *, jobs: int, strikes: int) -> Drained:
    """Drain a mixed load and strike at even steps of it; some jobs are in hand from the beginning to the end."""
    hazards, store, began = Hazards(work), work.app.store, time.monotonic()
    work.enqueue(hazards.brief, range(HELD))
    mixed_load(work, hazards, jobs)
    crew.start(WORKERS)
    for number in range(1, strikes + 1):
        goal = jobs * number // (strikes + 1)
        until(f"{goal} jobs are finished", partial(has_finished, store, goal))
        strike()
    work.site.raise_flag(GO)
    until("all jobs are finished", lambda: is_drained(store))
    crew.end_well()
    return Drained(aftermath(work, crew), crew, time.monotonic() - began, Company.read(work.diary.read()))
