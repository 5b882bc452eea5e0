"""Retention: what is older than it is kept goes, by partitions where there are some, and else in bounded batches.

A round begins every few minutes and goes on while batches are full. Between two of them the maintenance thread does
what cannot wait, so that a long backlog keeps nobody's lease from being taken back.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from haulwright.engine.transitions import State
from haulwright.stores.cache import ROOM_BYTES
from haulwright.stores.spared import NO_EVENTS, NO_JOBS

if TYPE_CHECKING:
    from haulwright.settings import Settings
    from haulwright.stores.store import Store

ROUND_SECONDS = 600.0
BATCH_LIMIT = 500
"""What one transaction removes at most; fewer where others write too."""
BREATH_SECONDS = 0.01
"""Between two batches, for those who claim and enqueue."""
WORKERS_KEPT_SECONDS = 7 * 86400.0
TRAFFIC_KEPT_SECONDS = 7 * 86400.0
FINAL_STATES = (State.SUCCEEDED, State.SKIPPED, State.CANCELLED, State.DEAD)

WHOLE = ("event partitions", "job partitions")
"""The kinds that go as a whole, one in a step, before others go row by row."""

Prune = Callable[[int], int]
"""Removes so many rows at most, or one whole, and tells how many there were."""


class Pruner:
    """Removes what is older than it is kept."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._kept = {state: float(settings[f"keep_{state}_seconds"]) for state in FINAL_STATES}
        self._events_kept = float(settings["keep_events_seconds"])
        self._kinds = self._prunes(settings)
        self._spared_jobs, self._spared_events = NO_JOBS, NO_EVENTS
        self._behind: set[str] = set()
        """The kinds of which the last batch was full: there is more."""
        self._recording = False
        """There are more slots whose jobs have ended, which is not written down with them yet."""
        self._round_began = time.monotonic()
        self._removed: dict[str, int] = {}

    @property
    def wait_seconds(self) -> float:
        """How long until the next batch is to be removed."""
        if self._behind or self._recording:
            return BREATH_SECONDS
        return max(0.0, self._round_began + ROUND_SECONDS - time.monotonic())

    def step(self) -> dict[str, int] | None:
        """The same where it is time for it; None where it is not."""
        if not (self._behind or self._recording) and time.monotonic() - self._round_began < ROUND_SECONDS:
            return None
        return self.prune()

    def prune(self) -> dict[str, int] | None:
        """Remove one batch of each kind, or of those that had more in this round; its counts when the round is over.

        Nothing goes before what its slots keep of it is written down.
        """
        limit = min(BATCH_LIMIT, self._store.database.batch_size)
        self._recording = self._store.schedules.record_endings(limit) >= limit
        if self._recording:
            return None
        if not self._behind:
            self._begin_round()
        for kind in sorted(self._behind.intersection(WHOLE) or self._behind or self._kinds):
            count = self._kinds[kind](limit)
            self._removed[kind] = self._removed.get(kind, 0) + count
            full = count >= (1 if kind in WHOLE else limit)
            (self._behind.add if full else self._behind.discard)(kind)
        return None if self._behind else {kind: count for kind, count in self._removed.items() if count}

    def _begin_round(self) -> None:
        self._round_began = time.monotonic()
        self._removed = {}
        partitions = self._store.partitions
        partitions.close_grown()
        partitions.keep_statistics()
        self._spared_jobs = partitions.spared_jobs(self._kept)
        self._spared_events = partitions.spared_events(self._events_kept)

    def _prune_jobs(self, state: State, limit: int) -> int:
        return self._store.jobs.prune(state, self._kept[state], limit, self._spared_jobs)

    def _prune_events(self, limit: int) -> int:
        return self._store.events.prune(self._events_kept, limit, self._spared_events)

    def _prunes(self, settings: Settings) -> dict[str, Prune]:
        store = self._store
        slots_kept = float(settings["keep_slots_seconds"])
        return {
            "event partitions": lambda _: store.partitions.drop_events(self._events_kept),
            "job partitions": lambda _: store.partitions.clear_jobs(self._kept),
            **{f"{state} jobs": partial(self._prune_jobs, state) for state in FINAL_STATES},
            "keys": store.jobs.prune_keys,
            "requests": store.request_keys.prune,
            "pauses": store.pauses.prune,
            "events": self._prune_events,
            "slots": partial(store.schedules.prune, slots_kept),
            "workers": partial(store.workers.prune, WORKERS_KEPT_SECONDS),
            "answers": partial(store.cache.prune, ROOM_BYTES),
            "traffic": partial(store.sources.prune_traffic, TRAFFIC_KEPT_SECONDS),
        }
