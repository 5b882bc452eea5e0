"""Opens connections: to an address that the guard has checked, or to the proxy of the policy, and nowhere else."""

from __future__ import annotations

import asyncio
import socket
from base64 import b64encode
from contextlib import suppress
from functools import cache
from ssl import SSLContext, SSLError
from typing import Final, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from haulwright.errors import InvalidValue
from haulwright.extras import needs_extra
from haulwright.sources.http.address import Address
from haulwright.sources.http.connection import HttpConnection
from haulwright.sources.http.network_errors import ConnectError, ConnectTimeout, NetworkError, ProxyError
from haulwright.sources.http.policy import Policy
from haulwright.sources.http.response_parser import HeadTooLarge
from haulwright.sources.http.secret import Secret
from haulwright.sources.http.ssrf_guard import Guard

MOST_TRIED_ADDRESSES: Final = 4
PROXY_HEAD_BYTES: Final = 16_384
_SUCCESSES: Final = range(200, 300)
_PROTOCOLS: Final = ["http/1.1"]
_PROXY_HINT: Final = "Write http://proxy.example:3128; in a user and password, %2F stands for a slash, %23 for #."


class Proxy(NamedTuple):
    """A proxy, and the header that proves who asks it."""

    scheme: str
    host: str
    port: int
    authorization: Secret | None

    @property
    def header(self) -> bytes:
        """The line that it is shown."""
        proof = self.authorization
        return b"" if proof is None else f"Proxy-Authorization: {proof.reveal()}\r\n".encode("latin-1")


class Connector:
    """Opens the connections of one client."""

    def __init__(self, policy: Policy) -> None:
        self._guard = Guard(policy)
        self._tls = policy.tls

    async def connect(self, address: Address, proxy: Proxy | None, timeouts: dict[str, float]) -> HttpConnection:
        """Connect to where a request goes, within the time-out of connecting."""
        host = address.host if proxy is None else proxy.host
        until = asyncio.get_running_loop().time() + timeouts["connect"]
        try:
            async with asyncio.timeout_at(until):
                if proxy is not None:
                    return await self._by_proxy(address, proxy, timeouts, until)
                return await self._straight(address, until)
        except TimeoutError:
            raise ConnectTimeout(f"to {host}") from None
        except (OSError, SSLError) as problem:
            raise ConnectError(str(problem)) from None

    async def _straight(self, address: Address, until: float) -> HttpConnection:
        """Look the name up, check all its addresses, and connect to the first of them that answers."""
        tls = self._context() if address.scheme == "https" else None
        checked = await self._guard.resolve(address.host, address.port)
        return await _connection_over(
            await _first(checked[:MOST_TRIED_ADDRESSES], address.port, until), address.host, tls
        )

    async def _by_proxy(
        self, address: Address, proxy: Proxy, timeouts: dict[str, float], until: float
    ) -> HttpConnection:
        """Connect to a proxy, and have it make a tunnel where the request is not for its eyes."""
        tls = self._context() if proxy.scheme == "https" else None
        entries = await asyncio.get_running_loop().getaddrinfo(proxy.host, proxy.port, type=socket.SOCK_STREAM)
        addresses = tuple(dict.fromkeys(str(entry[4][0]) for entry in entries))
        reached = await _first(addresses[:MOST_TRIED_ADDRESSES], proxy.port, until)
        connection = await _connection_over(reached, proxy.host, tls)
        if address.scheme == "https":
            try:
                await _tunnel(connection, address, proxy, timeouts)
                await connection.start_tls(self._context(), address.host, timeouts["connect"])
                _check_protocol(connection)
            except BaseException:
                connection.close()
                raise
        return connection

    def _context(self) -> SSLContext:
        """Whom to trust. A context of the caller's is not ours to change: what it offers, others may rely on."""
        return self._tls or _system_trust()


def proxy_of(url: str) -> Proxy:
    """The proxy of an address, its password remembered as a secret."""
    parts, port = _parts(url)
    if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname:
        shown = parts.scheme if parts else "an address that cannot be read"
        raise InvalidValue("policy.proxy", shown, "is no http proxy", hint=_PROXY_HINT)
    user, password = unquote(parts.username or ""), Secret(unquote(parts.password or ""))
    packed = Secret(b64encode(f"{user}:{password.reveal()}".encode()).decode())
    proof = Secret(f"Basic {packed.reveal()}") if user else None
    return Proxy(parts.scheme, parts.hostname, port or 3128, proof)


def _parts(url: str) -> tuple[SplitResult | None, int | None]:
    """The parts of a proxy's address, and its port. What cannot be read of it may be its password: nobody is shown."""
    with suppress(ValueError):
        parts = urlsplit(url if "//" in url else f"http://{url}")
        return parts, parts.port
    return None, None


async def _first(addresses: tuple[str, ...], port: int, until: float) -> socket.socket:
    """A socket that is connected to the first of these addresses that answers; the time is shared among them."""
    loop = asyncio.get_running_loop()
    for left, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
        one = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        one.setblocking(False)  # noqa: FBT003  the interface's
        try:
            async with asyncio.timeout((until - loop.time()) / left):
                await loop.sock_connect(one, (address, port))
        except BaseException as failure:
            one.close()
            if left == 1 or not isinstance(failure, OSError):  # a time-out is one too
                raise
        else:
            return one
    raise OSError("it has no address")


async def _connection_over(one: socket.socket, host: str, tls: SSLContext | None) -> HttpConnection:
    """A connection over this socket; with TLS the certificate must be of the host."""
    try:
        _, connection = await asyncio.get_running_loop().create_connection(
            HttpConnection, sock=one, ssl=tls, server_hostname=host if tls else None
        )
    except BaseException:
        one.close()
        raise
    _check_protocol(connection)
    return connection


def _check_protocol(connection: HttpConnection) -> None:
    """Refuse a connection whose two sides agreed on another protocol than ours, as a context of the caller's may."""
    tls = connection.transport.get_extra_info("ssl_object")
    protocol = tls.selected_alpn_protocol() if tls else None
    if protocol not in {None, *_PROTOCOLS}:
        connection.close()
        raise ConnectError(f"the context in policy.tls offers {protocol}; let it offer http/1.1 alone, or nothing")


async def _tunnel(connection: HttpConnection, address: Address, proxy: Proxy, timeouts: dict[str, float]) -> None:
    """Ask a proxy for a way through to this host."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    place = f"{host}:{address.port}".encode("ascii")
    head = b"CONNECT " + place + b" HTTP/1.1\r\nHost: " + place + b"\r\nAccept: */*\r\n" + proxy.header + b"\r\n"
    try:
        await connection.send("CONNECT", head, b"", timeouts, PROXY_HEAD_BYTES)
    except (NetworkError, HeadTooLarge):
        status = 0
    else:
        status = connection.answer.status
    if status not in _SUCCESSES or not connection.leave():
        raise ProxyError(f"it answered {status}" if status else "it answered nothing that can be understood")


@cache
def _system_trust() -> SSLContext:
    """Whom the system trusts; loading that takes longer than most requests."""
    with needs_extra("http", "A request"):
        import httpx2  # noqa: PLC0415  most requests of a test need no TLS

    context = httpx2.create_ssl_context(trust_env=False)
    context.set_alpn_protocols(_PROTOCOLS)
    return context
