"""Leases on SQLite: one writer at a time, so every claim is one transaction, with the gates in it."""

from __future__ import annotations

from typing import Any

from haulwright.engine.job import Lease
from haulwright.engine.lease import Share
from haulwright.stores.books import Entry
from haulwright.stores.claim_cursor import ClaimCursor
from haulwright.stores.connection import Columns, Connection, Params, Row
from haulwright.stores.leases import Leases, Round, bytes_of


class SqliteLeases(Leases):
    """Leases in a file."""

    def _renew(self, entry: Entry, params: Params, keys: Columns) -> list[Row]:
        """With the short steps of those who write a few rows: whoever writes many gives way, and a renewal cannot."""
        return self._db.transact(lambda connection: connection.run_batch(entry, keys, params))

    def _claim_round(self, worker_id: str, queue: str, batch: int, cursor: ClaimCursor) -> Round:
        return self._claim_gated(worker_id, queue, batch, cursor)

    def _take(self, connection: Connection, shares: list[Share], common: dict[str, Any]) -> list[Lease]:
        """There is no lateral join: one statement a pair, until the batch is full.

        Or one a job, where some of those that wait have large arguments: until these have no room any more.
        """
        leases: list[Lease] = []
        one_by_one = self._payloads.are_waiting(connection, common["queue"])
        for share in shares:
            most = min(share.limit, common["batch"] - len(leases))
            params = {**common, "tenant": share.tenant, "rank": share.rank, "limit": 1 if one_by_one else most}
            for _ in range(most if one_by_one else min(most, 1)):
                claimed = [Lease._make(row) for row in connection.run(self._book["claim"], params)]
                leases += claimed
                if not claimed or bytes_of(leases) >= common["bytes"]:
                    break
        return leases
