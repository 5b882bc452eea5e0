"""Concurrency permits: rows under a key, each held under a fence, given back in the transaction that ends the lease."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from penstock.engine.job import Lease
from penstock.stores.books import book
from penstock.stores.connection import Connection, Database, as_columns

TRIES = 3
"""How often a claim looks for another number when its first one was taken under it."""
GATE = "concurrency:"
"""What the gate of a concurrency key is called in `waiting_on`."""


class Permits:
    """The right to be one of the few jobs that run under a key."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("penstock.stores", database.dialect, "jobs")

    def take(self, connection: Connection, lease: Lease) -> bool:
        """Take a permit for a lease in the claim's transaction; False means that the key is full."""
        params = {
            "key": lease.concurrency_key,
            "limit": lease.concurrency_limit,
            "id": lease.id,
            "fence": lease.fence,
            "now": self._db.clock.now(),
        }
        return any(connection.all(self._book["take_permit"], params) for _ in range(TRIES))

    def free(self, connection: Connection, leases: Sequence[Lease]) -> None:
        """Give the permits of ended leases back, and wake as many waiters."""
        held = [lease for lease in leases if lease.concurrency_key]
        if not held:
            return
        rows = [{"id": lease.id, "fence": lease.fence} for lease in held]
        freed = Counter(key for (key,) in connection.each(self._book["free_permits"], as_columns(rows), {}))
        for key, count in freed.items():
            self.wake(connection, GATE + key, count)

    def wake(self, connection: Connection, gate: str, count: int) -> int:
        """Make the oldest waiters of a gate due at once, as many as it admits now."""
        params = {"gate": gate, "limit": count, "now": self._db.clock.now()}
        return len(connection.all(self._book["wake"], params))
