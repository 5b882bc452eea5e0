"""Settles finished runs in batches, on a thread of its own. Nothing is forgotten while the database is away."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from haulwright.engine.outcome import REASON_UNSTORABLE, Failure
from haulwright.engine.settlement import RELEASE, Finish, Settlement, Step, resolve
from haulwright.engine.transitions import State
from haulwright.errors import DatabaseProblem
from haulwright.runtime.backoff import Backoff
from haulwright.runtime.execution import superseded

if TYPE_CHECKING:
    from haulwright.runtime.execution import Run
    from haulwright.runtime.observers import Observers
    from haulwright.stores.store import Store

LINGER_SECONDS = 0.002
"""How long the first finished run of a batch waits for company."""


class Settler:
    """Takes finished runs and writes their outcomes; capacity is free only when that is on disk."""

    def __init__(
        self, store: Store, worker: str, observers: Observers, on_settled: Callable[[list[Run]], None]
    ) -> None:
        self._store = store
        self._worker = worker
        self._observers = observers
        self._on_settled = on_settled
        self._finished: queue.SimpleQueue[Run | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="haulwright-settler", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def add(self, run: Run) -> None:
        """A run has ended."""
        self._finished.put(run)

    def stop(self, timeout: float | None = None) -> None:
        """Settle what is left, and end."""
        self._finished.put(None)
        self._thread.join(timeout)

    def _work(self) -> None:
        goes_on = True
        while goes_on:
            batch, goes_on = self._next_batch()
            if batch:
                self._settle(batch)
                self._on_settled(batch)

    def _next_batch(self) -> tuple[list[Run], bool]:
        first = self._finished.get()
        if first is None:
            return [], False
        most = self._store.database.batch_size
        if self._finished.qsize() < most:
            time.sleep(LINGER_SECONDS)
        batch = [first]
        with suppress(queue.Empty):
            while len(batch) < most:
                run = self._finished.get_nowait()
                if run is None:
                    return batch, False
                batch.append(run)
        return batch, True

    def _settle(self, batch: list[Run]) -> None:
        outdated = superseded(batch)
        steps = [(run, None if run in outdated else step_of(run)) for run in batch]
        to_write = [(run, step) for run, step in steps if step is not None]
        for run, step in steps:
            if run.context.settled:
                self._observers.settled(run, Finish(State.SUCCEEDED))
            elif step is None:
                self._observers.lost(run, "outcome")
        if to_write:
            accepted = self._write([Settlement(run.lease, step, run.seconds) for run, step in to_write])
            for run, step in to_write:
                if run.lease.id in accepted:
                    self._observers.settled(run, step)
                else:
                    self._observers.lost(run, "settle")

    def _write(self, settlements: list[Settlement]) -> frozenset[str]:
        """Write until it is written: an outcome is not lost because the database was away."""
        backoff = Backoff()
        unsure = False
        while True:
            try:
                accepted = self._store.settlements.settle(settlements, self._worker)
                # After a lost reply a refusal may be our own success: nobody else could have ended that fence.
                return accepted | self._accepted_before(settlements, accepted) if unsure else accepted
            except DatabaseProblem as trouble:
                unsure = True
                wait = backoff.next()
                self._observers.troubled("settle", trouble, wait)
                time.sleep(wait)
            except Exception as error:  # noqa: BLE001 - refused because of its data: find the row that is bad
                if len(settlements) > 1:
                    return frozenset().union(*(self._write([settlement]) for settlement in settlements))
                if settlements[0].step == _unstorable(settlements[0], error).step:
                    self._observers.troubled("settle", error, 0.0)
                    return frozenset()  # not even its death can be written: its lease will run out
                settlements = [_unstorable(settlements[0], error)]

    def _accepted_before(self, settlements: list[Settlement], accepted: frozenset[str]) -> frozenset[str]:
        """Those of our settlements that an earlier try had written, although its reply was lost."""
        missing = [settlement.lease for settlement in settlements if settlement.lease.id not in accepted]
        return frozenset(lease.id for lease in missing if self._store.settlements.ended_by(lease))


def step_of(run: Run) -> Step | None:
    """The step that a run's outcome means; None where the run has no right to one any more."""
    if run.outcome is None:
        return None
    return resolve(run.outcome, run.lease, run.task.options.retry, random.random)


def release_of(run: Run) -> Settlement:
    """A run that is given back without burning its attempt."""
    return Settlement(run.lease, RELEASE, run.seconds)


def _unstorable(settlement: Settlement, error: Exception) -> Settlement:
    failure = Failure(type(error).__name__, REASON_UNSTORABLE, "the outcome of the run could not be stored")
    return Settlement(settlement.lease, Finish(State.DEAD, REASON_UNSTORABLE, failure=failure), settlement.seconds)
