"""Policy: where a client may go."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final, Self
from urllib.parse import urlsplit

from haulwright.errors import InvalidValue
from haulwright.sources.tools.hosts import ascii_host

Network = IPv4Network | IPv6Network
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Given a host and a port, every address that the name has."""

SCHEMES: Final = frozenset({"http", "https"})
_HINT: Final = "List host names such as 'intranet.example' and networks such as '10.1.0.0/16'."


@dataclass(frozen=True, slots=True)
class Policy:
    """Where a client may go. Without a word, only to public addresses, by http or https, and without a proxy."""

    private: bool = False
    """Private, loopback and shared (CGNAT) addresses too. Link-local, multicast and reserved ones still not."""
    allow: tuple[str, ...] = ()
    """Hosts that may have such addresses, and networks that may be gone to whatever they are."""
    schemes: frozenset[str] = SCHEMES
    proxy: str | None = field(default=None, repr=False)
    """The proxy to go through; "environment" takes what HTTP_PROXY, HTTPS_PROXY and NO_PROXY say. Names are then the
    proxy's to look up: only what an address itself shows can be checked here."""
    resolver: Resolver | None = field(default=None, repr=False)
    """Looks names up instead of the system. What it answers is checked in the same way."""
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    """Whom to trust; without one, whom the system trusts."""

    @classmethod
    def for_address(cls, base_url: str) -> Self:
        """Public addresses only, unless the address that was configured is this very machine."""
        host = urlsplit(base_url).hostname or ""
        return cls(allow=(host,)) if _is_loopback(host) else cls()

    @classmethod
    def for_hosts(cls, hosts: str) -> Self:
        """Public addresses, and the hosts and networks that a setting names, comma separated."""
        return cls(allow=tuple(host.strip() for host in hosts.split(",") if host.strip()))

    def __post_init__(self) -> None:
        if not self.schemes or not self.schemes <= SCHEMES:
            raise InvalidValue("policy.schemes", sorted(self.schemes), "must be http, https or both")
        if isinstance(self.allow, str):
            raise InvalidValue("policy.allow", self.allow, "is one text, not a list of them", hint=_HINT)
        for entry in self.allow:
            if not entry or any(mark in entry for mark in "@?#* ") or ("/" in entry and _network(entry) is None):
                raise InvalidValue("policy.allow", entry, "is neither a host nor a network", hint=_HINT)

    @property
    def networks(self) -> tuple[Network, ...]:
        """The networks among what is allowed."""
        return tuple(network for entry in self.allow if (network := _network(entry)))

    @property
    def hosts(self) -> frozenset[str]:
        """The host names among what is allowed."""
        names = (entry for entry in self.allow if _network(entry) is None)
        return frozenset((ascii_host(name) or name).lower().removesuffix(".") for name in names)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _network(entry: str) -> Network | None:
    """The network that an entry stands for, a single address being the smallest; None for a host name."""
    try:
        return ip_network(entry)
    except ValueError:
        return None
