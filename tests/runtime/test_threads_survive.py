"""No part of a worker dies of an exception: no job is lost, none runs twice, the log has one line and no traceback."""

from __future__ import annotations

import asyncio
import inspect
import logging
import random
import sys
import threading
from collections import Counter

import pytest

from haulwright import Observer, Snooze
from haulwright.runtime import loop, orphans
from haulwright.runtime.async_executor import AsyncExecutor, Lane
from haulwright.runtime.executor import Executor
from haulwright.runtime.heartbeat import Heartbeat
from haulwright.runtime.launch import run_worker
from haulwright.runtime.listener import ListenerThread
from haulwright.runtime.loop import BROKEN_EXIT, WorkerBroken
from haulwright.runtime.maintenance import Maintenance
from haulwright.runtime.observers import Observers
from haulwright.runtime.orphans import Orphans
from haulwright.runtime.prefetch import Prefetch
from haulwright.runtime.pruner import Pruner
from haulwright.runtime.rows_aside import RowsAside
from haulwright.runtime.settler import Settler
from haulwright.runtime.start import StartPause
from haulwright.runtime.threads import LostThreads, Threads
from haulwright.runtime.watchdog import Watchdog
from haulwright.runtime.worker import Worker
from haulwright.stores.leases import Leases
from haulwright.stores.recovery import Recovery
from haulwright.stores.settlements import Settlements
from haulwright.stores.workers import Workers
from tests.runtime.waiting import eventually

