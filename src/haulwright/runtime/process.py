"""The process around a worker: its signals, and its interpreter."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ECHO_SECONDS = 0.3
"""Signals that follow each other within this time are one."""
SWITCH_SECONDS = 0.001
"""How long one thread may keep the interpreter while another has an answer of the database in its hands."""
COLLECT_OBJECTS = 20_000
"""How many objects are made between two looks for garbage, at least."""


@contextmanager
def tuned_interpreter() -> Iterator[None]:
    """Let threads that have an answer in their hands go on soon, and look for garbage every few thousand jobs.

    A busy event loop would keep the others waiting; and what a job leaves behind goes without the collector.
    """
    switching, collecting = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(min(switching, SWITCH_SECONDS))
    gc.set_threshold(max(collecting[0], COLLECT_OBJECTS), *collecting[1:])
    try:
        yield
    finally:
        sys.setswitchinterval(switching)
        gc.set_threshold(*collecting)


@contextmanager
def stopped_by_signals(act: Callable[[], None]) -> Iterator[None]:
    """SIGTERM and SIGINT do this instead, for a while."""
    last = float("-inf")

    def stop(_number: int, _frame: object) -> None:
        nonlocal last
        before, last = last, time.monotonic()
        if last - before < ECHO_SECONDS:
            return  # the same word from two mouths: a service manager tells the supervisor and its workers at once
        # A handler must not wait for a lock that the interrupted code may hold.
        threading.Thread(target=act, name="haulwright-stop", daemon=True).start()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
