"""The hosts that documents come from, each behind a gate of its own that the whole fleet shares."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from haulwright import Source
from haulwright.application.private_hosts import policy_of, require_public
from haulwright.apps.documents.identity import host_of
from haulwright.engine.source import source_key, source_limits
from haulwright.sources.http import Http, Limits
from haulwright.sources.http.shared_client import SharedClient

if TYPE_CHECKING:
    from haulwright import Haulwright
    from haulwright.apps.documents.settings import DocumentSettings

SOURCE: Final = "document-host"
REMEMBERED: Final = 1_000
LONGEST: Final = "6 h"
"""How long one download may take."""


class Hosts:
    """Whoever speaks to a host enters here. Addresses come from manifests: only public ones are gone to."""

    def __init__(self, app: Haulwright, settings: DocumentSettings) -> None:
        self._app = app
        self._source_limits = source_limits(
            rate=settings.host_rate, burst=settings.host_burst, concurrency=settings.host_concurrency
        )
        self._policy = policy_of(settings.private_hosts)
        self.limits = Limits(total=LONGEST, body_bytes=settings.largest_bytes, wire_bytes=settings.largest_bytes)
        self._clients: dict[str, SharedClient] = {}

    def require_public(self, url: str) -> None:
        """Refuse an address that is no public one by its looks, and that nobody allowed."""
        require_public(url, self._policy, "HAULWRIGHT_DOCUMENTS_PRIVATE_HOSTS")

    @asynccontextmanager
    async def open(self, url: str) -> AsyncIterator[Http]:
        """The client for an address, for as long as it is entered."""
        async with self._client(host_of(url)).enter() as http:
            yield http

    def _client(self, host: str) -> SharedClient:
        client = self._clients.get(host)
        if client is None:
            if len(self._clients) >= REMEMBERED:
                self._clients.clear()
            source = Source(
                self._app, source_key(SOURCE, host), self._source_limits, policy=self._policy, limits=self.limits
            )
            client = self._clients[host] = SharedClient(source.http)
        return client
