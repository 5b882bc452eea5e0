"""A gate and a store as a governor would give them: the gate writes down what it is told, the store keeps in memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from haulwright.sources.http import CacheEntry, Verdict


@dataclass
class Gate:
    """Lets all pass unless it was given something to raise."""

    closed: Exception | None = None
    entered: int = 0
    verdicts: list[Verdict] = field(default_factory=list)

    async def enter(self) -> Gate:
        if self.closed:
            raise self.closed
        self.entered += 1
        return self

    async def leave(self, verdict: Verdict) -> None:
        self.verdicts.append(verdict)

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
