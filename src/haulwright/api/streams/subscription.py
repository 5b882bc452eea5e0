"""One client of the events: what it wants, how far it has come, and what waits to be sent to it."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from haulwright.events import Event

MOST_WAITING: Final = 32
"""Chunks that wait for one client. With more it is served like one who came late, from its own place."""


class Chunk(NamedTuple):
    """Frames that many clients may share."""

    after: int
    """The place behind the last of them."""
    frames: bytes


class Topic(NamedTuple):
    """Which events a client wants. The tenant is that of its token; None is every tenant."""

    tenant: str | None
    name: str | None = None
    job_id: str | None = None

    def matching(self, events: Sequence[Event]) -> list[Event]:
        """Those of some events that it is about."""
        return [
            event
            for event in events
            if self.tenant in {None, event.tenant}
            and self.name in {None, event.name}
            and self.job_id in {None, event.job_id}
        ]


class Subscription:
    """A client's place. Written by the hub's thread under the hub's lock, read on the loop of the client."""

    def __init__(self, topic: Topic, after: int) -> None:
        self.topic = topic
        self.after = after
        """Every event up to here was sent, or is being sent."""
        self.is_live = False
        """Whether the hub gives it what is new; else it reads for itself until it has caught up."""
        self.is_job_over = False
        """The job that it watches has ended."""
        self.is_over = False
        """The hub gives nothing any more: the server stops, or its place is of another database."""
        self.waiting: deque[Chunk] = deque()
        self.loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Have it look, on its own loop."""
        self._woken.set()

    async def wait(self, seconds: float) -> None:
        """Wait until there is something to look at, at most so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(seconds, 0)):
                await self._woken.wait()
        self._woken.clear()
