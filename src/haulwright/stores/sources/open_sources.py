"""What a process saw a moment ago of sources: that they were open, and that they limit nothing."""

from __future__ import annotations

import time
from typing import Final, NamedTuple

from haulwright.engine.job import LeaseKey
from haulwright.engine.source import SourceState

MOST_SEEN: Final = 1000
"""Sources that a process remembers: those that it asks just now."""
NOBODY: Final = LeaseKey("", 0, "")
"""Who has no probe: a source that lets this one in lets everybody in."""
NEVER: Final = float("-inf")


class _Sight(NamedTuple):
    """What one look at a source showed."""

    open_at: float
    """When it was seen open to everybody, by the monotonic clock."""
    is_unlimited: bool


_UNSEEN: Final = _Sight(NEVER, is_unlimited=False)


class OpenSources:
    """Sources that this process saw open to everybody. What it remembers is a hint, and holds for a moment alone."""

    def __init__(self) -> None:
        self._seen: dict[str, _Sight] = {}

    def note(self, state: SourceState, moment: float) -> None:
        """A look that began at this moment showed a source like this."""
        if state.shuts_out(NOBODY):
            self.forget(state.key)
        else:
            self.note_open(state.key, moment, is_unlimited=state.is_unlimited)

    def note_open(self, key: str, moment: float, *, is_unlimited: bool) -> None:
        """A look that began at this moment showed a source open to everybody."""
        if len(self._seen) >= MOST_SEEN and key not in self._seen:
            self._seen.clear()  # which costs a look for each that is asked again
        self._seen[key] = _Sight(moment, is_unlimited)

    def forget(self, key: str) -> None:
        """A source is not as it was."""
        self._seen.pop(key, None)

    def was_open(self, key: str, seconds: float) -> bool:
        """Whether a source was seen open to everybody within so many seconds."""
        return time.monotonic() - self._seen.get(key, _UNSEEN).open_at < seconds

    def was_unlimited(self, key: str, seconds: float = float("inf")) -> bool:
        """Whether it was seen so within these seconds, and to limit nothing; else the last time that it was open."""
        seen = self._seen.get(key, _UNSEEN)
        return seen.is_unlimited and time.monotonic() - seen.open_at < seconds
