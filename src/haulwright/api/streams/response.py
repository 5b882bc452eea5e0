"""A stream as an answer: within its limits, with signs of life, cut where its client does not read."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from starlette.responses import Response

from haulwright.api.kit.problems import TooManyRequests, problem_of, request_id_of
from haulwright.api.streams.connection import abort_of
from haulwright.api.streams.feed import FeedOver
from haulwright.api.streams.frames import comment_frame
from haulwright.errors import DatabaseProblem
from haulwright.redaction import redact

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from haulwright.api.auth.identity import CallerIdentity
    from haulwright.api.kit.call import ApiCall
    from haulwright.api.streams.feed import StreamFeed
    from haulwright.api.streams.streams import Streams

log = logging.getLogger("haulwright.api")

HEARTBEAT_SECONDS: Final = 15.0
PROOF_SECONDS: Final = 60.0
"""How often it is asked again whether the caller's token is valid."""
SEND_PATIENCE_SECONDS: Final = 20.0
"""How long a client may take nothing before it is cut."""
HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class _Write(Protocol):
    async def __call__(self, body: bytes, *, more: bool = True) -> None:
        """Send a part of the body."""


class EventStreamResponse(Response):
    """Server-sent events until the feed is over, the client goes, its token ends or the server stops."""

    media_type = "text/event-stream"

    def __init__(self, call: ApiCall, feed: StreamFeed) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._call = call
        self._feed = feed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        streams: Streams = self._call.request.app.state.streams
        abort = abort_of(scope)
        try:
            place = streams.enter(self._call.request, abort)
        except TooManyRequests as error:
            await problem_of(error, request_id_of(self._call.request))(scope, receive, send)
            return
        tasks = [asyncio.create_task(self._write(send)), asyncio.create_task(_gone(receive))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            streams.leave(place)
        for result in results:
            if isinstance(result, TimeoutError):
                log.warning("a stream was cut: its client took nothing for %g s", SEND_PATIENCE_SECONDS)
                await _let_go(abort, receive)
            elif isinstance(result, Exception):
                log.error("a stream broke off: %s", redact(str(result)), exc_info=result)
                await _let_go(abort, receive)

    async def _write(self, send: Send) -> None:
        async def write(body: bytes, *, more: bool = True) -> None:
            async with asyncio.timeout(SEND_PATIENCE_SECONDS):
                await send({"type": "http.response.body", "body": body, "more_body": more})

        identity = await self._identity()
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            await write(self._feed.open())
            last = await self._pass_on(write, identity)
        finally:
            self._feed.close()
        await write(last, more=False)

    async def _pass_on(self, write: _Write, identity: CallerIdentity | None) -> bytes:
        """Send what comes; returns what is to be sent last."""
        proof_at = time.monotonic() + PROOF_SECONDS
        while True:
            try:
                frames = await self._feed.read(HEARTBEAT_SECONDS)
                if time.monotonic() >= proof_at:
                    proof_at = time.monotonic() + PROOF_SECONDS
                    if identity != await self._identity():
                        return comment_frame("the token is not valid any more")
            except FeedOver as over:
                return over.last
            except DatabaseProblem as error:  # clients keep their place, and so does the feed
                log.warning("a stream waits for the database: %s", redact(str(error)))
                await asyncio.sleep(1)
                frames = None
            await write(self._feed.heartbeat() if frames is None else frames)

    async def _identity(self) -> CallerIdentity | None:
        """Who calls, as far as that holds now."""
        request = self._call.request
        identity: CallerIdentity | None = await request.app.state.reception.identify_again(request)
        return identity


async def _gone(receive: Receive) -> None:
    """Wait until the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _let_go(abort: Callable[[], None], receive: Receive) -> None:
    """Close the connection, and wait until the server knows: it would complain of an answer without an end."""
    abort()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(1):
            await _gone(receive)
