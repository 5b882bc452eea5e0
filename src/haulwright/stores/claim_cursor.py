"""Where the claims of a worker stand: whose turn it is, and behind which jobs the next scan begins."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from haulwright.clock import Instant
from haulwright.engine.job import Lease
from haulwright.engine.lease import Share
from haulwright.stores.connection import Columns

TRAIL_SECONDS = 1.0
TRAIL_PAIRS = 32
THE_FRONT: tuple[Instant, str] = (-(2**63), "00000000-0000-0000-0000-000000000000")
Pair = tuple[str, int]
"""A tenant and a rank."""
Ends = dict[Pair, tuple[Instant, str]]
"""When the last job that was claimed from a pair was due, and its id."""


class ScannedPair(NamedTuple):
    """A tenant and a rank that have queued jobs, as a scan finds them."""

    tenant: str
    rank: int
    run_at: Instant
    """The earliest of its jobs."""
    is_due: bool


@dataclass(slots=True)
class ClaimCursor:
    """Where a worker's claims stand in the round of tenants, queue by queue."""

    last_tenant: dict[str, str] = field(default_factory=dict)
    trails: dict[str, ScanCursor] = field(default_factory=dict)
    next_due: Instant | None = None
    """The earliest time at which the last short claim saw something to do."""
    gated: set[str] = field(default_factory=set)
    """Queues whose last claim met jobs with a gate before them."""
    room_bytes: int = 0
    """How many bytes of large arguments the claim may still take; none at its end says that they cut it short."""

    @property
    def is_cut(self) -> bool:
        """Whether the last claim was cut short by the bytes of what it took: then more may be due."""
        return self.room_bytes <= 0

    def notice(self, moment: Instant) -> None:
        """Something is to do at this moment."""
        self.next_due = moment if self.next_due is None else min(self.next_due, moment)


class ScanCursor:
    """Where the last claims from a queue ended, pair by pair: the next one goes on from there.

    PostgreSQL keeps what was claimed as dead entries at the front of the index, and steps over all of them in every
    claim while somebody's snapshot is open. So full batches go on behind the last job of the one before. A short one,
    or a second later, begins at the front again: nothing earlier waits for longer.
    """

    def __init__(self, time_of: Callable[[], float] = time.monotonic) -> None:
        self._time_of = time_of
        self._begun = time_of()
        self.ends: Ends = {}

    @property
    def is_fresh(self) -> bool:
        """Whether it may still be followed."""
        return self._time_of() - self._begun < TRAIL_SECONDS

    def follow(self, leases: Sequence[Lease]) -> bool:
        """Note where a full batch ended; False where it came from too many pairs to be worth it."""
        for lease in leases:
            pair, end = (lease.tenant, -lease.priority), (lease.run_at, lease.id)
            self.ends[pair] = max(end, self.ends.get(pair, end))
        return len(self.ends) <= TRAIL_PAIRS

    def past(self, shares: Sequence[Share]) -> Columns:
        """The shares as columns, each with the place from which it is taken."""
        ends = [self.ends.get((share.tenant, share.rank), THE_FRONT) for share in shares]
        return {
            "tenant": [share.tenant for share in shares],
            "rank": [share.rank for share in shares],
            "limit": [share.limit for share in shares],
            "past_run_at": [run_at for run_at, _ in ends],
            "past_id": [job_id for _, job_id in ends],
        }
