"""Writes the commits of the runs of a worker, in groups, on a thread of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haulwright.client.commit_queue import CommitQueue
from haulwright.runtime.loop import STOP_SECONDS, Loop

if TYPE_CHECKING:
    from haulwright.runtime.observers import Observers
    from haulwright.stores.store import Store


class CommitWriter:
    """The writer of a worker, and the queue before it."""

    def __init__(self, store: Store, observers: Observers) -> None:
        self.queue = CommitQueue(store.commits)
        self._loop = Loop("commit", self.queue.write_next, observers)

    def start(self) -> None:
        """Begin."""
        self.queue.open()
        self._loop.start()

    def stop(self, timeout: float = STOP_SECONDS) -> None:
        """End. Whoever waits, and whoever comes now, goes alone."""
        self._loop.end()
        self.queue.close()
        self._loop.join(timeout)
