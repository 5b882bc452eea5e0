"""Where answers are kept. Who keeps them implements `Store`; without one nothing is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One kept answer. It holds no cookies, and its address no secrets."""

    status: int
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes
    url: str
    """As it may be shown."""
    requested_at: float
    """When the request left, in seconds since 1970."""
    answered_at: float
    """When the answer was there."""
    fresh_until: float
    """Until then it is served without asking, or somebody is renewing it."""
    keep_until: float
    """After that nobody needs it any more: prune it."""
    vary: tuple[str, ...] = ()
    """Only on a signpost, which has no answer itself: the request headers that the answers of its URL depend on."""

    @property
    def is_signpost(self) -> bool:
        """Whether this only says which headers the key of the answer is made of."""
        return bool(self.vary)


class CacheStore(Protocol):
    """Keeps answers by key: 64 hex digits that already contain tenant and credential."""

    async def load(self, key: str) -> CacheEntry | None:
        """The answer kept under a key."""

    async def save(self, key: str, stored: CacheEntry) -> None:
        """Keep an answer in place of what was there."""

    async def forget(self, key: str) -> None:
        """Drop what is kept under a key, if anything."""


@runtime_checkable
class RenewingStore(CacheStore, Protocol):
    """One that has exactly one of all who share it renew an answer: the others are served the old one meanwhile."""

    async def take_renewal(self, key: str, stored: CacheEntry, until: float) -> bool:
        """Mark an answer as being renewed until a moment; False where it is not any more as it was read."""


class NoCacheStore:
    """Keeps nothing."""

    async def load(self, key: str) -> CacheEntry | None:  # noqa: ARG002  the protocol's
        """Nothing is ever found."""
        return None

    async def save(self, key: str, stored: CacheEntry) -> None:
        """Nothing is kept."""

    async def forget(self, key: str) -> None:
        """There is nothing to forget."""


NO_STORE: Final = NoCacheStore()
