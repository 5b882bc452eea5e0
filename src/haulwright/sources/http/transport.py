"""Requests on the wire, and the answers to them: HTTP/1.1 of our own, for its speed and for its caution.

What others offer keeps cookies, logs whole addresses, has no place for the check between a name and its connection, or
takes several times as long: docs/decisions/0031-a-transport-of-our-own.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final
from urllib.request import getproxies, proxy_bypass

from haulwright.sources.http.address import Address
from haulwright.sources.http.body import headers_too_large
from haulwright.sources.http.connection import HttpConnection
from haulwright.sources.http.connection_pool import ConnectionPool, Place
from haulwright.sources.http.connector import Connector, Proxy, proxy_of
from haulwright.sources.http.limits import Limits
from haulwright.sources.http.policy import Policy
from haulwright.sources.http.request import Request
from haulwright.sources.http.response_parser import HeadTooLarge

PIECE_BYTES: Final = 64 * 1024
"""Of a body, at most: what is done with each is done in small steps."""
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


@dataclass(slots=True)
class Progress:
    """How far a request came."""

    sent: bool = False
    """The first byte of it may have left."""


class WireResponse:
    """An answer whose body is still on its way."""

    __slots__ = ("_connection", "_is_left", "_place", "_pool", "_read_seconds", "headers", "status")

    def __init__(self, pool: ConnectionPool, place: Place, connection: HttpConnection, read_seconds: float) -> None:
        self.status = connection.answer.status
        self.headers = connection.answer.headers
        self._pool = pool
        self._place = place
        self._connection = connection
        self._is_left = False
        self._read_seconds = read_seconds

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it travels."""
        while chunk := await self._connection.receive(self._read_seconds):
            if len(chunk) <= PIECE_BYTES:
                yield chunk
            else:
                for start in range(0, len(chunk), PIECE_BYTES):
                    yield chunk[start : start + PIECE_BYTES]

    async def discard(self) -> None:
        """Read no more of it. Once or again: by then the connection may be somebody else's."""
        if not self._is_left:
            self._is_left = True
            self._pool.give_back(self._place, self._connection)


class Transport:
    """Sends requests and opens their answers, on one event loop."""

    def __init__(self, policy: Policy, connections: int) -> None:
        self._policy = policy
        self._connector = Connector(policy)
        self._pool = ConnectionPool(connections)
        self._end = _closing_with_loop(self._pool)
        with suppress(StopIteration):
            self._end.__anext__().send(None)

    async def open(self, request: Request, limits: Limits, progress: Progress) -> WireResponse:
        """Send a request and return its answer once the headers are there."""
        address, timeouts = request.address, limits.timeouts
        proxy = _proxy_for(address, self._policy.proxy)
        place = address.scheme, address.host, address.port, proxy
        connect = partial(self._connector.connect, address, proxy, timeouts)
        head = _head(request, proxy)
        connection = await self._pool.lend(place, connect, timeouts["pool"])
        progress.sent = True
        try:
            await connection.send(request.method, head, request.body, timeouts, limits.header_bytes)
        except HeadTooLarge:
            problem = headers_too_large(limits, request)
        except BaseException:
            self._pool.give_back(place, connection)
            raise
        else:
            return WireResponse(self._pool, place, connection, timeouts["read"])
        self._pool.give_back(place, connection)
        raise problem

    async def aclose(self) -> None:
        """Close all connections."""
        self._pool.close()
        await asyncio.sleep(0)  # in which the loop lets go of them


async def _closing_with_loop(pool: ConnectionPool) -> AsyncGenerator[None, None]:
    """Begun, and not gone on with: a loop that ends in order, as that of `asyncio.run`, ends those first.

    After that nobody could: what closes a connection is the loop's to do.
    """
    try:
        yield
    finally:
        pool.close()


def _head(request: Request, proxy: Proxy | None) -> bytes:
    """The request up to its body, as it is sent."""
    address = request.address
    target, proof = address.target, ""
    if proxy is not None and address.scheme == "http":
        host = f"[{address.host}]" if ":" in address.host else address.host
        target, proof = f"http://{host}:{address.port}{target}", proxy.header.decode("latin-1")
    lines = [f"{request.method} {target} HTTP/1.1\r\nHost: {address.authority}\r\n{proof}"]
    lines += [f"{_title(name)}: {value}\r\n" for name, value in request.headers.items()]
    if request.body or request.method in _WITH_BODY:
        lines.append(f"Content-Length: {len(request.body)}\r\n")
    lines.append("\r\n")
    return "".join(lines).encode("latin-1")


@lru_cache(maxsize=512)
def _title(name: str) -> str:
    """The name of a header as most write it."""
    return name.title()


def _proxy_for(address: Address, setting: str | None) -> Proxy | None:
    """The proxy that the policy wants for an address."""
    url = setting
    if setting == "environment":
        url = None if proxy_bypass(address.host) else getproxies().get(address.scheme)
    return proxy_of(url) if url else None
