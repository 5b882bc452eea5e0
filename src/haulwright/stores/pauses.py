"""Pauses that are over: intervals by which the deadlines of the jobs that they kept waiting are later.

A resume writes one row, however many jobs wait. The sweep that finds a job past its deadline adds what the pauses of
its queue and of its source took from it since it was enqueued, and buries it only where that is nothing.
"""

from __future__ import annotations

from typing import Literal

from haulwright.clock import SECOND, Instant
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database

PRUNE_MARGIN_SECONDS = 86400.0
"""By how much the clocks of hosts may differ, by which ids are made."""


class Pauses:
    """What people kept waiting, and for how long."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("haulwright.stores", database.dialect, "pauses")

    def record(
        self,
        connection: Connection,
        kind: Literal["queue", "source"],
        name: str,
        since: Instant,
        until: Instant | None = None,
    ) -> None:
        """A pause is over: now, or since a moment at which it ended by itself."""
        params = {"kind": kind, "name": name, "since": since, "until": until, "now": self._db.clock.now()}
        connection.run(self._book["record"], params)

    def prune(self, limit: int = 500) -> int:
        """Remove pauses that were over before any job that is left was enqueued."""
        margin_us = round(PRUNE_MARGIN_SECONDS * SECOND)
        params = {"margin_us": margin_us, "limit": limit, "now": self._db.clock.now()}
        return len(self._db.transact(lambda connection: connection.run(self._book["prune"], params), rows=limit))
