"""Contenders measured in turn, round by round, so that a slow minute of the machine meets all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from bench.contenders import Contender
from bench.figures import JOBS_PER_SECOND, Series
from bench.lane import Bench, Lane, lane
from bench.processes import BenchError, BudgetSpent

Measure = Callable[[Lane], float]


def full_drain(one: Lane) -> float:
    """Fill an empty database and drain it."""
    one.prepare(one.jobs)
    return one.drain(one.jobs)


@dataclass(slots=True)
class _Entry:
    contender: Contender
    lane: Lane | None = None
    runs: list[float] = field(default_factory=list)
    failure: str = ""

    def series(self, scenario: str) -> Series:
        setting = dict(self.lane.setting) if self.lane else {}
        setting.pop("until_empty", None)
        jobs = self.lane.jobs if self.lane else 0
        return Series(scenario, self.contender.name, JOBS_PER_SECOND, tuple(self.runs), setting, jobs, self.failure)


def pair(bench: Bench, scenario: str, one: Contender, other: Contender, measure: Measure = full_drain) -> list[Series]:
    """A B A B: two of ours, for more rounds."""
    return alternate(bench, scenario, [one, other], measure, bench.plan.pair_rounds)


def alternate(
    bench: Bench, scenario: str, contenders: Sequence[Contender], measure: Measure = full_drain, rounds: int = 0
) -> list[Series]:
    """A B C A B C: one that fails is left out of the rest and says why; a spent budget ends all of them."""
    rounds = rounds or bench.plan.rounds
    entries = [_Entry(contender) for contender in contenders]
    with ExitStack() as stack:
        try:
            for entry in entries:
                _enter(bench, entry, stack)
            for _ in range(rounds):
                for entry in entries:
                    _measure(bench, scenario, entry, measure)
        except BudgetSpent as spent:
            for entry in entries:
                if len(entry.runs) < rounds:
                    entry.failure = entry.failure or str(spent)
    return [entry.series(scenario) for entry in entries]


def _enter(bench: Bench, entry: _Entry, stack: ExitStack) -> None:
    try:
        entry.lane = stack.enter_context(lane(bench, entry.contender))
    except BenchError as error:
        entry.failure = str(error)


def _measure(bench: Bench, scenario: str, entry: _Entry, measure: Measure) -> None:
    if entry.lane is None or entry.failure:
        return
    try:
        entry.runs.append(measure(entry.lane))
    except BenchError as error:
        entry.failure = str(error)
        bench.say(f"  {scenario}: {entry.contender.name}: {error}")
    else:
        bench.say(f"  {scenario}: {entry.contender.name}: {entry.runs[-1]:,.0f} {JOBS_PER_SECOND}")
