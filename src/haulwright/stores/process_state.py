"""What one process remembers of one database. It belongs to the database object: all stores made of that share it."""

from __future__ import annotations

from haulwright.stores.notify import NotifyThrottle
from haulwright.stores.sources.admission import ClaimedAdmissions
from haulwright.stores.sources.open_sources import OpenSources


class ProcessState:
    """What is true of a process and its database, on whichever connection it works."""

    def __init__(self) -> None:
        self.admissions = ClaimedAdmissions()
        self.open_sources = OpenSources()
        self.throttle = NotifyThrottle()
        self.caller_throttle = NotifyThrottle(ahead=self.throttle)
        """For enqueues on a caller's connection. Their notices leave with the caller's commit, late or never: so they
        hold back those of other callers, and not those of enqueues that commit at once."""
