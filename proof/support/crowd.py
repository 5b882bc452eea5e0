"""Many processes of one kind that start at once and are let go together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from proof.support import scheduler
from proof.support.site import Site
from proof.support.worker import BARRIER

_NAP_SECONDS = 0.001


@contextmanager
def schedulers(site: Site, count: int) -> Iterator[None]:
    """Keep this many schedulers racing."""
    processes = [site.spawn(scheduler.MODULE, f"scheduler {number}") for number in range(count)]
    diary = site.diary()
    try:
        wait_until(lambda: len(diary.of("scheduler.ready")) == count)
        site.raise_flag(BARRIER)
        yield
    finally:
        site.raise_flag(scheduler.STOP)
        codes = [process.wait(60) for process in processes]
        diary.close()
    assert codes == [0] * count


def wait_until(happened: Callable[[], bool], patience_seconds: float = 120) -> None:
    """Wait for what other processes bring about."""
    until = time.monotonic() + patience_seconds
    while not happened():
        assert time.monotonic() < until, "the other processes did not get there"
        time.sleep(_NAP_SECONDS)
