"""Many processes that start at once and are let go together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from haulwright.stores.store import Store
from proof.support.site import BARRIER, BARRIER_VARIABLE, CONCURRENCY_VARIABLE, SCHEDULER, STOP, WORKER, Site

_NAP_SECONDS = 0.001


def race(site: Site, processes: int, *, concurrency: int = 4) -> float:
    """Drain the queue with this many workers at once, and return how many seconds that took."""
    words = {CONCURRENCY_VARIABLE: str(concurrency), BARRIER_VARIABLE: "1"}
    started = [site.spawn(WORKER, "work", **words) for _ in range(processes)]
    _let_go(site, "worker.ready", processes)
    began = time.monotonic()
    codes = [process.wait(600) for process in started]
    assert codes == [0] * processes
    return time.monotonic() - began


@contextmanager
def schedulers(site: Site, count: int) -> Iterator[None]:
    """Keep this many schedulers racing."""
    started = [site.spawn(SCHEDULER, f"scheduler {number}") for number in range(count)]
    try:
        _let_go(site, "scheduler.ready", count)
        yield
    finally:
        site.raise_flag(STOP)
        codes = [process.wait(60) for process in started]
    assert codes == [0] * count


def is_past_slot(store: Store, moment: int) -> bool:
    """Whether every slot up to that moment has been opened."""
    following = store.schedules.next_due().at
    return following is not None and following > moment


def wait_until(happened: Callable[[], bool], patience_seconds: float = 120) -> None:
    """Wait for what other processes bring about."""
    until = time.monotonic() + patience_seconds
    while not happened():
        assert time.monotonic() < until, "the other processes did not get there"
        time.sleep(_NAP_SECONDS)


def _let_go(site: Site, ready: str, count: int) -> None:
    with closing(site.diary()) as diary:
        wait_until(lambda: len(diary.of(ready)) == count)
    site.raise_flag(BARRIER)
