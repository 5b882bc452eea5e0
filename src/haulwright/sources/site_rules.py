"""What sites ask of robots, as a source obeys it: read through its own gate, kept for a day, asked before each page."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

from haulwright.client.context import Context, current
from haulwright.clock import SECOND
from haulwright.sources.http.address import Address
from haulwright.sources.http.request import DEFAULT_HEADERS, Headers, Params, build_request
from haulwright.sources.robots import Disallowed, Robots

if TYPE_CHECKING:
    from haulwright.sources.source import Source

REMEMBERED_SECONDS: Final = 300.0
"""How long a process goes by the rules that it has read, without a look at what is kept."""
KEPT_SECONDS: Final = 86_400.0 - REMEMBERED_SECONDS
"""How long the file is kept for everybody: with the above a day, as RFC 9309 allows."""
MOST_SITES: Final = 1_000
"""Of so many sites the rules are remembered."""
PATH: Final = "/robots.txt"
ACTOR: Final = "robots.txt"
"""Who sets the interval that a site asks for, as `haulwright source show` tells."""


class SiteRules:
    """The rules of the sites behind one source."""

    def __init__(self, source: Source, headers: Headers | None) -> None:
        self._source = source
        named = {name.lower(): str(value) for name, value in (headers or {}).items()}
        self._agent = named.get("user-agent", DEFAULT_HEADERS["user-agent"])
        self._known: dict[tuple[str, str, int], tuple[Robots, float]] = {}

    async def acheck(self, url: str, params: Params | None = None) -> None:
        """Return where a site lets robots have an address; raise Disallowed where it does not."""
        address = build_request("GET", url, defaults={}, credential=None, params=params).address
        if address.target == PATH:
            return
        robots = await self._of(address)
        if not robots.allows(address.url, self._agent):
            raise Disallowed(address.place, robots.rule_against(address.url, self._agent))

    async def _of(self, address: Address) -> Robots:
        """The rules of the site that an address is of."""
        robots, until = self._known.get(address.origin, (None, 0.0))
        if robots is not None and time.monotonic() < until:
            return robots
        robots = await self._read(address)
        self._known.pop(address.origin, None)
        self._known[address.origin] = (robots, time.monotonic() + REMEMBERED_SECONDS)
        if len(self._known) > MOST_SITES:
            self._known.pop(next(iter(self._known)), None)
        return robots

    async def _read(self, address: Address) -> Robots:
        """Ask the site, or what is kept of it. A server that fails allows nothing for now: that is raised."""
        place = f"{address.scheme}://{address.authority}{PATH}"
        scope = f"robots\n{self._source.key}"  # the same for all tenants
        reply = await self._source.http.aget(place, scope=scope, ttl=KEPT_SECONDS, keep_missing=True)
        robots = Robots.parse(reply.body, reply.status)
        if robots.allows_nothing_for_now:
            reply.raise_for_status()
        delay = robots.crawl_delay(self._agent)
        if delay:
            await asyncio.to_thread(self._keep_apart, round(delay * SECOND), current.get())
        return robots

    def _keep_apart(self, interval_us: int, running: Context | None) -> None:
        """Take the delay of a site as the interval of the source, where that is longer. A person has the last word."""
        sources = self._source.known_to(running).sources
        row = sources.get(self._source.key)
        is_said = "min_interval_us" in row.overridden and row.overridden_by != ACTOR
        is_kept = interval_us <= row.figures.interval_us and row.figures.burst == 1
        if not is_said and not is_kept:
            sources.override(self._source.key, {"min_interval_us": interval_us, "burst": 1}, actor=ACTOR)
