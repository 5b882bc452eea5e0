"""Workers before one source, as an operator starts them; some of them die."""

from __future__ import annotations

import time
from dataclasses import dataclass

from proof.faults.crew import APP, Crew
from proof.support.site import Site


@dataclass(frozen=True, slots=True)
class Death:
    """A worker that was killed."""

    pid: int
    at: float


class Fleet(Crew):
    """The workers of one proof, with their kills written down."""

    def __init__(self, site: Site, **options: str) -> None:
        super().__init__(site, **options)
        self._command[self._command.index(APP)] = "proof.sources.app:app"
        self._environment["CACHE_ENABLED"] = "false"  # a kept answer would ask nobody
        self.deaths: list[Death] = []

    def replace_oldest(self) -> None:
        """Kill the worker that is here for longest with -9, and start another."""
        oldest = next(member for member in self.members if member.process.poll() is None)
        oldest.process.kill()
        oldest.process.wait()
        self.deaths.append(Death(oldest.pid, time.time()))
        self.launch()
