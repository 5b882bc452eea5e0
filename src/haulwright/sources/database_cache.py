"""The cache of a source: its answers are rows of the database, kept apart by tenant and credential."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Final

from haulwright.client.context import current
from haulwright.clock import SECOND
from haulwright.sources.grouped_calls import GroupedCalls
from haulwright.sources.http.cache_store import CacheEntry
from haulwright.stores.cache import CachedResponse, ResponseCache

HEAD_VERSION: Final = 1


class DatabaseCacheStore:
    """Keeps the answers of one source, off the event loop."""

    def __init__(self, key: str, cache: Callable[[], ResponseCache]) -> None:
        self._key = key
        self._cache = cache
        self._looks: GroupedCalls[tuple[ResponseCache, str], bool] = GroupedCalls(_are_kept)

    async def load(self, key: str) -> CacheEntry | None:
        """The answer kept under a key. Mostly there is none: runs that come together look for that once."""
        if current.get() is not None and not await self._looks.call((self._cache(), key)):
            return None
        kept = await asyncio.to_thread(lambda: self._cache().load(key))
        return None if kept is None else _stored(kept)

    async def save(self, key: str, stored: CacheEntry) -> None:
        """Keep an answer in place of what was there."""
        await asyncio.to_thread(lambda: self._cache().save(key, self._key, _kept(stored)))

    async def take_renewal(self, key: str, stored: CacheEntry, until: float) -> bool:
        """Mark an answer as being renewed; True for one of the whole fleet."""
        times = (round(stored.fresh_until * SECOND), round(until * SECOND))
        return await asyncio.to_thread(lambda: self._cache().take_renewal(key, *times))

    async def forget(self, key: str) -> None:
        """Drop what is kept under a key, if anything."""
        await asyncio.to_thread(lambda: self._cache().forget(key))


def _are_kept(looks: Sequence[tuple[ResponseCache, str]]) -> list[bool]:
    """Whether there is something under each key."""
    kept = {
        cache: cache.kept([key for other, key in looks if other is cache]) for cache in {cache for cache, _ in looks}
    }
    return [key in kept[cache] for cache, key in looks]


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
