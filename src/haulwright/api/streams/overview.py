"""The overview as it changes: one look for all who see the same, whenever some seconds have passed."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any, Final

from starlette.concurrency import run_in_threadpool

from haulwright.api.streams.feed import FeedOver
from haulwright.api.streams.frames import comment_frame, data_frame, opening_frame
from haulwright.errors import HaulwrightError
from haulwright.operations.requests import look
from haulwright.operations.views.overview import FrameView, frame_view
from haulwright.redaction import redact

if TYPE_CHECKING:
    from haulwright.api.kit.call import ApiCall
    from haulwright.clock import Instant

log = logging.getLogger("haulwright.api")

LOOK_EVERY_SECONDS: Final = 3.0
AT_LEAST_EVERY_SECONDS: Final = 15.0
"""A look that shows nothing new is sent when the last one is so old."""

BoardKey = tuple[str, str | None]


class OverviewBoard:
    """What all callers of one role and tenant see."""

    def __init__(self, call: ApiCall, readers: asyncio.Semaphore) -> None:
        self._call = call
        self._readers = readers
        self._changed = asyncio.Condition()
        self._shown: Any = None
        self._sent_at = 0.0
        self.listeners = 0
        self.is_over = False
        self.number: Instant = 0
        """The moment of the last look that is worth showing."""
        self.frame = b""
        self._task = asyncio.create_task(self._watch())

    def end(self) -> None:
        """Stop looking; whoever waits is told."""
        self.is_over = True
        self._task.cancel()

    async def newer(self, number: Instant) -> None:
        """Wait for a look after another."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.number > number or self.is_over)

    async def _watch(self) -> None:
        try:
            while True:
                await self._look()
                await asyncio.sleep(LOOK_EVERY_SECONDS)
        finally:
            self.is_over = True
            async with self._changed:
                self._changed.notify_all()

    async def _look(self) -> None:
        call = self._call
        try:
            async with self._readers:
                at, view = await run_in_threadpool(lambda: look(call.app, call.principal, self._read))
        except HaulwrightError as error:
            log.warning("the overview cannot be read just now: %s", redact(str(error)))
            return
        shown = {name: value for name, value in view.items() if name not in {"at", "throughput"}}
        if shown == self._shown and time.monotonic() - self._sent_at < AT_LEAST_EVERY_SECONDS:
            return
        async with self._changed:
            self._shown, self._sent_at, self.number = shown, time.monotonic(), max(at, self.number + 1)
            self.frame = data_frame(view, identifier=self.number)
            self._changed.notify_all()

    def _read(self) -> tuple[Instant, FrameView]:
        frame = self._call.operations.overview.frame()
        return frame.at, frame_view(frame)


class OverviewBoards:
    """The boards that somebody looks at."""

    def __init__(self, readers: asyncio.Semaphore) -> None:
        self._readers = readers
        self._boards: dict[BoardKey, OverviewBoard] = {}

    def join(self, call: ApiCall) -> OverviewBoard:
        """The board of a caller."""
        key = _key(call)
        board = self._boards.get(key)
        if board is None or board.is_over:
            board = self._boards[key] = OverviewBoard(call, self._readers)
        board.listeners += 1
        return board

    def leave(self, call: ApiCall, board: OverviewBoard) -> None:
        """One looks no more; for nobody nothing is read."""
        board.listeners -= 1
        if not board.listeners:
            board.end()
            if self._boards.get(_key(call)) is board:
                del self._boards[_key(call)]

    def end(self) -> None:
        """The server stops."""
        for board in self._boards.values():
            board.end()


class OverviewFeed:
    """What one client is sent: the last look at once, then each that shows something else."""

    def __init__(self, call: ApiCall, boards: OverviewBoards) -> None:
        self._call = call
        self._boards = boards
        self._board: OverviewBoard | None = None
        self._number: Instant = 0

    def open(self) -> bytes:
        """Begin; what is sent first."""
        self._board = self._boards.join(self._call)
        return opening_frame(None)

    def close(self) -> None:
        """End."""
        if self._board is not None:
            self._boards.leave(self._call, self._board)

    async def read(self, seconds: float) -> bytes | None:
        """The next look; None where there is none for so long."""
        board = self._board
        if board is None:
            return None
        try:
            async with asyncio.timeout(seconds):
                await board.newer(self._number)
        except TimeoutError:
            return None
        if board.number == self._number:
            raise FeedOver(comment_frame("the server stops, come again"))
        self._number = board.number
        return board.frame

    def heartbeat(self) -> bytes:
        """A sign of life."""
        return comment_frame("alive")


def _key(call: ApiCall) -> BoardKey:
    return call.principal.kind, call.principal.tenant
