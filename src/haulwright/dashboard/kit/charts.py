"""Charts as numbers: where each bar stands. Templates draw them as SVG, which needs no script, beside a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from haulwright.clock import SECOND
from haulwright.operations.times import instant_of, time_of_day

HEIGHT: Final = 100.0
STEP_WIDTH: Final = 10
LEAST_HEIGHT: Final = 1.5
"""One among thousands is to be seen."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One rectangle of a chart."""

    name: str
    count: int
    at: str
    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class StackedBars:
    """Counts over time, those of one stretch one on the other."""

    width: int
    total: int
    most: int
    """The highest stack."""
    bars: list[Bar]
    rows: list[tuple[str, list[int]]]
    """The same as a table: from when, and the counts; stretches without any are left out."""


def stacked(series: Mapping[str, Sequence[int]], since: str, step_seconds: int) -> StackedBars:
    """The bars of several series of counts, the first one at the bottom."""
    columns = list(zip(*series.values(), strict=True))
    start, step = instant_of(since, what="time"), step_seconds * SECOND
    most = max((sum(counts) for counts in columns), default=0)
    bars: list[Bar] = []
    rows: list[tuple[str, list[int]]] = []
    for index, counts in enumerate(columns):
        if not sum(counts):
            continue
        at, y = f"{time_of_day(start + index * step)[:5]} UTC", HEIGHT
        rows.append((at, list(counts)))
        for name, count in zip(series, counts, strict=True):
            if count:
                height = min(max(HEIGHT * count / most, LEAST_HEIGHT), y)
                y -= height
                bars.append(Bar(name, count, at, index * STEP_WIDTH + 1, round(y, 2), round(height, 2)))
    return StackedBars(len(columns) * STEP_WIDTH, sum(map(sum, columns)), most, bars, rows)
