"""Counts task bodies in memory that processes share: cheap enough to stand in every task that is measured.

The count only says when it is worth asking the database; a drain has ended when the database says so.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path

FILE_VARIABLE = "HAULWRIGHT_BENCH_HITS"
SLOT_VARIABLE = "HAULWRIGHT_BENCH_SLOT"
SLOTS = 16
_SLOT = struct.Struct("=qd")
"""How many bodies ran in one process, and when the first of them began."""


class Board:
    """All counters of a run, one slot a process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_bytes(bytes(SLOTS * _SLOT.size))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), SLOTS * _SLOT.size)

    def clear(self) -> None:
        """Start from nothing."""
        self._memory[:] = bytes(SLOTS * _SLOT.size)

    def count(self) -> int:
        """How many bodies have run."""
        return sum(count for count, _ in self._slots())

    def first(self) -> float | None:
        """When the first body began, in seconds since 1970."""
        return min((began for count, began in self._slots() if count), default=None)

    def _slots(self) -> list[tuple[int, float]]:
        return [(count, began) for count, began in _SLOT.iter_unpack(self._memory[:])]


def counter() -> Callable[..., None]:
    """The function that a task body calls once; it does nothing where nobody counts."""
    path, slot = os.environ.get(FILE_VARIABLE), int(os.environ.get(SLOT_VARIABLE, "-1"))
    if not path or slot < 0:
        return lambda _bodies=1: None
    with Path(path).open("r+b") as file:
        memory = memoryview(mmap.mmap(file.fileno(), SLOTS * _SLOT.size))
    place = slot * _SLOT.size
    counts = memory[place : place + 8].cast("q")
    times = memory[place + 8 : place + 16].cast("d")
    lock = threading.Lock()

    def hit(bodies: int = 1) -> None:
        with lock:
            if not counts[0]:
                times[0] = time.time()
            counts[0] += bodies

    return hit
