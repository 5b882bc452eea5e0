"""What retention leaves alone row by row, because it will soon go as a whole with its partition."""

from __future__ import annotations

from typing import Final, NamedTuple


class Spared(NamedTuple):
    """Keys that are spared: from one up to another, without that; ids of jobs, or numbers of events."""

    start: str | int
    end: str | int

    @property
    def params(self) -> dict[str, str | int]:
        """As the statements take them."""
        return {"spared_start": self.start, "spared_end": self.end}


NO_JOBS: Final = Spared("00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000")
NO_EVENTS: Final = Spared(0, 0)
