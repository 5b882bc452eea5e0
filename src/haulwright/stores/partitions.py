"""What goes as a whole of the record: partitions of finished jobs and of events, where the database has them.

SQLite has none: a file is one table each, and what is past its time is removed in batches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from haulwright.clock import SECOND, Instant
from haulwright.engine.transitions import State
from haulwright.stores.connection import Database
from haulwright.stores.events import Events
from haulwright.stores.spared import NO_EVENTS, NO_JOBS, Spared

DAY_US: Final = 86_400 * SECOND

Kept = Mapping[State, float]
"""For how many seconds finished jobs of each state are kept."""


@dataclass(frozen=True, slots=True)
class Partition:
    """A part of a table, with a file of its own."""

    table: str
    name: str
    lower: str | None
    """The first key that may be in it; None is the beginning of all."""
    upper: str | None
    """The first key that is beyond it; None where it is open, and takes whatever no other one does."""
    size_bytes: int

    @property
    def is_open(self) -> bool:
        """Whether new rows go there."""
        return self.upper is None


class Partitions:
    """Partitions of a database that has none."""

    def __init__(self, database: Database, events: Events) -> None:
        self._db = database
        self._events = events

    def of_table(self, table: str) -> list[Partition]:  # noqa: ARG002 - as on PostgreSQL
        """The partitions of a table, by their keys, the open one last."""
        return []

    def close_grown(self) -> int:
        """Give an end to each open partition that has grown, and open another; how many got one."""
        return 0

    def keep_statistics(self) -> int:
        """Have the database look again at tables that have become twice or half as large; how many it looked at."""
        return 0

    def drop_events(self, age_seconds: float) -> int:  # noqa: ARG002 - as on PostgreSQL
        """Drop the first partition of which every event is older than an age; how many were dropped, one or none."""
        return 0

    def clear_jobs(self, kept: Kept) -> int:  # noqa: ARG002 - as on PostgreSQL
        """Empty the first partition most of whose jobs are older than they are kept; how many were, one or none.

        What is not due is left in it, and what only the removed jobs needed goes with them.
        """
        return 0

    def spared_events(self, age_seconds: float) -> Spared:  # noqa: ARG002 - as on PostgreSQL
        """Which events are not worth removing one by one, for they will soon go as a whole."""
        return NO_EVENTS

    def spared_jobs(self, kept: Kept) -> Spared:  # noqa: ARG002 - as on PostgreSQL
        """Which finished jobs are not worth removing one by one, for they will soon go as a whole."""
        return NO_JOBS


def lag_us(age_seconds: float) -> Instant:
    """How much longer something may be kept so that it goes as a whole: an eighth of its time, or a day."""
    return max(DAY_US, round(age_seconds * SECOND / 8))
