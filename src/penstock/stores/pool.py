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
        self._reset()

    def _reset(self) -> None:
        self._idle: list[C] = []
        self._places = threading.Semaphore(self._size)
        self._pid = os.getpid()

    @contextmanager
    def lend(self) -> Iterator[C]:
        """Lend one connection; it comes back unless the work left it broken."""
        if self._pid != os.getpid():
            self._reset()  # a forked child must not touch its parent's connections, not even to close them
        places = self._places
        if not places.acquire(timeout=self._patience):
            message = f"All {self._size} connections were busy for {self._patience:g} s."
            raise DatabaseUnavailable(message, hint="Lower the concurrency or raise the pool size.")
        try:
            yield from self._lent()
        finally:
            places.release()

    def _lent(self) -> Iterator[C]:
        connection = self._idle.pop() if self._idle else self._connect()
        try:
            yield connection
        finally:
            if connection.usable():
                self._idle.append(connection)
            else:
                connection.close()

    def forget(self) -> None:
        """Close the idle connections; the next loan opens a fresh one."""
        while self._idle:
            self._idle.pop().close()

    close = forget
