"""Runs whose commits are sure to meet in one transaction: they wait for each other, and the writer for all of them."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from haulwright.stores import commit_groups
from haulwright.stores.commit_groups import code_of
from proof.support.site import CONCURRENCY_VARIABLE

if TYPE_CHECKING:
    from haulwright import Context

_LOOK_SECONDS = 0.001
_ACTIVE = "select count(*) from haulwright_jobs"


class Meeting:
    """Of all jobs that there are when the first of their runs arrives."""

    def __init__(self, may_write: Callable[[], bool] = lambda: True) -> None:
        self._may_write = may_write
        """Called when all commits are in the queue, until the writer may take them."""
        self._lock = threading.Lock()
        self._expected = 0
        self._arrived = 0
        self._are_here: asyncio.Event | None = None

    async def arrive(self, ctx: Context, function: Callable[..., Any]) -> None:
        """Wait on the event loop until all are here."""
        if not self.expect_all(ctx, function):
            return
        if self._are_here is None:
            self._are_here = asyncio.Event()
        self._arrived += 1
        if self._arrived >= self._expected:
            self._are_here.set()
        await self._are_here.wait()

    def expect_all(self, ctx: Context, function: Callable[..., Any]) -> bool:
        """Have the writer wait for all; from then on this function goes with others, however slow this machine is.

        In a worker that runs one after the other, as the one that makes it good, nobody is waited for.
        """
        if CONCURRENCY_VARIABLE not in os.environ or ctx.commit_queue is None:
            return False
        with self._lock:
            if not self._expected:
                ((self._expected,),) = ctx.store.database.read(lambda connection: connection.execute(_ACTIVE))
                self._have_writer_wait(ctx)
        commit_groups.SLOW_SECONDS = float("inf")  # type: ignore[misc] # for good: this process is the proof's own
        code = code_of(function)
        assert code is not None
        ctx.store.commits._alone_until[code] = 0.0
        return True

    def _have_writer_wait(self, ctx: Context) -> None:
        """Have the first group be all of them."""
        queue = ctx.commit_queue
        assert queue is not None
        take = queue._take

        def take_all() -> Any:
            while len(queue._waiting) < self._expected or not self._may_write():
                time.sleep(_LOOK_SECONDS)
            queue._take = take  # type: ignore[method-assign]
            return take()

        queue._take = take_all  # type: ignore[method-assign]
