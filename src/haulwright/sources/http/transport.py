"""The connections of one event loop. Each of them goes to an address that the guard has checked.

This is httpcore2, the transport of httpx2, by its public interface: httpx2's own client would keep cookies, log whole
addresses, and offers no place for the check between a name and its connection.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cache
from ssl import SSLContext
from typing import Any, Final
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from haulwright.extras import needs_extra

with needs_extra("http", "A request"):
    import httpcore2
    import httpx2

from haulwright.errors import InvalidValue
from haulwright.sources.http.address import Address
from haulwright.sources.http.classify import TooLarge
from haulwright.sources.http.limits import Limits
from haulwright.sources.http.policy import Policy
from haulwright.sources.http.request import Request
from haulwright.sources.http.secret import Secret
from haulwright.sources.http.ssrf_guard import Guard

MOST_CONNECTIONS: Final = 100
MOST_IDLE_CONNECTIONS: Final = 20
IDLE_SECONDS: Final = 4.0
"""Less than the five seconds after which many servers hang up: no connection is used while it is being closed."""
MOST_TRIED_ADDRESSES: Final = 4

FAILURES: Final = (
    httpcore2.NetworkError,
    httpcore2.TimeoutException,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    OSError,
)
"""What a call can fail with on the network."""


@dataclass(slots=True)
class Progress:
    """How far a request came."""

    sent: bool = False
    """The first byte of it may have left."""

    async def trace(self, event: str, _info: dict[str, Any]) -> None:
        """Told by the transport before each of its steps."""
        if event.endswith("send_request_headers.started"):
            self.sent = True


@dataclass(slots=True)
class WireResponse:
    """An answer whose body is still on its way."""

    status: int
    headers: dict[str, str]
    response: httpcore2.Response = field(repr=False)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it travels."""
        async with aclosing(self.response.aiter_stream()) as stream:
            async for chunk in stream:
                yield chunk

    async def discard(self) -> None:
        """Read no more of it."""
        await self.response.aclose()


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to the addresses of a name that the guard has checked, and to nothing else."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  the interface's
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Look the name up, check all its addresses, and connect to the first of them that answers."""
        clock = asyncio.get_running_loop().time
        deadline = None if timeout is None else clock() + timeout
        try:
            async with asyncio.timeout_at(deadline):
                addresses = await self._guard.resolve(host, port)
        except TimeoutError:
            raise httpcore2.ConnectTimeout(f"looking {host} up") from None
        tried = addresses[:MOST_TRIED_ADDRESSES]
        for left, address in zip(range(len(tried), 0, -1), tried, strict=True):
            share = None if deadline is None else max(0.001, (deadline - clock()) / left)
            try:
                return await self._network.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if left == 1:
                    raise
        raise httpcore2.ConnectError(f"{host} has no address")

    async def sleep(self, seconds: float) -> None:
        """Wait, for the transport's own sake."""
        await asyncio.sleep(seconds)


class Transport:
    """Sends requests and opens their answers."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._backend = CheckedBackend(Guard(policy))
        self._pools: dict[str | None, httpcore2.AsyncConnectionPool] = {}
        _quieten()

    async def open(self, request: Request, limits: Limits, progress: Progress) -> WireResponse:
        """Send a request and return its answer once the headers are there."""
        address = request.address
        wire_request = httpcore2.Request(
            request.method,
            httpcore2.URL(scheme=address.scheme, host=address.host, port=address.port, target=address.target),
            headers=_wire_headers(request),
            content=request.body,
            extensions={"timeout": limits.timeouts, "trace": progress.trace},
        )
        response = await self._pool(_proxy_for(address, self._policy.proxy)).handle_async_request(wire_request)
        if sum(len(name) + len(value) for name, value in response.headers) > limits.header_bytes:
            await response.aclose()
            raise TooLarge(f"{request.what}: the headers have more than {limits.header_bytes} bytes.")
        return WireResponse(response.status, _joined(response.headers), response)

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            await pool.aclose()
        self._pools.clear()

    def _pool(self, proxy: str | None) -> httpcore2.AsyncConnectionPool:
        """The connections that go straight, or through this proxy."""
        if proxy not in self._pools:
            self._pools[proxy] = httpcore2.AsyncConnectionPool(
                ssl_context=self._policy.tls or _system_trust(),
                proxy=_proxy(proxy) if proxy else None,
                max_connections=MOST_CONNECTIONS,
                max_keepalive_connections=MOST_IDLE_CONNECTIONS,
                keepalive_expiry=IDLE_SECONDS,
                network_backend=None if proxy else self._backend,
            )
        return self._pools[proxy]


@cache
def _system_trust() -> SSLContext:
    """Whom the system trusts; loading that takes longer than most requests."""
    return httpx2.create_ssl_context(trust_env=False)


def _wire_headers(request: Request) -> list[tuple[bytes, bytes]]:
    """The headers as they are sent, the client's own first."""
    framing = (
        {"content-length": str(len(request.body))} if request.body or request.method in {"POST", "PUT", "PATCH"} else {}
    )
    named = {"host": request.address.authority} | request.headers | framing
    return [(name.title().encode("ascii"), value.encode("latin-1")) for name, value in named.items()]


def _joined(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers by name. Cookies are left out: nobody here keeps them, and they are secrets."""
    joined: dict[str, str] = {}
    for name, value in ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in raw):
        if not name.startswith("set-cookie"):
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined


def _proxy_for(address: Address, setting: str | None) -> str | None:
    """The proxy that the policy wants for an address."""
    if setting != "environment":
        return setting
    return None if proxy_bypass(address.host) else getproxies().get(address.scheme)


def _proxy(url: str) -> httpcore2.Proxy:
    """The proxy of an address, its password remembered as a secret."""
    parts = urlsplit(url if "//" in url else f"http://{url}")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidValue("policy.proxy", parts.scheme, "is no http proxy", hint="Write http://proxy.example:3128.")
    user, password = unquote(parts.username or ""), Secret(unquote(parts.password or ""))
    place = f"{parts.scheme}://{parts.hostname}:{parts.port or 3128}"
    return httpcore2.Proxy(place, auth=(user, password.reveal()) if user else None)


class _NamesOnly(logging.Filter):
    """Leaves of the transport's debug lines the name of the step: the rest shows headers, with their secrets."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = str(record.msg).partition(" ")[0], ()
        return True


_NAMES_ONLY: Final = _NamesOnly()


def _quieten() -> None:
    """Keep headers out of the logs, whatever their level is set to."""
    for name in ("connection", "http11", "http2", "proxy", "socks"):
        logging.getLogger(f"httpcore2.{name}").addFilter(_NAMES_ONLY)
