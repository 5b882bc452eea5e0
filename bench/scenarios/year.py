"""A year of harvest, and what it takes to let most of it go beside somebody who enqueues and claims.

The year is made inside the database by `insert ... select`, a day at a time by a clock that is moved along, so that
partitions get their ends as they would have had them, had nothing been removed. One job in so many is a dead letter,
which is kept longer. Then retention runs once, in a process of its own, as the upkeep of a worker would; the same
client enqueues, claims and settles one job after the other before it and beside it.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from multiprocessing.connection import Connection as Pipe

import psycopg

from bench.figures import MILLISECONDS, SECONDS, Series
from bench.lane import Bench
from bench.payload import item
from bench.workload import app, noop, reset, work
from haulwright.clock import SECOND, SettableClock, host_now
from haulwright.engine.ids import new_id
from haulwright.engine.settlement import Finish, Settlement
from haulwright.engine.transitions import State
from haulwright.runtime.pruner import Pruner
from haulwright.settings import Settings
from haulwright.stores.connect import open_database
from haulwright.stores.postgres import partitions
from haulwright.stores.store import Store

DAYS = 364
DEAD_EVERY = 50
EVENTS_PER_JOB = 3
TENANTS = 20
RETENTION = "retention of a year"
CLAIM, CLAIM_BESIDE = "claim, p99", "claim beside retention, p99"
ENQUEUE, ENQUEUE_BESIDE = "enqueue, p99", "enqueue beside retention, p99"
_PERCENT = 0.99
_LEAST_SECONDS = 20.0
_JOBS = """
insert into haulwright_history ({columns}) select {values}
from (select * from haulwright_history where task = 'noop' limit 1) model
cross join generate_series(0, {count} - 1) as numbers (n)
cross join lateral (select {start} + numbers.n::bigint * {span} / {count} as at) made
cross join lateral (select (lpad(to_hex(made.at / 1000), 12, '0') || '7' || lpad(to_hex(numbers.n % 4096), 3, '0')
                           || '8000' || lpad(to_hex(numbers.n), 12, '0'))::uuid as id) ids"""
_EVENTS = """
insert into haulwright_events (at, tenant, name, job_id, data)
select made.at, 'tenant-' || numbers.n / {each} % {tenants},
       (array['job.queued', 'job.failed', 'job.retry'])[1 + numbers.n % {each}],
       (lpad(to_hex(made.at / 1000), 12, '0') || '70008000' || lpad(to_hex(numbers.n), 12, '0'))::uuid,
       '{{"delay_seconds": 30, "error_class": "TimeoutError", "retry_count": 1}}'
