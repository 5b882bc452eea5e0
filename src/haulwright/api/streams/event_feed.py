"""The events of one client: from the database until it has caught up, then as the hub hands them out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from starlette.concurrency import run_in_threadpool

from haulwright.api.kit.problems import request_id_of
from haulwright.api.streams.feed import FeedOver
from haulwright.api.streams.frames import comment_frame, data_frame, event_frames, opening_frame, place_frame
from haulwright.api.streams.subscription import Subscription, Topic
from haulwright.errors import NotFound
from haulwright.operations.requests import look
from haulwright.operations.views.jobs import job_view

if TYPE_CHECKING:
    from haulwright.api.kit.call import ApiCall
    from haulwright.api.streams.hub import EventHub
    from haulwright.operations.events import EventFollower

T = TypeVar("T")

PAGE: Final = 200
"""Events that are sent at once to who catches up."""
HELD_UP_SECONDS: Final = 0.25
"""Between two looks of one who catches up and waits for somebody's commit."""


class EventFeed:
    """What one client is sent."""

    def __init__(
        self, call: ApiCall, hub: EventHub, follower: EventFollower, topic: Topic, readers: asyncio.Semaphore
    ) -> None:
        self._call = call
        self._readers = readers
        self._hub = hub
        self._follower = follower
        self._topic = topic
        self._client = Subscription(topic, follower.after)

    def open(self) -> bytes:
        """Begin; what is sent first."""
        self._hub.add(self._client)
        return opening_frame(self._follower.after)

    def close(self) -> None:
        """End."""
        self._hub.remove(self._client)

    async def read(self, seconds: float) -> bytes | None:
        """What is to be sent next; None where there is nothing for so long."""
        client = self._client
        until = time.monotonic() + seconds
        while True:
            if client.is_over:
                raise FeedOver(comment_frame("the server stops, come again"))
            frames = self._hub.take(client) if client.is_live else await self._caught_up()
            if frames is None and client.is_job_over:
                raise FeedOver(await self._job_end())
            if frames is not None or time.monotonic() >= until:
                return frames
            pause = until - time.monotonic()
            await client.wait(pause if client.is_live else min(HELD_UP_SECONDS, pause))

    def heartbeat(self) -> bytes:
        """A sign of life, with the place that the client has reached: it may want little of what happens."""
        shown = self._hub.shown(self._client)
        return comment_frame("alive") + (b"" if shown is None else place_frame(shown))

    async def _caught_up(self) -> bytes | None:
        """The next page from what the hub remembers, else from the database."""
        events = self._hub.recent(self._client, PAGE)
        if events is None:
            if self._follower.after < self._client.after:  # it fell behind while it was served by the hub
                self._follower = await self._ask(self._follower_from_here)
            events = await self._ask(lambda: self._follower.read(PAGE))
            self._client.after = max(self._follower.after, self._client.after)
        elif events:
            self._client.after = events[-1].seq or 0
        return event_frames(events) if events else None

    def _follower_from_here(self) -> EventFollower:
        topic, after = self._topic, str(self._client.after)
        return self._call.operations.events.follower(name=topic.name, job_id=topic.job_id, after=after)

    async def _job_end(self) -> bytes:
        """The events of the job that were not sent, and then how it ended."""
        return await self._ask(self._read_job_end)

    def _read_job_end(self) -> bytes:
        jobs, job_id, frames = self._call.operations.jobs, self._topic.job_id or "", b""
        after: str | None = str(self._client.after)
        try:
            while after is not None:
                page = jobs.timeline(job_id, after=after)
                frames += event_frames(event for event in page.rows if event.seq is not None)
                after = page.next
            return frames + data_frame(job_view(jobs.get(job_id)), name="end")
        except NotFound:  # it was pruned meanwhile
            return frames + data_frame(None, name="end")

    async def _ask(self, work: Callable[[], T]) -> T:
        """Read the database on behalf of the caller, not beside too many others."""
        call = self._call
        async with self._readers:
            return await run_in_threadpool(
                lambda: look(call.app, call.principal, work, request_id=request_id_of(call.request))
            )
