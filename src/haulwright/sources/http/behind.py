"""Calls that nobody waits for: they renew what was served stale (RFC 5861, stale-while-revalidate)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass
from typing import Any, Final

from haulwright.errors import HaulwrightError
from haulwright.sources.http.reply import Response
from haulwright.sources.http.request import Request

Send = Callable[[Request], Awaitable[Response]]

MOST_AT_ONCE: Final = 20
"""Of one client. Beyond that a stale answer is asked about in front, as without them."""

MARGIN_SECONDS: Final = 1.0
"""What the whole of a call may take beyond its requests, and a little more."""


class CallsBehind:
    """The calls of one client that are under way and that nobody waits for.

    They belong to no run: their right at the gate is their own, with its own time, and what they write is the cache's.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def has_room(self) -> bool:
        """Whether one more may begin."""
        return len(self._tasks) < MOST_AT_ONCE

    def start(self, work: Coroutine[Any, Any, Any]) -> None:
        """Begin one on this loop, outside the run that it was noticed in. Of a failure only the gate hears."""
        task = asyncio.get_running_loop().create_task(_in_silence(work), context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def end(self) -> None:
        """End those of this loop; each leaves its gate first."""
        loop = asyncio.get_running_loop()
        ending = [task for task in list(self._tasks) if task.get_loop() is loop]
        for task in ending:
            task.cancel()
        if ending:
            await asyncio.wait(ending)


@dataclass(frozen=True, slots=True)
class Renewals:
    """How what one call is served stale is renewed behind it."""

    calls: CallsBehind
    call_seconds: float
    """How long a call may take."""
    make: Callable[[Request, Callable[[Send], Awaitable[object]]], Coroutine[Any, Any, object]]
    """A call of its own, through the gate, for work that is given the way to send."""

    @property
    def longest_seconds(self) -> float:
        """After this one that was begun is over, whatever became of it."""
        return self.call_seconds + MARGIN_SECONDS

    @property
    def has_room(self) -> bool:
        """Whether one more may begin."""
        return self.calls.has_room

    def start(self, request: Request, work: Callable[[Send], Awaitable[object]]) -> None:
        """Begin one."""
        self.calls.start(self.make(request, work))


async def _in_silence(work: Coroutine[Any, Any, Any]) -> None:
    with suppress(HaulwrightError):
        await work
