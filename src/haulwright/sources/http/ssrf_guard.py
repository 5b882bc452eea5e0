"""The guard: which network addresses a client may connect to.

A name is looked up here, every address that it has is checked, and the connection goes to a checked address, so that an
answer of DNS that changes afterwards cannot matter.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from haulwright.errors import InvalidValue
from haulwright.redaction import redact
from haulwright.sources.http.classify import Blocked, NotSent
from haulwright.sources.http.policy import Network, Policy

IP = IPv4Address | IPv6Address

LOCAL: Final = frozenset({"private", "loopback", "shared"})
"""What `Policy(private=True)` opens. Nothing of a network's own lives at the others, except what must not be asked."""
MOST_ADDRESSES: Final = 64
"""A name with more than this is an attack."""

# The special-purpose registries of IANA (RFC 6890 and its successors), the narrower before the wider.
_SPECIAL: Final[tuple[tuple[Network, str], ...]] = tuple(
    (ip_network(block), kind)
    for kind, blocks in (
        ("unspecified", "0.0.0.0/8 ::/128"),
        ("loopback", "127.0.0.0/8 ::1/128"),
        ("private", "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7"),
        ("shared", "100.64.0.0/10"),
        ("link-local", "169.254.0.0/16 fe80::/10 fec0::/10"),
        ("multicast", "224.0.0.0/4 ff00::/8"),
        (
            "reserved",
            "192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4",
        ),
        ("reserved", "2001::/23 2001:db8::/32 3fff::/20"),
    )
    for block in blocks.split()
)
_GLOBAL_V6: Final = IPv6Network("2000::/3")
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_6TO4: Final = IPv6Network("2002::/16")
_HINT: Final = (
    "Where that is meant, write app.source(..., private=True), or policy=haulwright.Policy(allow=('{host}',)) for this "
    "host alone, or set HAULWRIGHT_PRIVATE_HOSTS={host} for all sources of yours."
)


def kind_of(address: IP) -> str:
    """Return what an address is: "public", or the reason why it is not. A wrapped IPv4 address is judged by itself."""
    if isinstance(address, IPv6Address):
        if inner := _wrapped(address):
            return kind_of(inner)
        if address.scope_id:
            return "link-local"
    for network, kind in _SPECIAL:
        if address.version == network.version and address in network:
            return kind
    return "public" if address.version == 4 or address in _GLOBAL_V6 else "reserved"  # noqa: PLR2004  the family


def _wrapped(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that packets to this one end up at: mapped, translated (NAT64) or tunnelled (6to4)."""
    if address in _MAPPED or address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    if address in _6TO4:
        return IPv4Address((int(address) >> 80) & 0xFFFF_FFFF)
    return None


class Guard:
    """Says where a client may connect to."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._networks = policy.networks
        self._hosts = policy.hosts

    def check_scheme(self, scheme: str) -> None:
        """Block a scheme that the policy does not list."""
        if scheme not in self._policy.schemes:
            raise Blocked(f"{scheme} is not among the schemes that the policy allows.")

    def check_literal(self, host: str) -> None:
        """Block a host that is itself a forbidden address, or a name of this machine, before anything is looked up."""
        address = _literal(host)
        if address is not None:
            self.check(host, address)
        elif (host == "localhost" or host.endswith(".localhost")) and not (self._opens_local(host) or self._networks):
            raise self._blocked(host, "loopback")

    def check(self, host: str, address: IP) -> None:
        """Block one address of a host unless it is public or allowed."""
        if any(address.version == network.version and address in network for network in self._networks):
            return
        kind = kind_of(address)
        if kind != "public" and not (kind in LOCAL and self._opens_local(host)):
            raise self._blocked(host, kind)

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """Return the addresses of a host, each of them checked; one forbidden address blocks the host."""
        if (address := _literal(host)) is not None:
            texts: Sequence[str] = (str(address),)
        else:
            texts = await (self._policy.resolver or _look_up)(host, port)
        if not texts or len(texts) > MOST_ADDRESSES:
            raise NotSent(f"{host} has {'no address' if not texts else 'more addresses than a host can have'}.")
        addresses = tuple(dict.fromkeys(_parsed(host, text) for text in texts))
        for each in addresses:
            self.check(host, each)
        return tuple(map(str, addresses))

    def _opens_local(self, host: str) -> bool:
        """Whether this host may have a local address."""
        return self._policy.private or host in self._hosts

    @staticmethod
    def _blocked(host: str, kind: str) -> Blocked:
        return Blocked(
            f"{host} is a {kind} address, which this client may not connect to.", hint=_HINT.format(host=host)
        )


async def _look_up(host: str, port: int) -> Sequence[str]:
    """Ask the system for every address of a name."""
    try:
        entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        why = str(problem)
    else:
        return [str(entry[4][0]) for entry in entries]
    raise NotSent(f"The name {host} could not be looked up: {redact(why)}.")


@lru_cache(maxsize=1_024)
def _literal(host: str) -> IP | None:
    """The address that a host is, None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def _parsed(host: str, text: str) -> IP:
    """The address in an answer of the resolver."""
    try:
        return ip_address(text)
    except ValueError:
        raise InvalidValue("address", text, f"of {host} is no IP address") from None
