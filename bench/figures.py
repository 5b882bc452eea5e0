"""What was measured: series of runs, and what became of those that failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

JOBS_PER_SECOND = "jobs/s"
ENTRIES_PER_SECOND = "entries/s"
ITEMS_PER_SECOND = "items/s"
PAGES_PER_SECOND = "pages/s"
ARTICLES_PER_SECOND = "articles/s"
MILLISECONDS = "ms"
SECONDS = "s"
MEBIBYTES = "MiB"
PERCENT_OF_A_CORE = "% of a core"
SHOWN_PERCENTILES = (50, 99)


@dataclass(frozen=True, slots=True)
class Series:
    """The runs of one contender in one scenario."""

    scenario: str
    name: str
    unit: str
    runs: tuple[float, ...]
    setting: Mapping[str, Any] = field(default_factory=dict)
    jobs: int = 0
    """Jobs, or samples, in each run."""
    failure: str = ""
    """Why there is no run, or not as many as planned."""

    @property
    def median(self) -> float:
        """The figure that counts."""
        return median(self.runs)

    @property
    def key(self) -> str:
        """How targets refer to it."""
        return f"{self.scenario}/{self.name}"


def by_key(series: Sequence[Series]) -> dict[str, Series]:
    """The series that have a figure, under the names that targets use."""
    return {one.key: one for one in series if one.runs}


def percentiles(scenario: str, unit: str, rounds: Sequence[Sequence[float]]) -> list[Series]:
    """A series for each percentile that is shown: its value in each round of samples."""
    samples = min((len(taken) for taken in rounds), default=0)
    return [
        Series(scenario, f"p{percent}", unit, tuple(percentile(taken, percent) for taken in rounds), jobs=samples)
        for percent in SHOWN_PERCENTILES
    ]


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that so many percent of them stay below."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def as_json(series: Sequence[Series]) -> list[dict[str, Any]]:
    """For programs."""
    return [asdict(one) | {"median": one.median if one.runs else None} for one in series]
