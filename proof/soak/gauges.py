"""Gauges: what processes and their database take of the machine, again and again, and whether it grows."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import linear_regression, mean

from proof.chaos.fleet import Fleet
from proof.faults.server import children_of

WARM_UP = 0.3
"""The first part of the samples, which is not judged: caches fill, pools grow to their size."""
FEWEST_SAMPLES = 5
HOUR_SECONDS = 3600.0


@dataclass(frozen=True)
class Tolerance:
    """How much something may grow over the judged time: what the noise of a sample is, and no more."""

    share: float
    """Of its mean."""
    absolute: float

    def allows(self, growth: float, average: float) -> bool:
        """Whether that is flat."""
        return growth <= self.share * average + self.absolute


TOLERANCES = {
    "memory MiB": Tolerance(0.08, 3.0),
    "handles": Tolerance(0.0, 4.0),
    "threads": Tolerance(0.0, 3.0),
    "children": Tolerance(0.0, 2.0),
    "connections": Tolerance(0.0, 6.0),
    "log MiB": Tolerance(0.25, 24.0),
}
"""The log of PostgreSQL comes in files of 16 MiB, of which one more may be there."""


@dataclass(frozen=True)
class Trend:
    """How one figure went, once everything was warm."""

    gauge: str
    whose: str
    figures: list[float]
    seconds: list[float]

    @property
    def per_hour(self) -> float:
        """The slope of a straight line through all of them."""
        return linear_regression(self.seconds, self.figures).slope * HOUR_SECONDS

    @property
    def growth(self) -> float:
        """What that makes of the time that was judged."""
        return self.per_hour * (self.seconds[-1] - self.seconds[0]) / HOUR_SECONDS

    @property
    def is_flat(self) -> bool:
        """Whether it grew by no more than noise."""
        return TOLERANCES[self.gauge].allows(self.growth, mean(self.figures))

    def __str__(self) -> str:
        first, last = self.figures[0], self.figures[-1]
        span = f"{min(self.figures):.1f} to {max(self.figures):.1f}"
        return f"{self.whose} {self.gauge}: {first:.1f} first, {last:.1f} last, {span}, {self.per_hour:+.2f} an hour"


@dataclass
class Gauges:
    """The samples of one soak."""

    measure: Callable[[], dict[str, float]]
    """Figures of the database itself."""
    interval_seconds: float
    _samples: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    _taken: float = float("-inf")

    def watch(self, fleet: Fleet) -> None:
        """Take a sample, if it is time for one: of the workers that are spared, of a client, and of the database."""
        now = time.monotonic()
        if now - self._taken < self.interval_seconds:
            return
        self._taken = now
        watched = {f"worker {place}": member.pid for place, member in enumerate(fleet.members[: fleet.spared])}
        watched["client"] = fleet.clients[0].pid
        for whose, pid in watched.items():
            self._add(now, whose, figures_of(pid))
        self._add(now, "database", self.measure())

    def trends(self) -> Iterator[Trend]:
        """What became of each figure after the warm-up."""
        for (whose, gauge), samples in self._samples.items():
            judged = samples[int(len(samples) * WARM_UP) :]
            if len(judged) >= FEWEST_SAMPLES:
                yield Trend(gauge, whose, [figure for _, figure in judged], [at for at, _ in judged])

    def _add(self, now: float, whose: str, figures: dict[str, float]) -> None:
        for gauge, figure in figures.items():
            self._samples[whose, gauge].append((now, figure))


def figures_of(pid: int) -> dict[str, float]:
    """What a process takes of the machine, as Linux shows it; nothing where it is gone."""
    home = Path(f"/proc/{pid}")
    try:
        lines = (home / "status").read_text("utf-8").splitlines()
        handles = len(list((home / "fd").iterdir()))
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        memory, threads = int(status["VmRSS"].split()[0]), int(status["Threads"])
    except (OSError, KeyError):
        return {}
    children = len(children_of(pid))
    return {"memory MiB": memory / 1024, "handles": handles, "threads": threads, "children": children}