from generate_series(0, {count} - 1) as numbers (n)
cross join lateral (select {start} + numbers.n::bigint * {span} / {count} as at) made"""


def year(bench: Bench, database: str) -> list[Series]:
    """How long it takes to let go of a year, and the p99 of those who work beside it."""
    scenario, jobs = f"year {database}", bench.plan.year_jobs
    address = bench.site.address(database, "year")
    try:
        with app.moved_to(address):
            reset()
            noop.enqueue(item(0))
            work({"until_empty": True})
        _fill(bench, address, jobs)
        bench.site.settle_down()
        quiet = _work_beside(address, until=time.monotonic() + _LEAST_SECONDS)
        seconds, removed, beside = _retain(address)
    finally:
        bench.site.drop(database, "year")
    bench.say(f"  {scenario}: {seconds:,.1f} s, {removed}")
    named = {ENQUEUE: quiet[0], ENQUEUE_BESIDE: beside[0], CLAIM: quiet[1], CLAIM_BESIDE: beside[1]}
    figures = [Series(scenario, name, MILLISECONDS, (_p99(taken),), jobs=len(taken)) for name, taken in named.items()]
    for one in figures:
        bench.say(f"  {scenario}: {one.name}: {one.median:,.2f} ms of {one.jobs:,}")
    return [Series(scenario, RETENTION, SECONDS, (seconds,), jobs=jobs), *figures]


def _fill(bench: Bench, address: str, jobs: int) -> None:
    """A day after the other, each followed by the upkeep of then."""
    now, span = host_now(), 86_400 * SECOND
    began, clock = time.monotonic(), SettableClock(bench.site.folder / "year-clock")
    with closing(open_database(address, clock=clock)) as place, psycopg.connect(address, autocommit=True) as raw:
        upkeep = partitions.PostgresPartitions(place, Store(place).events)
        if bench.plan.quick:
            partitions.GROWN_BYTES = 2 * 1024**2  # type: ignore[misc] # smaller, so that there are some
        for day in range(DAYS, 0, -1):
            start = now - day * span
            _insert(raw, start, span, jobs // DAYS)
            clock.set(start + span)
            upkeep.close_grown()
        raw.execute("vacuum (analyze) haulwright_history")
        raw.execute("vacuum (analyze) haulwright_events")
        parts = {table: len(upkeep.of_table(table)) for table in partitions.KEYS}
    bench.say(f"  {jobs:,} jobs and {EVENTS_PER_JOB * jobs:,} events in {parts}: {time.monotonic() - began:.0f} s")


def _insert(raw: psycopg.Connection[tuple[object, ...]], start: int, span: int, jobs: int) -> None:
    found = raw.execute("select * from haulwright_history limit 0")
    columns = [column.name for column in found.description or ()]
    made = dict.fromkeys(("created_at", "run_at", "updated_at", "finished_at", "leased_at", "started_at"), "made.at")
    state = f"case when numbers.n % {DEAD_EVERY} = 0 then 'dead' else 'succeeded' end"
    made |= {"id": "ids.id", "job_key": "ids.id::text", "state": state, "tenant": f"'tenant-' || numbers.n % {TENANTS}"}
    values = ", ".join(made.get(column, f"model.{column}") for column in columns)
    times = {"start": start, "span": span}
    raw.execute(_JOBS.format(columns=", ".join(columns), values=values, count=jobs, **times).encode())
    count = EVENTS_PER_JOB * jobs
    raw.execute(_EVENTS.format(count=count, each=EVENTS_PER_JOB, tenants=TENANTS, **times).encode())


def _retain(address: str) -> tuple[float, dict[str, int], tuple[list[float], list[float]]]:
    """One round of retention in another process, and what a client took meanwhile."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=retain, args=(address, theirs), daemon=True)
    process.start()
    ours.recv()  # it is there, and its connections are open
    beside = _work_beside(address, until_done=ours)
    seconds, removed = ours.recv()
    process.join()
    return seconds, removed, beside


def retain(address: str, pipe: Pipe) -> None:
    """A round of retention as a worker does it, but for the breath between two steps."""
    with closing(open_database(address)) as database:
        pruner = Pruner(Store(database), Settings.load({}))
        pipe.send(None)
        began = time.monotonic()
        while (removed := pruner.prune()) is None:
            time.sleep(pruner.wait_seconds)
        pipe.send((time.monotonic() - began, removed))


def _work_beside(
    address: str, until: float = float("inf"), until_done: Pipe | None = None
) -> tuple[list[float], list[float]]:
    """One job after the other is enqueued, claimed and settled: the milliseconds of each enqueue and of each claim."""
    enqueues, claims = [], []
    worker = new_id()
    with app.moved_to(address):
        store = app.store
        while time.monotonic() < until and not (until_done and until_done.poll()):
            enqueues.append(_timed(partial(noop.enqueue, item(1))))
            began = time.perf_counter()
            leases = store.leases.claim(worker, ["default"], 1)
            claims.append((time.perf_counter() - began) * 1000)
            store.settlements.settle([Settlement(lease, Finish(State.SUCCEEDED)) for lease in leases])
    return enqueues, claims


def _timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def _p99(taken: list[float]) -> float:
    return sorted(taken)[int(len(taken) * _PERCENT)]
