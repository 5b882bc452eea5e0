"""The hosts that documents come from, each behind a gate of its own that the whole fleet shares."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from penstock.apps.addresses import policy_of, require_public
from penstock.apps.documents.identity import host_of
from penstock.engine.source import figures, source_key
from penstock.sources.http import Http, Limits
from penstock.sources.http.last_out import LastOut
from penstock.sources.source import Source

if TYPE_CHECKING:
    from penstock.apps.documents.figures import Figures
    from penstock.client.app import Penstock

SOURCE: Final = "document-host"
REMEMBERED: Final = 1_000
LONGEST: Final = "6 h"
"""How long one download may take."""


class Hosts:
    """Whoever speaks to a host enters here. Addresses come from manifests: only public ones are gone to."""

    def __init__(self, app: Penstock, said: Figures) -> None:
        self._app = app
        self._allowed = figures(rate=said.host_rate, burst=said.host_burst, concurrency=said.host_concurrency)
        self._policy = policy_of(said.private_hosts)
        self.limits = Limits(total=LONGEST, body_bytes=said.largest_bytes, wire_bytes=said.largest_bytes)
        self._doors: dict[str, LastOut] = {}

    def require_public(self, url: str) -> None:
        """Refuse an address that is no public one by its looks, and that nobody allowed."""
        require_public(url, self._policy, "PENSTOCK_DOCUMENTS_PRIVATE_HOSTS")

    @asynccontextmanager
    async def open(self, url: str) -> AsyncIterator[Http]:
        """The client for an address, for as long as it is entered."""
        async with self._door(host_of(url)).enter() as http:
            yield http

    def _door(self, host: str) -> LastOut:
        known = self._doors.get(host)
        if known is None:
            if len(self._doors) >= REMEMBERED:
                self._doors.clear()
            source = Source(self._app, source_key(SOURCE, host), self._allowed, policy=self._policy, limits=self.limits)
            known = self._doors[host] = LastOut(source.http)
        return known
