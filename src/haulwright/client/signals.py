"""What the worker of a run and the run say to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from haulwright.errors import Cancelled, LeaseLost, Suspended, TimedOut

if TYPE_CHECKING:
    from haulwright.engine.job import Lease


@dataclass(slots=True)
class Signals:
    """What the worker has to say to a run, which hears it at its next call; and what the worker should know of it."""

    lost: bool = False
    cancelled: str | None = None
    timed_out: bool = False
    has_asked_source: bool = False
    """It asked a source for something, and was let through, sent to wait, or served what is kept."""
    parked: str | None = None
    """The gate of a source that one of its requests closed, for the server asked for patience."""
    probed: tuple[float, str] | None = None
    """It tried for all others whether a server is well again, and it is not: how long it waits, and for which gate."""
    suspended: tuple[float, str] | None = None
    """It waits for something, and so it is over: for how long at most, and for which gate."""

    def check(self, lease: Lease, verb: str) -> None:
        """Raise what the run must know before it does anything else."""
        if self.lost:
            raise LeaseLost(lease.id, lease.fence, verb)
        if self.suspended is not None:
            raise Suspended
        if self.cancelled is not None:
            raise Cancelled(self.cancelled)
        if self.timed_out:
            message = "the run passed its time limit"
            raise TimedOut(message)
