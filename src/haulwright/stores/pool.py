"""A bounded stack of connections, for threads to share."""

from __future__ import annotations

import os
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Generic, Protocol, TypeVar

from haulwright.errors import DatabaseUnavailable


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
        self._inherited: list[_Stack[C]] = []
        self._reset()

    def _reset(self) -> None:
        self._stack: _Stack[C] = _Stack(self._size)
        self._pid = os.getpid()

    def acquire(self, patience_seconds: float | None = None) -> _Loan[C]:
        """Lend one connection; it comes back unless the work left it broken."""
        self._leave_parents_alone()
        return _Loan(self._stack, self._connect, self._patience if patience_seconds is None else patience_seconds)

    def forget(self) -> None:
        """Close the idle connections; the next loan opens a fresh one."""
        self._leave_parents_alone()
        while connection := self._stack.pop():
            connection.close()

    close = forget

    def _leave_parents_alone(self) -> None:
        """A forked child must not touch its parent's connections, not even to close them by losing sight of them."""
        if self._pid != os.getpid():
            self._inherited.append(self._stack)
            self._reset()


class _Stack(Generic[C]):
    """The connections that nobody uses, and the places that are left."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.idle: list[C] = []
        self.places: SimpleQueue[None] = SimpleQueue()
        """One entry for each loan that may be made: what a semaphore does, in a tenth of its steps."""
        for _ in range(size):
            self.places.put(None)

    def pop(self) -> C | None:
        """Take the last one, if no other thread did since anybody looked."""
        try:
            return self.idle.pop()
        except IndexError:
            return None


class _Loan(Generic[C]):
    """One connection for a while. A class, because every statement of ours is inside one."""

    __slots__ = ("_connect", "_connection", "_patience", "_stack")

    def __init__(self, stack: _Stack[C], connect: Callable[[], C], patience_seconds: float) -> None:
        self._stack = stack
        self._connect = connect
        self._patience = patience_seconds

    def __enter__(self) -> C:
        stack = self._stack
        try:
            stack.places.get(timeout=self._patience)
        except Empty:
            message = f"All {stack.size} connections were busy for {self._patience:g} s."
            raise DatabaseUnavailable(message, hint="Lower the concurrency or raise the pool size.") from None
        try:
            self._connection = stack.pop() or self._connect()
        except BaseException:
            stack.places.put(None)
            raise
        return self._connection

    def __exit__(self, *_error: object) -> None:
        try:
            if self._connection.usable():
                self._stack.idle.append(self._connection)
            else:
                self._connection.close()
        finally:
            self._stack.places.put(None)
