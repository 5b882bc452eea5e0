"""The hosts of feeds: each a source of its own, so that no host is asked too often, whoever's feeds it has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from haulwright import Source
from haulwright.application.private_hosts import policy_of
from haulwright.apps.brief.settings import BriefSettings
from haulwright.engine.source import source_key, source_limits
from haulwright.sources.http import Limits
from haulwright.sources.http.shared_client import SharedClient

if TYPE_CHECKING:
    from haulwright import Haulwright

NAME: Final = "feeds"
HOSTS_REMEMBERED: Final = 1_000
ACCEPT: Final = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, "
    "application/xml;q=0.8, text/xml;q=0.8, */*;q=0.1"
)
LIMITS: Final = Limits(total="90 s", body_bytes=16 * 1024 * 1024, wire_bytes=16 * 1024 * 1024)
"""What one body may cost. A feed that is larger is refused before it is read to its end."""


class Sites:
    """The sources of all hosts, made when they are first asked."""

    def __init__(self, app: Haulwright, figures: BriefSettings) -> None:
        self._app = app
        self._policy = policy_of(figures.private_hosts)
        self._source_limits = source_limits(
            rate=figures.feed_rate, burst=figures.feed_burst, concurrency=figures.feed_concurrency
        )
        self._sources: dict[str, tuple[Source, SharedClient]] = {}

    @asynccontextmanager
    async def at(self, url: str) -> AsyncIterator[Source]:
        """The source of the host of an address, for as long as it is entered."""
        source, client = self._source(urlsplit(url).netloc.rpartition("@")[2])
        async with client.enter():
            yield source

    def _source(self, host: str) -> tuple[Source, SharedClient]:
        entry = self._sources.get(host)
        if entry is None:
            if len(self._sources) >= HOSTS_REMEMBERED:
                self._sources.clear()
            key = source_key(NAME, host)
            source = Source(
                self._app, key, self._source_limits, limits=LIMITS, policy=self._policy, headers={"Accept": ACCEPT}
            )
            entry = self._sources[host] = (source, SharedClient(source.http))
        return entry
