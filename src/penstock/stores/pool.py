"""A bounded stack of connections, for threads to share."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

from penstock.errors import DatabaseUnavailable


class Closeable(Protocol):
    """What a pool holds."""

    def usable(self) -> bool:
        """Whether it is open and outside any transaction."""

    def close(self) -> None:
        """Give it up."""


C = TypeVar("C", bound=Closeable)


class Pool(Generic[C]):
    """Lends connections, the warmest first; opens at most `size`."""

    def __init__(self, connect: Callable[[], C], *, size: int, patience_seconds: float = 30.0) -> None:
        self._connect = connect
        self._patience = patience_seconds
        self._size = size
        self._inherited: list[list[C]] = []
        self._reset()

    def _reset(self) -> None:
        self._idle: list[C] = []
        self._places = threading.Semaphore(self._size)
        self._pid = os.getpid()

    @contextmanager
    def lend(self) -> Iterator[C]:
        """Lend one connection; it comes back unless the work left it broken."""
        self._leave_parents_alone()
        places, idle = self._places, self._idle
        if not places.acquire(timeout=self._patience):
            message = f"All {self._size} connections were busy for {self._patience:g} s."
            raise DatabaseUnavailable(message, hint="Lower the concurrency or raise the pool size.")
        try:
            connection = _last_of(idle) or self._connect()
            try:
                yield connection
            finally:
                if connection.usable():
                    idle.append(connection)
                else:
                    connection.close()
        finally:
            places.release()

    def forget(self) -> None:
        """Close the idle connections; the next loan opens a fresh one."""
        self._leave_parents_alone()
        while connection := _last_of(self._idle):
            connection.close()

    close = forget

    def _leave_parents_alone(self) -> None:
        """A forked child must not touch its parent's connections, not even to close them by losing sight of them."""
        if self._pid != os.getpid():
            self._inherited.append(self._idle)
            self._reset()


def _last_of(idle: list[C]) -> C | None:
    """Take the last one, if no other thread did since anybody looked."""
    try:
        return idle.pop()
    except IndexError:
        return None
