"""One connection to a server: one request and its answer at a time, and afterwards perhaps another."""

from __future__ import annotations

import asyncio
import select
from collections import deque
from ssl import SSLContext, SSLError, SSLObject, SSLZeroReturnError
from typing import Final

from haulwright.sources.http.network_errors import (
    NetworkError,
    ReadError,
    ReadTimeout,
    RemoteProtocolError,
    WriteTimeout,
)
from haulwright.sources.http.response_parser import HeadTooLarge, ResponseParser

MOST_WAITING_BYTES: Final = 512 * 1024
"""Beyond so much of a body that nobody has taken yet, no more is read off the network."""
WRITTEN_AT_ONCE_BYTES: Final = 64 * 1024


class HttpConnection(asyncio.Protocol):
    """The bytes of one socket, as answers. Belongs to one event loop."""

    __slots__ = ("_failure", "_is_full", "_is_lost", "_is_paused", "_loop", "_parser", "_pieces",
                 "_transport", "_waiter", "_waiting_bytes", "released_at")  # fmt: skip

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser: ResponseParser | None = None
        self._pieces: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._waiter: asyncio.Future[None] | None = None
        self._failure: Exception | None = None
        self._is_paused = False
        self._is_full = False
        self._is_lost = False
        self.released_at = 0.0

    @property
    def is_usable(self) -> bool:
        """Whether a request may be sent on it."""
        transport = self._transport
        return self._parser is None and not self._is_lost and transport is not None and not transport.is_closing()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing waits to be read: on an idle connection that is its end, which the loop has yet to see."""
        poll = select.poll()
        poll.register(self.transport.get_extra_info("socket").fileno(), select.POLLIN)
        return not poll.poll(0)

    @property
    def transport(self) -> asyncio.Transport:
        """What carries it."""
        if self._transport is None:
            raise ReadError("the connection is closed")
        return self._transport

    async def start_tls(self, context: SSLContext, host: str, seconds: float) -> None:
        """Speak TLS from here on, to this host."""
        if self._parser is not None or self._is_lost:
            raise ReadError("the connection is closed")
        upgraded = await self._loop.start_tls(
            self.transport,
            self,
            context,
            server_hostname=host,
            ssl_handshake_timeout=seconds,
        )
        if upgraded is None:
            raise ReadError("the connection broke in the TLS handshake")
        self._transport = upgraded

    async def send(self, method: str, head: bytes, body: bytes, timeouts: dict[str, float], header_bytes: int) -> None:
        """Send a request and wait for the head of its answer."""
        transport = self.transport
        self._parser = ResponseParser(method, header_bytes)
        if len(body) <= WRITTEN_AT_ONCE_BYTES:
            transport.write(head + body if body else head)
        else:
            await self._write_all(transport, head, body, timeouts["write"])
        while not self._parser.status:
            await self._wait(timeouts["read"], ReadTimeout)

    @property
    def answer(self) -> ResponseParser:
        """The answer that is under way."""
        if self._parser is None:
            raise ReadError("no answer is under way")
        return self._parser

    async def receive(self, seconds: float) -> bytes:
        """The next piece of the body; nothing at its end."""
        while not self._pieces:
            if self.answer.is_complete:
                return b""
            await self._wait(seconds, ReadTimeout)
        piece = self._pieces.popleft()
        self._waiting_bytes -= len(piece)
        if self._is_full and self._waiting_bytes < MOST_WAITING_BYTES:
            self._is_full = False
            self.transport.resume_reading()
        return piece

    def leave(self) -> bool:
        """Be done with an answer; whether the connection may be used for another request."""
        parser, self._parser = self._parser, None
        is_read = parser is None or (parser.is_complete and parser.is_reusable and not self._pieces)
        if is_read and self._failure is None and self.is_usable and not self._is_paused:
            return True
        self.close()
        return False

    def close(self) -> None:
        """Close it, whatever it is doing."""
        if self._transport is not None:
            self._transport.abort()
        self._pieces.clear()
        self._fail(self._failure or ReadError("the connection was closed"))  # for whoever still waits for it

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Of the loop: it stands."""
        self._transport = transport  # type: ignore[assignment]  # sockets have one of both ways

    def data_received(self, data: bytes) -> None:
        """Of the loop: something came."""
        parser = self._parser
        if parser is None or self._failure is not None:  # nobody asked
            self._is_lost = True
            self.transport.abort()
            return
        try:
            piece = parser.feed(data)
        except (RemoteProtocolError, HeadTooLarge) as problem:
            self._fail(problem)
            self.transport.abort()
            return
        if piece:
            self._pieces.append(piece)
            self._waiting_bytes += len(piece)
            if self._waiting_bytes > MOST_WAITING_BYTES and not self._is_full:
                self._is_full = True
                self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Of the loop: nothing more will come. Half a connection is none."""
        self._end(None)

    def connection_lost(self, problem: Exception | None) -> None:
        """Of the loop: it is closed."""
        self._end(problem)

    def pause_writing(self) -> None:
        """Of the loop: the network takes nothing more for now."""
        self._is_paused = True

    def resume_writing(self) -> None:
        """Of the loop: it does again."""
        self._is_paused = False
        self._wake()

    async def _write_all(self, transport: asyncio.Transport, head: bytes, body: bytes, seconds: float) -> None:
        """Send a large request piece by piece, unless the server answers or hangs up before its end."""
        transport.write(head)
        for start in range(0, len(body), WRITTEN_AT_ONCE_BYTES):
            while self._is_paused and not self.answer.status:
                await self._wait(seconds, WriteTimeout)
            if self.answer.status:
                self.answer.is_reusable = False
                return
            transport.write(body[start : start + WRITTEN_AT_ONCE_BYTES])

    async def _wait(self, seconds: float, kind: type[NetworkError]) -> None:
        """Wait until something happens, or for so long."""
        if self._failure is not None:
            raise self._failure
        if self._is_lost:
            raise ReadError("the connection is closed")
        waiter = self._waiter = self._loop.create_future()
        timer = self._loop.call_later(seconds, _expire, waiter, kind)
        try:
            await waiter
        finally:
            timer.cancel()
            self._waiter = None
        if self._failure is not None:
            raise self._failure

    def _end(self, problem: Exception | None) -> None:
        if self._is_lost:
            return
        self._is_lost = True
        parser = self._parser
        if parser is not None and self._failure is None and not parser.is_complete:
            if problem is not None:
                self._fail(ReadError(str(problem)))
                return
            try:
                parser.finish(is_certain=_is_farewell(self.transport))
            except RemoteProtocolError as cut:
                self._fail(cut)
        self._wake()

    def _fail(self, problem: Exception) -> None:
        self._failure = problem
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _is_farewell(transport: asyncio.Transport) -> bool:
    """Whether the other side itself ended the connection; by TLS it says so, for else anybody on the way could do it.

    The loop says the same of both ends. Only the layer of TLS knows: behind a farewell it reads nothing, else it waits.
    """
    tls: SSLObject | None = transport.get_extra_info("ssl_object")
    if tls is None:
        return True
    try:
        return not tls.read(1)
    except SSLZeroReturnError:
        return True
    except SSLError:
        return False


def _expire(waiter: asyncio.Future[None], kind: type[NetworkError]) -> None:
    if not waiter.done():
        waiter.set_exception(kind())
