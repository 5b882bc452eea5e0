"""The cache of a source: its answers are rows of the database, kept apart by tenant and credential."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Final

from haulwright.clock import SECOND
from haulwright.sources.http.cache_store import CacheEntry
from haulwright.stores.cache import CachedResponse, ResponseCache

HEAD_VERSION: Final = 1


class DatabaseCacheStore:
    """Keeps the answers of one source, off the event loop."""

    def __init__(self, key: str, cache: Callable[[], ResponseCache]) -> None:
        self._key = key
        self._cache = cache

    async def load(self, key: str) -> CacheEntry | None:
        """The answer kept under a key."""
        kept = await asyncio.to_thread(lambda: self._cache().load(key))
        return None if kept is None else _stored(kept)

    async def save(self, key: str, stored: CacheEntry) -> None:
        """Keep an answer in place of what was there."""
        await asyncio.to_thread(lambda: self._cache().save(key, self._key, _kept(stored)))

    async def forget(self, key: str) -> None:
        """Drop what is kept under a key, if anything."""
        await asyncio.to_thread(lambda: self._cache().forget(key))


def _kept(stored: CacheEntry) -> CachedResponse:
    head = {"v": HEAD_VERSION, "headers": stored.headers, "url": stored.url, "vary": stored.vary}
    times = (stored.requested_at, stored.answered_at, stored.fresh_until, stored.keep_until)
    return CachedResponse(stored.status, json.dumps(head), stored.body, *(round(time * SECOND) for time in times))


def _stored(kept: CachedResponse) -> CacheEntry | None:
    """The answer as it was saved; one that another version wrote is as good as none."""
    head = json.loads(kept.head)
    if head.get("v") != HEAD_VERSION:
        return None
    times = (kept.requested_at, kept.answered_at, kept.fresh_until, kept.keep_until)
    requested_at, answered_at, fresh_until, keep_until = (time / SECOND for time in times)
    return CacheEntry(
        kept.status, head["headers"], kept.body, head["url"], requested_at, answered_at, fresh_until, keep_until,
        tuple(head["vary"]),
    )  # fmt: skip
