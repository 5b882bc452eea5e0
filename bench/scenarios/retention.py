"""Whether retention keeps up: rows that it removes beside jobs that finish, and what that costs the drain.

Everything is overdue the moment it has finished, and a backlog of overdue rows is there already, so retention never
runs out of work: what it removes during the drain is what it can. Its rounds begin at once, where in a real worker ten
minutes lie between them.
"""

from __future__ import annotations

from bench import filling
from bench.contenders import haulwright
from bench.contest import pair
from bench.figures import JOBS_PER_SECOND, Series
from bench.lane import Bench, Lane

WITHOUT = "Haulwright, without retention"
BESIDE = "Haulwright, beside retention"
PRUNED = "rows pruned beside it"
OVERDUE_PER_JOB = 4
"""Rows that are there for each job: more than retention can remove meanwhile."""
KEPT_SECONDS = 0.001


def retention(bench: Bench, database: str) -> list[Series]:
    """The same drain over the same history, with retention and without."""
    scenario = f"retention {database}"
    pruned: list[float] = []

    def measure(one: Lane) -> float:
        finished = _prepare(one)
        if one.contender.name == WITHOUT:
            return _drain(one, {})
        rate = _drain(one, {"keep_seconds": KEPT_SECONDS})
        removed = finished + one.jobs - int(one.desk.call("history_size"))
        pruned.append(removed * rate / one.jobs)
        bench.say(f"  {scenario}: {PRUNED}: {pruned[-1]:,.0f} rows/s")
        return rate

    contenders = [haulwright(database, name=name) for name in (WITHOUT, BESIDE)]
    try:
        found = pair(bench, scenario, contenders[0], contenders[1], measure)
    finally:
        for contender in contenders:
            bench.site.drop(database, contender.place)
    return [*found, Series(scenario, PRUNED, JOBS_PER_SECOND, tuple(pruned), jobs=found[-1].jobs)]


def _prepare(one: Lane) -> int:
    """Jobs to drain, and a history; returns how many rows that has."""
    one.prepare(1)
    one.drain(1)
    overdue = OVERDUE_PER_JOB * one.jobs
    filling.history(one.address, overdue)
    one.desk.call("fill", one.jobs)
    return 1 + overdue


def _drain(one: Lane, changes: dict[str, float]) -> float:
    """By the first task body and the last completion: when the first job was claimed is pruned with it."""
    with one.working({**one.setting, **changes}) as workers:
        ended = one.wait(one.jobs, workers)
    return one.jobs / (ended - (one.bench.board.first() or ended))
