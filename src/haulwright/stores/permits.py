"""Concurrency permits: rows under a key, each held under a fence, given back in the transaction that ends the lease."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from haulwright.engine.job import HeldLease, Lease
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database
from haulwright.stores.job_rows import fenced
from haulwright.stores.waiters import Waiters

TRIES = 3
"""How often a claim looks for another number when its first one was taken under it."""
GATE = "concurrency:"
"""What the gate of a concurrency key is called in `waiting_on`."""


class Permits:
    """The right to be one of the few jobs that run under a key."""

    def __init__(self, database: Database, waiters: Waiters) -> None:
        self._db = database
        self._waiters = waiters
        self._book = book("haulwright.stores", database.dialect, "jobs")

    def take(self, connection: Connection, lease: Lease) -> bool:
        """Take a permit for a lease in the claim's transaction; False means that the key is full."""
        params = {
            "key": lease.concurrency_key,
            "limit": lease.concurrency_limit,
            **lease.key._asdict(),
            "now": self._db.clock.now(),
        }
        return any(connection.run(self._book["take_permit"], params) for _ in range(TRIES))

    def free(self, connection: Connection, leases: Sequence[HeldLease]) -> None:
        """Give the permits of ended leases back, and wake as many waiters."""
        holders = [lease.key for lease in leases if lease.concurrency_key]
        if not holders:
            return
        freed = Counter(key for (key,) in connection.run_batch(self._book["free_permits"], fenced(holders), {}))
        for key, count in freed.items():
            self._waiters.wake_on(connection, GATE + key, count)
