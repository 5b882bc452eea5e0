"""The disk beside the event loop: bytes are hashed, written and synced by threads while the next ones arrive."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from haulwright.sources.download.parts import Part

T = TypeVar("T")


class PartWriter:
    """Writes to a part behind the network: one write at a time, in order, and beside it at most one sync."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._writing: asyncio.Future[None] | None = None
        self._syncing: asyncio.Future[None] | None = None
        self._has_failed = False
        """What comes after bytes that are missing is not written: it would stand in their place."""

    @property
    def is_idle(self) -> bool:
        """Whether what was given is written."""
        return self._writing is None or self._writing.done()

    async def write(self, pieces: Sequence[bytes]) -> None:
        """Have bytes written after those before; waits for these alone. The caller does not touch the list again."""
        await self._finish_write()
        if self._has_failed:
            return
        if self._part.is_sync_due and (self._syncing is None or self._syncing.done()):
            await self._finish_sync()
            self._syncing = asyncio.ensure_future(asyncio.to_thread(self._part.sync))
        self._writing = asyncio.ensure_future(asyncio.to_thread(self._write, pieces))

    def _write(self, pieces: Sequence[bytes]) -> None:
        self._part.write(b"".join(pieces))

    async def drain(self) -> None:
        """Wait until everything that was begun is done: nobody may close a file under it."""
        try:
            await self._finish_write()
        finally:
            await self._finish_sync()

    async def _finish_write(self) -> None:
        writing, self._writing = self._writing, None
        if writing is not None:
            try:
                await _done(writing)
            except BaseException:
                self._has_failed = True
                raise

    async def _finish_sync(self) -> None:
        syncing, self._syncing = self._syncing, None
        if syncing is not None:
            await _done(syncing)


async def off_loop(act: Callable[..., T], *args: object) -> T:
    """Let a thread touch the disk, and do not leave before it has: nobody may close a file under a write."""
    return await _done(asyncio.ensure_future(asyncio.to_thread(act, *args)))


async def _done(working: asyncio.Future[T]) -> T:
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        if not working.cancelled():
            working.exception()  # looked at: the cancellation is what the caller hears of
        raise
