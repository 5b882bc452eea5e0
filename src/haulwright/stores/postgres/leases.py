"""Leases on PostgreSQL: claimed without a transaction of several trips wherever no gate stands before the jobs."""

from __future__ import annotations

from functools import partial
from typing import Any

from haulwright.engine.job import Lease
from haulwright.engine.lease import Share
from haulwright.stores.claim_cursor import ClaimCursor, Ends, ScanCursor, ScannedPair
from haulwright.stores.connection import Connection, as_columns
from haulwright.stores.leases import (
    HIGHEST,
    Leases,
    Round,
    bytes_of,
    due,
    in_order,
    remember,
    scan_around,
    share_out,
    tenants_of,
)

PAIR_COLUMNS = len(ScannedPair._fields)
Claimed = tuple[list[ScannedPair], list[Lease]]
"""What a scan found, and what was taken of it."""


class PostgresLeases(Leases):
    """Leases on a server."""

    def _claim_round(self, worker_id: str, queue: str, batch: int, cursor: ClaimCursor) -> Round:
        if queue not in cursor.gated:
            scanned, leases = self._claim_ungated(worker_id, queue, batch, cursor)
            if leases or not due(scanned):
                return in_order(leases, scanned, has_more=remember(cursor, queue, scanned, leases, batch))
        return self._claim_gated(worker_id, queue, batch, cursor)

    def _take(self, connection: Connection, shares: list[Share], common: dict[str, Any]) -> list[Lease]:
        return [
            Lease._make(row) for row in connection.run_batch(self._book["claim"], ScanCursor().past(shares), common)
        ]

    def _claim_ungated(self, worker_id: str, queue: str, batch: int, cursor: ClaimCursor) -> Claimed:
        """A scan, and a statement that is its own transaction: two trips where nothing but the jobs is to be written.

        One, where a scan from the front finds a lone pair.
        Nothing is taken where a gate stands before one of the jobs, or where others were faster.
        """
        trail = cursor.trails.pop(queue, None)
        if trail is not None and trail.is_fresh:
            scanned, leases = self._claim_along(trail, worker_id, queue, batch, cursor)
            if leases:
                return scanned, leases
        return self._claim_along(ScanCursor(), worker_id, queue, batch, cursor)

    def _claim_along(self, trail: ScanCursor, worker_id: str, queue: str, batch: int, cursor: ClaimCursor) -> Claimed:
        last = cursor.last_tenant.get(queue, "")
        common = {"worker_id": worker_id, "queue": queue, "now": self._db.clock.now()}

        def take(shares: list[Share], most: int) -> list[Lease]:
            params = {**common, "gated": False, "batch": most, "bytes": cursor.room_bytes}
            rows = self._db.run_single(self._book["claim"], params, trail.past(shares))
            leases = [Lease._make(row) for row in rows]
            cursor.room_bytes -= bytes_of(leases)
            return leases

        leases: list[Lease] | None = None
        if last or trail.ends:
            scanned = self._db.read(
                lambda connection: scan_around(partial(self._scan_past, connection, queue, trail.ends), batch, last)
            )
        else:
            scanned, leases = self._claim_single_tenant({**common, "bytes": cursor.room_bytes}, batch)
            cursor.room_bytes -= bytes_of(leases or ())
        if leases is None:
            leases = share_out(due(scanned), batch, take, all_or_nothing=True)
        if len(leases) == batch and trail.follow(leases):
            cursor.trails[queue] = trail
        return scanned, leases

    def _claim_single_tenant(self, common: dict[str, Any], batch: int) -> tuple[list[ScannedPair], list[Lease] | None]:
        """Scan all around, and in the same trip take what is there where one pair alone has something due.

        None where there are several: then who gets how much is to be decided first.
        """
        params = {**common, "after": "", "before": HIGHEST, "tenants": tenants_of(batch), "batch": batch}
        rows = self._db.run_single(self._book["claim_single_tenant"], params)
        scanned = [ScannedPair._make(pair) for pair in dict.fromkeys(row[:PAIR_COLUMNS] for row in rows)]
        if len(due(scanned)) > 1:
            return scanned, None
        return scanned, [Lease._make(row[PAIR_COLUMNS:]) for row in rows if row[PAIR_COLUMNS] is not None]

    def _scan_past(
        self, connection: Connection, queue: str, ends: Ends, between: tuple[str, str], tenants: int
    ) -> list[ScannedPair]:
        """A scan that begins behind what the last claims took."""
        if not ends:
            return self._scan(connection, queue, between, tenants)
        past = [
            {"past_tenant": tenant, "past_rank": rank, "past_run_at": run_at, "past_id": job_id}
            for (tenant, rank), (run_at, job_id) in ends.items()
        ]
        params = self._scanning(queue, between, tenants)
        rows = connection.run_batch(self._book["scan_tenants_after"], as_columns(past), params)
        return sorted((ScannedPair._make(row) for row in rows), key=lambda pair: (pair.tenant, pair.rank))
