"""The connections of one event loop: so many at once, and those that are free again, for whoever needs one next."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from haulwright.sources.http.connection import HttpConnection
from haulwright.sources.http.connector import Proxy
from haulwright.sources.http.network_errors import PoolTimeout

IDLE_SECONDS: Final = 4.0
"""Less than the five seconds after which many servers hang up: no connection is used while it is being closed."""

Place = tuple[str, str, int, Proxy | None]
"""Where a connection leads: scheme, host, port, and the proxy on the way."""


class ConnectionPool:
    """Lends connections, each to one request at a time."""

    def __init__(self, most: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._most = most
        self._room = asyncio.Semaphore(most)
        """For those that are lent, or being made for somebody."""
        self._lent: set[HttpConnection] = set()
        self._idle: dict[Place, list[HttpConnection]] = {}
        self._idle_count = 0
        self._sweep: asyncio.TimerHandle | None = None

    async def lend(
        self, place: Place, connect: Callable[[], Awaitable[HttpConnection]], seconds: float
    ) -> HttpConnection:
        """A connection that leads there: the one that was used last, else a new one, for which there may be a wait."""
        if self._room.locked():
            try:
                async with asyncio.timeout(seconds):
                    await self._room.acquire()
            except TimeoutError:
                raise PoolTimeout from None
        else:
            await self._room.acquire()  # which is at once
        try:
            connection = self._take(place)
            if connection is None:
                self._make_room()
                connection = await connect()
        except BaseException:
            self._room.release()
            raise
        self._lent.add(connection)
        return connection

    def give_back(self, place: Place, connection: HttpConnection) -> None:
        """Be done with a connection; it is kept for a while where it can be used again."""
        self._lent.remove(connection)
        self._room.release()
        if connection.leave():
            connection.released_at = self._loop.time()
            self._idle.setdefault(place, []).append(connection)
            self._idle_count += 1
            if self._sweep is None:
                self._sweep = self._loop.call_later(IDLE_SECONDS, self._close_old)

    def close(self) -> None:
        """Close all of them, also those that are in use."""
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        for connection in (*self._lent, *(one for idle in self._idle.values() for one in idle)):
            connection.close()
        self._idle.clear()
        self._idle_count = 0

    def _take(self, place: Place) -> HttpConnection | None:
        """The idle connection to this place that was used last."""
        idle = self._idle.get(place)
        while idle:
            connection = idle.pop()
            self._idle_count -= 1
            is_young = self._loop.time() - connection.released_at < IDLE_SECONDS
            if is_young and connection.is_usable and connection.is_quiet:
                return connection
            connection.close()
        return None

    def _make_room(self) -> None:
        """Close the oldest idle connection where there would be too many with a new one."""
        if len(self._lent) + self._idle_count < self._most:
            return
        stocked = [idle for idle in self._idle.values() if idle]
        if stocked:
            min(stocked, key=lambda idle: idle[0].released_at).pop(0).close()
            self._idle_count -= 1

    def _close_old(self) -> None:
        """Close what has not been used for long, and look again while there is more."""
        self._sweep = None
        oldest = self._loop.time() - IDLE_SECONDS
        for place, idle in [*self._idle.items()]:
            kept = [one for one in idle if one.is_usable and one.released_at > oldest]
            for one in idle:
                if one not in kept:
                    one.close()
            if kept:
                self._idle[place] = kept
            else:
                del self._idle[place]
        self._idle_count = sum(map(len, self._idle.values()))
        if self._idle_count:
            self._sweep = self._loop.call_later(IDLE_SECONDS, self._close_old)
