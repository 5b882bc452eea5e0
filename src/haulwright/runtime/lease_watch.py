"""Watches the leases that run out, so that they are taken back by what was seen and not by one clock.

A look reads the leases that end soon, and how their heartbeats stand. A lease is taken back that has run out on the
database's clock and whose heartbeat stood still, on the monotonic clock of this process, for longer than a worker that
lives leaves it. It is watched before it runs out, so that this is known by then. What was seen counts only where its
worker could have renewed meanwhile: the looks came in time, the database took a write after each, and its clock was not
set. `engine/lease.py` has the rules.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from haulwright.clock import SECOND, Instant
from haulwright.engine.lease import LONGEST_WATCH_SECONDS, Sighting, counted_seconds, ran_ahead
from haulwright.runtime.backoff import LONGEST_SECONDS

if TYPE_CHECKING:
    from haulwright.engine.job import LeaseKey
    from haulwright.stores.recovery import EndingLease, Reaped
    from haulwright.stores.store import Store

LOOK_SECONDS = 1.0
"""Between two looks, at most: a lease that was claimed and left since the last one is seen while there is time."""
SHORTEST_PAUSE_SECONDS = 0.25
"""Between two looks, at least: what has run out and is held by a transaction is asked for again and again."""
LONGEST_PAUSE_SECONDS = 5.0
LOOKS_SHARE = 0.05
"""The part of its time that a watch reads, where looks find thousands of leases."""
NEAR_US = 5 * SECOND
"""How far ahead every look sees: enough for leases that are watched for as long, and few live there."""
FAR_US = round((LONGEST_WATCH_SECONDS + 2 * LOOK_SECONDS) * SECOND)
FAR_SECONDS = 5.0
"""How long before its end a lease is watched at most, and how often a look goes so far: it may pass many that live."""
LOOK_LIMIT = 10_000
BEHIND_US = 60 * SECOND
"""A claim or a renewal may be seen so long after its time: its transaction took a while."""
CALM_SECONDS = 1.5 * LONGEST_SECONDS
"""So long after trouble every worker, whatever its pause between two tries, has renewed what it holds."""


class LeaseWatch:
    """What one process has seen of the leases that run out, by looks that come in time."""

    def __init__(self, store: Store, worker_id: str) -> None:
        self._store = store
        self._worker_id = worker_id
        self._sightings: dict[LeaseKey, Sighting] = {}
        self._watched = 0.0
        """The seconds that count: the pauses between looks, as long as they were planned."""
        self._calm_at = 0.0
        """In these seconds: from when on leases may be taken back, after trouble."""
        self._far_at = float("-inf")
        """When a look last went far ahead, on the monotonic clock."""
        self._began: float | None = None
        """When the last look began, on the monotonic clock; None where it failed."""
        self._ended = 0.0
        self._database_now: Instant = 0
        """The database's time at the last look."""
        self._pause = 0.0

    def reap(self, *, whole: bool = False) -> list[Reaped]:
        """Look, and take back the leases that are known to be lost. A whole look leaves out none that ended long ago.

        After trouble all that was seen is forgotten: nobody could renew.
        """
        try:
            taken = self._store.recovery.reap_silent(self._look(whole=whole))
        except BaseException:
            self._forget()
            self._began, self._database_now = None, 0
            self._calm_at = self._watched + CALM_SECONDS
            raise
        for reaped in taken:
            del self._sightings[reaped.key]
        return taken

    @property
    def wait_seconds(self) -> float:
        """How long until the next look is to begin."""
        return 0.0 if self._began is None else max(0.0, self._ended + self._pause - time.monotonic())

    @property
    def suspects(self) -> int:
        """How many leases have run out that may yet be renewed, or taken back."""
        return sum(sighting.expires_at < self._database_now for sighting in self._sightings.values())

    def _look(self, *, whole: bool) -> list[EndingLease]:
        began = time.monotonic()
        is_far = whole or began - self._far_at >= FAR_SECONDS
        within_us, since = FAR_US if is_far else NEAR_US, 0 if whole else self._since()
        database_now, leases = self._store.recovery.ending(since, within_us, LOOK_LIMIT)
        read = time.monotonic()
        could_write = not (leases or self._sightings) or self._store.workers.touch(self._worker_id)
        self._count(began, read, database_now)
        if not could_write:
            self._forget()
        if is_far:
            self._far_at, beyond = began, {}
        else:
            beyond = {key: seen for key, seen in self._sightings.items() if seen.expires_at >= database_now + NEAR_US}
        self._sightings = beyond | {lease.key: self._sighting(lease) for lease in leases}
        self._began, self._ended, self._database_now = began, time.monotonic(), database_now
        self._pause = self._planned(read - began)
        return [lease for lease in leases if self._is_lost(self._sightings[lease.key])]

    def _count(self, began: float, read: float, database_now: Instant) -> None:
        """Count the pause before this look; where the clock was set meanwhile, what was seen before it is void."""
        if self._began is None:
            return
        self._watched += counted_seconds(began - self._ended, self._pause)
        if ran_ahead(database_now - self._database_now, read - self._began):
            self._forget()

    def _sighting(self, lease: EndingLease) -> Sighting:
        sighting = Sighting(lease.heartbeat_at, lease.expires_at, lease.lease_us, self._watched)
        return sighting.after(self._sightings.get(lease.key))

    def _is_lost(self, sighting: Sighting) -> bool:
        return self._watched >= self._calm_at and sighting.is_lost(self._watched, self._database_now)

    def _planned(self, read_seconds: float) -> float:
        """Until a lease that is watched could be lost, or until others must be looked for."""
        waits = [sighting.seconds_to_loss(self._watched, self._database_now) for sighting in self._sightings.values()]
        soonest = max(SHORTEST_PAUSE_SECONDS, self._calm_at - self._watched, min(waits, default=LOOK_SECONDS))
        return min(LONGEST_PAUSE_SECONDS, max(min(LOOK_SECONDS, soonest), read_seconds / LOOKS_SHARE))

    def _since(self) -> Instant:
        """From where on leases may have ended that are not known yet."""
        ends = [sighting.expires_at for sighting in self._sightings.values()]
        return min([*ends, self._database_now - BEHIND_US])

    def _forget(self) -> None:
        self._sightings = {}
