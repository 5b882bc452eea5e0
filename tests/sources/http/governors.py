"""A gate and a store as a governor would give them: the gate writes down what it is told, the store keeps in memory."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

from haulwright.sources.http import CacheEntry, Verdict


@dataclass
class Gate:
    """Lets all pass unless it was given something to raise."""

    closed: Exception | None = None
    entered: int = 0
    verdicts: list[Verdict] = field(default_factory=list)
    left: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    """Released for each call that left."""

    async def enter(self) -> Gate:
        if self.closed:
            raise self.closed
        self.entered += 1
        return self

    async def leave(self, verdict: Verdict) -> None:
        self.verdicts.append(verdict)
        self.left.release()

    @property
    def verdict(self) -> Verdict:
        """The only one."""
        [verdict] = self.verdicts
        assert self.entered == 1
        return verdict


@dataclass
class Memory:
    """Keeps answers for the length of a test."""

    kept: dict[str, CacheEntry] = field(default_factory=dict)

    async def load(self, key: str) -> CacheEntry | None:
        return self.kept.get(key)

    async def save(self, key: str, stored: CacheEntry) -> None:
        self.kept[key] = stored

    async def forget(self, key: str) -> None:
        self.kept.pop(key, None)


@dataclass
class SharedMemory(Memory):
    """One that several clients share, of whom one renews an answer."""

    taken: int = 0

    async def take_renewal(self, key: str, stored: CacheEntry, until: float) -> bool:
        if self.kept.get(key) != stored:
            return False
        self.kept[key] = replace(stored, fresh_until=until)
        self.taken += 1
        return True