FAULTS = 3
"""How often a call fails before it works again."""
ERRORS = [RuntimeError, MemoryError, RecursionError, AssertionError]
CALLS = [
    ("heartbeat", Heartbeat, "beat"),
    ("heartbeat", Heartbeat, "_renew"),
    ("heartbeat", Leases, "renew"),
    ("heartbeat", Workers, "seen"),
    ("watchdog", Watchdog, "check"),
    ("watchdog", Orphans, "check"),
    ("maintenance", Maintenance, "_round"),
    ("maintenance", Pruner, "step"),
    ("listener", ListenerThread, "_step"),
    ("settle", Settler, "_wait_for_runs"),
    ("settle", Settler, "_make_batches"),
    ("settle", Settler, "_settle"),
    ("settle", Settlements, "settle"),
    ("settle", Observers, "settled"),
    ("settle", Worker, "_forget"),
    ("claim", Worker, "_wait_for_room"),
    ("claim", Leases, "claim"),
    ("claim", Observers, "claimed"),
    ("claim", Executor, "take"),
    ("claim", Heartbeat, "expect"),
    ("claim", Worker, "_sleep"),
    ("claim", Threads, "submit"),
    ("run", Executor, "_take_for_thread"),
    ("run", Executor, "_run"),
    ("run", Observers, "started"),
    ("run", Settler, "add"),
    ("lane", AsyncExecutor, "_serve"),
]


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """What nobody has in hand is found soon."""
    monkeypatch.setattr(orphans, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(orphans, "ORPHAN_SECONDS", 0.5)
    monkeypatch.setattr("haulwright.engine.lease.START_WAIT_SECONDS", 0.1)


@pytest.fixture
def lines(caplog):
    """What the log says of loops that failed."""
    caplog.set_level(logging.WARNING)

    def lines():
        return [record for record in caplog.records if "failed and goes on" in record.message]

    yield lines
    assert [record for record in caplog.records if record.exc_info] == []


@pytest.fixture
def jobs(app):
    """Thirty jobs on threads and thirty on the loop, and how often each was run."""
    runs = Counter()

    @app.task(lease="10 s")
    def plain(n: int) -> int:
        runs[n] += 1
        return n

    @app.task(lease="10 s")
    async def asynchronous(n: int) -> int:
        runs[n] += 1
        await asyncio.sleep(0)
        return n

    def enqueue(first=0):
        calls = [plain.call(n) for n in range(first, first + 30)]
        return app.enqueue_many(calls + [asynchronous.call(n) for n in range(first + 30, first + 60)])

    return enqueue, runs


def failing(monkeypatch, kind, name, error, times=FAULTS):
    """Let the first calls of a method raise."""
    method, left = getattr(kind, name), [times]

    def fail_at_first(*args, **options):
        if left[0] > 0:
            left[0] -= 1
            raise error
        return method(*args, **options)

    monkeypatch.setattr(kind, name, fail_at_first)
    return left


def all_ran_once(handles, runs):
    assert [handle.result(90) for handle in handles] == list(range(len(handles)))
    assert set(runs.values()) == {1}
    assert {(handle.job().attempts, handle.job().losses) for handle in handles} == {(1, 0)}


@pytest.mark.parametrize(
    ("kind", "name", "error"),
    [(*call[1:], ERRORS[place % len(ERRORS)]) for place, call in enumerate(CALLS)],
    ids=[f"{part} {kind.__name__}.{name}" for part, kind, name in CALLS],
)
def test_a_part_that_fails_goes_on_and_costs_no_job(start_worker, jobs, lines, monkeypatch, kind, name, error):  # noqa: PLR0913, PLR0917
    enqueue, runs = jobs
    handles = enqueue()
    left = failing(monkeypatch, kind, name, error("out of order"))
    start_worker(concurrency=4)

    all_ran_once(handles, runs)
    eventually(lambda: left[0] <= 0)
    handles += enqueue(60)
    all_ran_once(handles, runs)
    loops = Counter(record.facts["error"] for record in lines())
    assert loops[f"{error.__name__}: out of order"] >= 1
    assert max(Counter((record.message, record.facts["error"]) for record in lines()).values()) == 1


class Broken(Observer):
    """Raises whatever it is told."""


for call in [name for name in vars(Observer) if not name.startswith("_")]:
    setattr(Broken, call, lambda *_: (_ for _ in ()).throw(MemoryError("broken")))


def test_an_observer_that_always_raises_costs_no_job(app, start_worker, jobs, lines):
    enqueue, runs = jobs
    app.observe(Broken())
    handles = enqueue()
    start_worker(concurrency=4)

    all_ran_once(handles, runs)
    assert lines() == []


SWEPT = (
    Worker, Executor, AsyncExecutor, Lane, Threads, Settler, Heartbeat, Watchdog, Maintenance, ListenerThread, Orphans,
    Observers, Pruner, Prefetch, LostThreads, RowsAside, StartPause, Leases, Settlements, Recovery,
)  # fmt: skip
SPARED = {"run", "stop", "start", "_begin", "_end", "_end_run", "failed", "loop_failed", "troubled", "_call"}
"""Before and after the work, and what is done in the wake of an error."""
STEPS = {"_step", "_claim_next", "run_forever"}


class RandomFaults:
    """Makes calls inside the loops raise, at random: what any call may meet that needs memory."""

    def __init__(self, monkeypatch, seed, one_of):
        self._random = random.Random(seed)  # noqa: S311 - the same faults again
        self._one_of = one_of
        self.is_on = False
        self.calls = Counter()
        for kind in SWEPT:
            for name, function in vars(kind).items():
                is_plain = inspect.isfunction(function) and not inspect.iscoroutinefunction(function)
                if is_plain and not name.startswith("__") and name not in SPARED:
                    monkeypatch.setattr(kind, name, self._raising(kind, name, function))

    def _raising(self, kind, name, function):
        def call(*args, **options):
            if self.is_on and self._random.randrange(self._one_of) == 0 and self._is_in_loop():
                self.calls[f"{kind.__name__}.{name}"] += 1
                raise MemoryError("at random")
            return function(*args, **options)

        return call

    @staticmethod
    def _is_in_loop():
        frame = sys._getframe(2)
        names = []
        while frame is not None:
            names.append(frame.f_code.co_name)
            frame = frame.f_back
        return bool(STEPS & set(names)) and not SPARED & set(names[: names.index((STEPS & set(names)).pop())])


@pytest.mark.parametrize("seed", range(4))
def test_faults_at_any_call_of_any_loop_cost_no_job(start_worker, jobs, lines, monkeypatch, seed):
    """One call in a hundred fails, in all loops at once; a job is run once, whatever was around it."""
    enqueue, runs = jobs
    faults = RandomFaults(monkeypatch, seed, 100)
    handles = []
    start_worker(concurrency=4)
    faults.is_on = True
    for place in range(8):
        handles += enqueue(place * 60)
        eventually(lambda least=place * 50: len(runs) >= least)
    faults.is_on = False

    assert [handle.result(60) for handle in handles] == list(range(480))
    assert set(runs.values()) == {1}
    assert {handle.job().losses for handle in handles} == {0}
    assert sum(faults.calls.values()) > 10
    alive = {thread.name for thread in threading.enumerate()}
    assert {
        f"haulwright-{name}" for name in ("heartbeat", "watchdog", "maintenance", "settle", "listener", "loop")
    } <= alive
    assert max(Counter((record.message, record.facts["error"]) for record in lines()).values()) == 1


def test_a_worker_that_cannot_settle_says_so_gives_back_and_ends_with_its_code(app, settings, monkeypatch, caplog):
    """It is not the database that is away: what the worker does itself fails, again and again."""
    monkeypatch.setattr(loop, "STUCK_SECONDS", 0.3)
    monkeypatch.setattr(loop, "STUCK_FAILURES", 3)
    monkeypatch.setattr("haulwright.runtime.worker.SETTLE_SECONDS", 0.2)
    broken = failing(monkeypatch, Settler, "_make_batches", RuntimeError("out of order"), times=10_000)
    runs = []

    @app.task()
    def work() -> str:
        runs.append(1)
        return "done"

    handle = work.enqueue()
    with pytest.raises(WorkerBroken, match="The settle loop failed") as ended:
        run_worker(app, settings=settings, concurrency=2, poll_interval=0.05, grace=0)

    assert (ended.value.exit_code, ended.value.loop) == (BROKEN_EXIT, "settle")
    (line,) = [record for record in caplog.records if record.levelno == logging.CRITICAL]
    assert (line.facts["error"], line.facts["failures"] >= 3) == ("RuntimeError: out of order", True)
    assert (handle.state(), handle.job().attempts, handle.job().losses) == ("queued", 0, 0)

    broken[0] = 0
    assert run_worker(app, settings=settings, until_empty=True) == 1
    assert handle.result(0) == "done"


def test_an_outcome_that_makes_no_sense_is_the_end_of_its_job_alone(app, start_worker, lines):
    @app.task()
    def odd() -> Snooze:
        return Snooze("soon")

    @app.task()
    def even() -> str:
        return "done"

    handle = odd.enqueue()
    start_worker(concurrency=1)
    eventually(lambda: handle.state() == "dead")

    assert even.enqueue().result(90) == "done"
    assert (handle.job().reason, handle.job().error_class) == ("unstorable", "TypeError")
    assert lines() == []
