"""Addresses: a URL is parsed once, and what was parsed is what is checked, connected to, and shown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final
from urllib.parse import unquote

from haulwright.errors import InvalidValue
from haulwright.extras import needs_extra
from haulwright.sources.http.classify import Blocked
from haulwright.sources.http.secret import Credential, Secret, remember_parameters, shown_place, shown_url
from haulwright.sources.tools.hosts import with_ascii_host

LONGEST_URL_CHARS: Final = 8_192
LARGEST_PORT: Final = 65_535
LONGEST_HOST_CHARS: Final = 253

_HINT: Final = "Give an absolute address such as https://shop.example/item?id=7."
_PORTS: Final = {"http": 80, "https": 443}
_HOST: Final = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_ODD: Final = re.compile(r"[\x00-\x1f\x7f\\]")
# What most addresses are: nothing to encode or to decode, no dot segments, no user. Nothing else becomes of such a one.
_PLAIN: Final = re.compile(
    r"(https?)://([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::([1-9][0-9]{0,4}))?"
    r"((?:/(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*)?)+(?:\?[A-Za-z0-9._~=&:,/-]+)?)"
)
_NUMBER: Final = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a request goes. It holds the whole query, so its repr and text are the ones that may be shown."""

    scheme: str
    host: str
    """In lower case, as DNS and TLS know it, without a trailing dot; an IPv6 address without brackets."""
    port: int
    target: str
    """Path and query, encoded."""
    credential: Credential | None = None
    """What stood before the @."""

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port: credentials are for one of these."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """Host and port, as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole address, secrets included: for keys and joins, never for eyes."""
        return f"{self.scheme}://{self.authority}{self.target}"

    @property
    def shown(self) -> str:
        """The address without secrets."""
        return shown_url(self.url)

    @property
    def place(self) -> str:
        """The address as errors name it, without its query."""
        return shown_place(self.url)

    def __str__(self) -> str:
        return self.shown

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"


def parse(url: str, params: Iterable[tuple[str, str]] = (), *, base: Address | None = None) -> Address:
    """Return where a URL leads, relative to `base` if there is one; refuse what is none, block what hides its host."""
    pairs = list(params)
    if len(url) <= LONGEST_URL_CHARS and not pairs and (plain := _PLAIN.fullmatch(url)):
        scheme, host, port, target = plain.groups()
        return _address(url, (scheme, host, int(port) if port else None), target)
    with needs_extra("http", "A request"):
        import httpx2  # noqa: PLC0415  commands that send nothing start without it

    if len(url) > LONGEST_URL_CHARS or _ODD.search(url.strip()):
        raise _refusal(url, "is no address of ordinary length without control characters and backslashes")
    try:
        text = with_ascii_host(url.strip())
        parsed = httpx2.URL(base.url).join(text) if base else httpx2.URL(text)
        if pairs:
            parsed = parsed.copy_with(params=[*parsed.params.multi_items(), *pairs])
        host, target = parsed.raw_host.decode("ascii").lower(), parsed.raw_path.decode("ascii")
    except (httpx2.InvalidURL, ValueError, TypeError):
        host = target = ""
        parsed = None
    if parsed is not None and parsed.scheme and parsed.scheme not in _PORTS:
        raise Blocked(f"{_shown(url)} is neither http nor https.", hint=_HINT)
    if parsed is None or not host or not parsed.scheme:
        raise _refusal(url, "cannot be read as an absolute address")
    return _address(url, (parsed.scheme, host, parsed.port), target, parsed.userinfo.decode("latin-1"))


def _address(url: str, origin: tuple[str, str, int | None], target: str, userinfo: str = "") -> Address:
    """Return the address that these parts make, or refuse a host or a port that none can have."""
    scheme, host, given = origin
    port = _PORTS[scheme] if given is None else given
    if not 1 <= port <= LARGEST_PORT:
        raise _refusal(url, f"has no port from 1 to {LARGEST_PORT}")
    if query := target.partition("?")[2]:
        remember_parameters(query)
    return Address(scheme, _host(host, url), port, target, _userinfo(userinfo))


def _host(host: str, url: str) -> str:
    """Return the host in its one spelling; numbers in disguise, zones and odd characters are blocked."""
    if ":" in host:
        return _ipv6(host, url)
    host = host.removesuffix(".")
    if len(host) > LONGEST_HOST_CHARS or not _HOST.fullmatch(host):
        raise Blocked(f"{_shown(url)} has no host that a name can lead to.", hint=_HINT)
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        try:
            return str(ip_address(host))
        except ValueError:
            hint = "Write an IPv4 address as four decimal numbers."
        raise Blocked(f"{_shown(url)} writes its address in a form that hides it.", hint=hint)
    return host


def _ipv6(host: str, url: str) -> str:
    """Return an IPv6 address in its one spelling, None of it a zone."""
    try:
        literal = IPv6Address(host)
    except ValueError:
        literal = None
    if literal is None or literal.scope_id:
        raise Blocked(f"{_shown(url)} has no IPv6 address that can be checked.", hint="Leave the zone out.")
    return str(literal)


def _userinfo(text: str) -> Credential | None:
    """Return what stood before the @ as the credential that it is."""
    user, _, password = text.partition(":")
    return Credential.basic(unquote(user), Secret(unquote(password))) if text else None


def _refusal(url: str, why: str) -> InvalidValue:
    """Return the error for what is no address, showing no secrets of it."""
    return InvalidValue("url", _shown(url), why, hint=_HINT)


def _shown(url: str) -> str:
    """Return what may be shown of a text that is no proper address: nothing where a password may stand in it."""
    return "an address with an @, which is not shown" if "@" in url else shown_place(url)
