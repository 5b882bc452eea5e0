"""Whether the speed stays: with a large history, with a large backlog, and while somebody's transaction stays open."""

from __future__ import annotations

import time

import psycopg

from bench import filling
from bench.contenders import haulwright
from bench.contest import full_drain, pair
from bench.figures import JOBS_PER_SECOND, Series
from bench.lane import Bench, Lane, lane

HISTORY = "Haulwright, large history"
BACKLOG = "Haulwright, large backlog"
FIRST = "Haulwright, first part"
LAST = "Haulwright, last part"


def history(bench: Bench, database: str) -> list[Series]:
    """An empty database against one with many finished jobs."""

    def measure(one: Lane) -> float:
        if one.contender.name != HISTORY:
            return full_drain(one)
        if "made" not in state:
            one.prepare(1)
            one.drain(1)
            filling.history(one.address, bench.plan.history)
            state.add("made")
        one.desk.call("fill", one.jobs)
        return one.drain(one.jobs)

    state: set[str] = set()
    large = haulwright(database, name=HISTORY)
    try:
        return pair(bench, f"history {database}", haulwright(database), large, measure)
    finally:
        bench.site.drop(database, large.place)


def backlog(bench: Bench, database: str) -> list[Series]:
    """An empty database against one with many due jobs, from which as many are drained each time."""

    def measure(one: Lane) -> float:
        if one.contender.name != BACKLOG:
            return full_drain(one)
        if "made" not in state:
            one.prepare(1)
            filling.backlog(one.address, bench.plan.backlog)
            state.add("made")
        return one.drain(one.jobs, {**one.setting, "max_jobs": one.jobs})

    state: set[str] = set()
    large = haulwright(database, name=BACKLOG)
    try:
        return pair(bench, f"backlog {database}", haulwright(database), large, measure)
    finally:
        bench.site.drop(database, large.place)


def snapshot(bench: Bench, database: str) -> list[Series]:
    """The beginning of a long drain against its end, while another client's snapshot holds back all cleaning up."""
    plan, scenario = bench.plan, f"snapshot {database}"
    firsts, lasts = [], []
    with lane(bench, haulwright(database)) as one:
        for _ in range(plan.rounds):
            one.prepare(1)
            filling.backlog(one.address, plan.snapshot_jobs - 1)
            first, last = _watched(one, plan.snapshot_jobs, plan.snapshot_part)
            bench.say(f"  {scenario}: first {first:,.0f}, last {last:,.0f} {JOBS_PER_SECOND}")
            firsts.append(first)
            lasts.append(last)
    return [
        Series(scenario, name, JOBS_PER_SECOND, tuple(runs), dict(one.setting), plan.snapshot_part)
        for name, runs in ((FIRST, firsts), (LAST, lasts))
    ]


def _watched(one: Lane, jobs: int, part: int) -> tuple[float, float]:
    """Drain with a snapshot held open, and return the speed of the first and of the last part."""
    since = time.time()
    with psycopg.connect(one.address) as other:
        other.execute("set transaction isolation level repeatable read")
        other.execute("select count(*) from haulwright_jobs")
        one.drain(jobs)
        began = one.began(since)
        first, last, end = (float(one.desk.call("finished", number)) for number in (part, jobs - part, jobs))
    return part / (first - began), part / (end - last)
