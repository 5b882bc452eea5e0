"""Settles finished runs in batches, on a thread of its own. Nothing is forgotten while the database is away."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from penstock.engine.outcome import REASON_UNSTORABLE, Failure
from penstock.engine.settlement import RELEASE, Finish, Settlement, Step, resolve
from penstock.engine.transitions import State
from penstock.errors import DatabaseProblem
from penstock.runtime.backoff import Backoff
from penstock.runtime.execution import superseded

if TYPE_CHECKING:
    from penstock.runtime.execution import Run
    from penstock.runtime.report import Report
    from penstock.stores.store import Store

LINGER_SECONDS = 0.002
"""How long the first finished run of a batch waits for company."""


class Settler:
    """Takes finished runs and writes their outcomes; capacity is free only when that is on disk."""

    def __init__(self, store: Store, worker: str, report: Report, done: Callable[[list[Run]], None]) -> None:
        self._store = store
        self._worker = worker
        self._report = report
        self._done = done
        self._finished: queue.SimpleQueue[Run | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="penstock-settler", daemon=True)

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
        open_ended = True
        while open_ended:
            batch, open_ended = self._next_batch()
            if batch:
                self._settle(batch)
                self._done(batch)

    def _next_batch(self) -> tuple[list[Run], bool]:
        first = self._finished.get()
        if first is None:
            return [], False
        most = self._store.database.rows_at_once
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
        late = superseded(batch)
        steps = [(run, None if run in late else step_of(run)) for run in batch]
        told = [(run, step) for run, step in steps if step is not None]
        for run, step in steps:
            if run.context.settled:
                self._report.settled(run, Finish(State.SUCCEEDED))
            elif step is None:
                self._report.lost(run.lease, "outcome")
        if told:
            accepted = self._write([Settlement(run.lease, step, run.seconds) for run, step in told])
            for run, step in told:
                if run.lease.id in accepted:
                    self._report.settled(run, step)
                else:
                    self._report.lost(run.lease, "settle")

    def _write(self, settlements: list[Settlement]) -> frozenset[str]:
        """Write until it is written: an outcome is not lost because the database was away."""
        backoff = Backoff()
        unsure = False
        while True:
            try:
                accepted = self._store.leases.settle(settlements, self._worker)
                # After a lost reply a refusal may be our own success: nobody else could have ended that fence.
                return accepted | self._ours(settlements, accepted) if unsure else accepted
            except DatabaseProblem as trouble:
                unsure = True
                wait = backoff.next()
                self._report.troubled("settle", trouble, wait)
                time.sleep(wait)
            except Exception as error:  # noqa: BLE001 - refused because of its data: find the row that is bad
                if len(settlements) > 1:
                    return frozenset().union(*(self._write([one]) for one in settlements))
                if settlements[0].step == _unstorable(settlements[0], error).step:
                    self._report.troubled("settle", error, 0.0)
                    return frozenset()  # not even its death can be written: its lease will run out
                settlements = [_unstorable(settlements[0], error)]

    def _ours(self, settlements: list[Settlement], accepted: frozenset[str]) -> frozenset[str]:
        missing = [one.lease for one in settlements if one.lease.id not in accepted]
        return frozenset(lease.id for lease in missing if self._store.leases.ended_by(lease))


def step_of(run: Run) -> Step | None:
    """The step that a run's outcome means; None where the run has no right to one any more."""
    if run.outcome is None:
        return None
    return resolve(run.outcome, run.lease, run.task.options.retry, random.random)


def released(run: Run) -> Settlement:
    """A run that is given back without burning its attempt."""
    return Settlement(run.lease, RELEASE, run.seconds)


def _unstorable(settlement: Settlement, error: Exception) -> Settlement:
    failure = Failure(type(error).__name__, REASON_UNSTORABLE, "the outcome of the run could not be stored")
    return Settlement(settlement.lease, Finish(State.DEAD, REASON_UNSTORABLE, failure=failure), settlement.seconds)
