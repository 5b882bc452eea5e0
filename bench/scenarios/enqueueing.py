"""What an enqueue costs: next to a bare insert, next to a bare bulk load, and while workers are busy."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from bench import bare, filling
from bench.contenders import haulwright
from bench.figures import JOBS_PER_SECOND, MILLISECONDS, Series, percentiles
from bench.lane import Bench, Lane, lane
from bench.payload import item, items
from bench.processes import BenchError
from bench.workload import app, noop, reset

HAULWRIGHT = "Haulwright"
BARE = "bare insert, autocommit"
BARE_TRANSACTION = "bare insert, begin and commit"
BARE_BULK = "bare COPY or executemany"
GAP_SECONDS = 0.005
"""Between two enqueues while workers are busy."""
FEWEST_SAMPLES = 20

Way = Callable[[str, int], float]
"""Writes so many jobs to the database at an address, and returns the seconds it took."""


def single(bench: Bench, database: str) -> list[Series]:
    """One job an enqueue, one after the other."""
    ways = {HAULWRIGHT: _one_by_one, BARE: bare.one_by_one, BARE_TRANSACTION: bare.in_transactions}
    return _alternate(bench, f"enqueue {database}", bench.plan.single_rounds, bench.plan.single_enqueues, ways)


def bulk(bench: Bench, database: str) -> list[Series]:
    """Many jobs at once, from the arguments of their calls to the answer that they are on disk."""
    ways = {HAULWRIGHT: _all_at_once, BARE_BULK: bare.bulk}
    return _alternate(bench, f"bulk {database}", bench.plan.bulk_rounds, bench.plan.bulk_enqueues, ways)


def loaded(bench: Bench, database: str) -> list[Series]:
    """One job at a time while two workers drain a backlog."""
    busy = haulwright(database, name="Haulwright, two busy workers", workers=2)
    rounds = []
    with lane(bench, busy) as one:
        for _ in range(bench.plan.rounds):
            one.prepare(1)  # another file on SQLite, which the app has to open anew
            filling.backlog(one.address, bench.plan.loaded_backlog - 1)
            with app.moved_to(one.address), one.working(one.setting) as _:
                rounds.append(while_busy(one, bench.plan.loaded_backlog, lambda: noop.enqueue(item(0))))
    return percentiles(f"loaded {database}", MILLISECONDS, rounds)


def _alternate(bench: Bench, scenario: str, rounds: int, count: int, ways: Mapping[str, Way]) -> list[Series]:
    noun, database = scenario.split()
    address = bench.site.address(database, f"{noun}_{database}")
    runs: dict[str, list[float]] = {name: [] for name in ways}
    with app.moved_to(address):
        for _ in range(rounds):
            for name, way in ways.items():
                reset()
                noop.enqueue(item(0))
                bench.site.settle_down()
                runs[name].append(count / way(address, count))
                bench.say(f"  {scenario}: {name}: {runs[name][-1]:,.0f} {JOBS_PER_SECOND}")
    return [Series(scenario, name, JOBS_PER_SECOND, tuple(taken), jobs=count) for name, taken in runs.items()]


def _one_by_one(_address: str, count: int) -> float:
    for number in range(bare.WARM_UP):
        noop.enqueue(item(number))
    arguments = items(count)
    began = time.perf_counter()
    for argument in arguments:
        noop.enqueue(argument)
    return time.perf_counter() - began


def _all_at_once(_address: str, count: int) -> float:
    arguments = items(count)
    began = time.perf_counter()
    app.enqueue_many(noop.call(argument) for argument in arguments)
    return time.perf_counter() - began


def while_busy(one: Lane, backlog: int, act: Callable[[], object]) -> list[float]:
    """Milliseconds of each act, from the first run of the workers until little of the backlog is left."""
    board = one.bench.board
    until = time.monotonic() + 30
    while not board.count() and time.monotonic() < until:
        time.sleep(GAP_SECONDS)
    taken = []
    while 0 < board.count() < backlog * 0.95:
        began = time.perf_counter()
        act()
        taken.append((time.perf_counter() - began) * 1000)
        time.sleep(GAP_SECONDS)
    if len(taken) < FEWEST_SAMPLES:
        raise BenchError(f"the backlog was gone after {len(taken)} of them")
    return taken
