"""A worker that stands by: how soon it picks up a lone job, what it costs while idle, and whether it grows."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench import filling
from bench.contenders import haulwright
from bench.figures import MEBIBYTES, MILLISECONDS, PERCENT_OF_A_CORE, Series, percentiles
from bench.lane import Bench, Lane, lane
from bench.processes import BenchError, Child
from bench.workload import app, timed

STANDING = {"concurrency": 8}
IDLE = "Haulwright worker"
MEMORY_FIRST = "after the first jobs"
MEMORY_END = "at the end"
CALM_SECONDS = 3.0
"""A worker that has just started, or just worked, looks around a little more often."""
PATIENCE_SECONDS = 30.0
MEBIBYTE = 1024 * 1024


def pickup(bench: Bench, database: str) -> list[Series]:
    """Lone jobs, one after another, to a worker that has nothing else to do."""
    gaps = random.Random(7)  # noqa: S311 - the same gaps in every run
    rounds = []
    with _standing(bench, database):
        for _ in range(bench.plan.rounds):
            handles = []
            for _ in range(bench.plan.pickups):
                time.sleep(gaps.uniform(0.03, 0.07))
                handles.append(timed.enqueue(time.monotonic_ns()))
            rounds.append([handle.result(PATIENCE_SECONDS) / 1e6 for handle in handles])
    return percentiles(f"pickup {database}", MILLISECONDS, rounds)


def idle(bench: Bench, database: str) -> list[Series]:
    """The processor time of a worker that has nothing to do."""
    runs = []
    with _standing(bench, database) as worker:
        time.sleep(CALM_SECONDS)
        for _ in range(bench.plan.rounds):
            before, began = worker.call("cpu"), time.monotonic()
            time.sleep(bench.plan.idle_seconds)
            runs.append(100 * (worker.call("cpu") - before) / (time.monotonic() - began))
    return [Series(f"idle {database}", IDLE, PERCENT_OF_A_CORE, tuple(runs), STANDING)]


def memory(bench: Bench, database: str) -> list[Series]:
    """What one worker has in memory early in a long drain, and at its end."""
    plan, scenario = bench.plan, f"memory {database}"
    with lane(bench, haulwright(database)) as one:
        one.prepare(1)
        filling.backlog(one.address, plan.memory_jobs - 1)
        setting = {**one.setting, "until_empty": False}
        with one.working(setting) as workers:
            first = _resident_after(one, workers[0], plan.memory_first)
            one.wait(plan.memory_jobs, workers)
            last = workers[0].call("rss") / MEBIBYTE
    sizes = {MEMORY_FIRST: (first, plan.memory_first), MEMORY_END: (last, plan.memory_jobs)}
    bench.say(f"  {scenario}: {first:.1f} MiB, then {last:.1f} MiB")
    return [Series(scenario, name, MEBIBYTES, (size,), setting, jobs) for name, (size, jobs) in sizes.items()]


@contextmanager
def _standing(bench: Bench, database: str) -> Iterator[Child]:
    """A worker that has proved to be there, and whose database this process enqueues to."""
    with lane(bench, haulwright(database)) as one, app.moved_to(one.address):
        one.desk.call("reset")
        with one.working(STANDING) as workers:
            timed.enqueue(time.monotonic_ns()).result(PATIENCE_SECONDS)
            yield workers[0]


def _resident_after(one: Lane, worker: Child, jobs: int) -> float:
    until = time.monotonic() + PATIENCE_SECONDS
    while one.bench.board.count() < jobs:
        if worker.ended or time.monotonic() > until:
            raise BenchError(f"{jobs} jobs did not run within {PATIENCE_SECONDS:g} s")
        time.sleep(0.002)
    return float(worker.call("rss")) / MEBIBYTE
