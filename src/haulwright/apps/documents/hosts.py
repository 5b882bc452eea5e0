"""The hosts that documents come from, each behind a gate of its own that the whole fleet shares."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from haulwright.application.private_hosts import policy_of, require_public
from haulwright.apps.documents.identity import host_of
from haulwright.engine.source import source_key, source_limits
from haulwright.sources.http import Http, Limits
from haulwright.sources.http.shared_client import SharedClient
from haulwright.sources.source import Source

if TYPE_CHECKING:
    from haulwright.apps.documents.settings import DocumentSettings
    from haulwright.client.app import Haulwright

SOURCE: Final = "document-host"
REMEMBERED: Final = 1_000
LONGEST: Final = "6 h"
"""How long one download may take."""


class Hosts:
    """Whoever speaks to a host enters here. Addresses come from manifests: only public ones are gone to."""

    def __init__(self, app: Haulwright, said: DocumentSettings) -> None:
        self._app = app
        self._allowed = source_limits(rate=said.host_rate, burst=said.host_burst, concurrency=said.host_concurrency)
        self._policy = policy_of(said.private_hosts)
        self.limits = Limits(total=LONGEST, body_bytes=said.largest_bytes, wire_bytes=said.largest_bytes)
        self._doors: dict[str, SharedClient] = {}

    def require_public(self, url: str) -> None:
        """Refuse an address that is no public one by its looks, and that nobody allowed."""
        require_public(url, self._policy, "HAULWRIGHT_DOCUMENTS_PRIVATE_HOSTS")

    @asynccontextmanager
    async def open(self, url: str) -> AsyncIterator[Http]:
        """The client for an address, for as long as it is entered."""
        async with self._door(host_of(url)).enter() as http:
            yield http

    def _door(self, host: str) -> SharedClient:
        known = self._doors.get(host)
        if known is None:
            if len(self._doors) >= REMEMBERED:
                self._doors.clear()
            source = Source(self._app, source_key(SOURCE, host), self._allowed, policy=self._policy, limits=self.limits)
            known = self._doors[host] = SharedClient(source.http)
        return known
