"""How large an installation has become, and what retention is going to remove of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from haulwright.clock import Instant
from haulwright.engine.transitions import FINAL

if TYPE_CHECKING:
    from haulwright.settings import Settings
    from haulwright.stores.growth import DueRows, TableSize
    from haulwright.stores.store import Store


@dataclass(frozen=True, slots=True)
class RetentionStatus:
    """How long something is kept, and what of it is older than that."""

    kind: str
    kept_seconds: float
    setting: str
    """By which that is said."""
    due: DueRows


@dataclass(frozen=True, slots=True)
class DatabaseGrowth:
    """What a database holds, and what is going to leave it."""

    tables: list[TableSize]
    retention: list[RetentionStatus]
    now: Instant

    @property
    def size_bytes(self) -> int:
        """All tables together; what is free in a file is part of the file."""
        return sum(table.size_bytes for table in self.tables if table.name != FREE)


FREE = "free pages in it"


def measure(store: Store, settings: Settings) -> DatabaseGrowth:
    """Look at a database; it takes a moment, however large that is."""
    return DatabaseGrowth(store.growth.sizes(), list(_retention(store, settings)), store.now())


def _retention(store: Store, settings: Settings) -> Iterator[RetentionStatus]:
    for state in sorted(FINAL):
        name = f"keep_{state}_seconds"
        kept = float(settings[name])
        yield RetentionStatus(f"{state} jobs", kept, name, store.growth.due_jobs(state, kept))
    kept = float(settings["keep_events_seconds"])
    yield RetentionStatus("events", kept, "keep_events_seconds", store.growth.due_events(kept))
