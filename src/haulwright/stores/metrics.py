"""Figures of the last while, counted from the rows: what ended and how, what was tried again, what waits for whom."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from haulwright.clock import Instant
from haulwright.engine.ids import first_id_of
from haulwright.stores.books import book
from haulwright.stores.connection import Database, Row

BOUNDS_SECONDS: Final = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600)
"""The bounds of the histograms; the books have them in microseconds."""
COUNT_LIMIT: Final = 100_000
"""So many rows are counted at most where no window bounds them."""


class RunCount(NamedTuple):
    """Jobs that ended alike."""

    queue: str
    task: str
    state: str
    bucket: int | None
    """Over how many of the bounds their run was; None where they never ran."""
    jobs: int
    run_us: int


class WaitCount(NamedTuple):
    """Jobs of a queue that had been due for about as long when they were claimed."""

    queue: str
    bucket: int
    jobs: int
    wait_us: int


class ConnectorCount(NamedTuple):
    """Jobs of one connector that ended alike."""

    connector: str
    state: str
    jobs: int
    rows: int


class EndedCount(NamedTuple):
    """Jobs that ended alike in one stretch of time."""

    stretch: int
    """Counted from the beginning."""
    state: str
    jobs: int
    first_at: Instant


class MetricCounts:
    """Counts for a monitor."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("haulwright.stores", database.dialect, "metrics")

    def runs(self, since: Instant) -> list[RunCount]:
        """What ended since a moment, by queue, task, outcome and length of its last run."""
        return [RunCount._make((*row[:-1], int(row[-1]))) for row in self._run("runs", since=since)]

    def waits(self, since: Instant) -> list[WaitCount]:
        """The same by how long it had been due when it was claimed."""
        return [WaitCount._make((*row[:-1], int(row[-1]))) for row in self._run("waits", since=since)]

    def connectors(self, since: Instant) -> list[ConnectorCount]:
        """What ended since a moment by connector, with the rows that it processed."""
        return [ConnectorCount._make((*row[:-1], int(row[-1]))) for row in self._run("connectors", since=since)]

    def queued(self, since: Instant) -> dict[str, int]:
        """Jobs that were enqueued since a moment, by queue."""
        return dict(self._run("queued", first=first_id_of(since)))

    def dead(self) -> dict[str, int]:
        """Dead letters that wait for somebody, by tenant."""
        return dict(self._run("dead", limit=COUNT_LIMIT))

    def retries(self, since: Instant) -> dict[str | None, int]:
        """Failed runs since a moment that are tried again, by the class of their error."""
        return dict(self._run("retries", since=since))

    def waiting(self) -> dict[str, int]:
        """Jobs that wait for a gate, by its name."""
        return dict(self._run("waiting", limit=COUNT_LIMIT))

    def endings(self, since: Instant, step_us: int, tenant: str | None, limit: int) -> list[EndedCount]:
        """What ended since a moment, the newest so many, by stretches of that length and by outcome."""
        names = {"since": since, "step": step_us, "limit": limit}
        whose = "endings" if tenant is None else "endings_of_tenant"
        rows = self._run(whose, **names, **({} if tenant is None else {"tenant": tenant}))
        return [EndedCount._make(row) for row in rows]

    def spans(self, since: Instant, tenant: str | None, limit: int) -> list[tuple[int, int]]:
        """How long the newest jobs ran and had been due, in microseconds."""
        names = {"since": since, "limit": limit}
        whose = "spans" if tenant is None else "spans_of_tenant"
        rows = self._run(whose, **names, **({} if tenant is None else {"tenant": tenant}))
        return [(int(ran), int(waited)) for ran, waited in rows]

    def _run(self, entry: str, **params: Any) -> list[Row]:
        return self._db.read(lambda connection: connection.run(self._book[entry], params))
