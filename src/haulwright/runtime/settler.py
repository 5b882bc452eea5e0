"""Settles finished runs in batches, on a thread of its own. Nothing is forgotten while the database is away."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from haulwright.engine.outcome import REASON_UNSTORABLE, Failure
from haulwright.engine.settlement import RELEASE, Finish, Settlement, Step, resolve
from haulwright.engine.transitions import State
from haulwright.runtime.backoff import Backoff
from haulwright.runtime.execution import superseded
from haulwright.stores.batches import batches, size_of_text
from haulwright.stores.error_kinds import ErrorKind

if TYPE_CHECKING:
    from haulwright.runtime.execution import Run
    from haulwright.runtime.observers import Observers
    from haulwright.stores.store import Store

LINGER_SECONDS = 0.002
"""How long the first finished run of a batch waits for company."""
OVERSIZED_TRIES = 2
"""How often a batch must break off that may be too large, before it is halved."""


@dataclass(slots=True)
class _Batch:
    """Runs whose outcomes are written together."""

    runs: list[Run]
    settlements: list[Settlement]
    backoff: Backoff = field(default_factory=Backoff)
    due: float = 0.0
    """When it is tried again, on the monotonic clock."""
    is_unsure: bool = False
    """An earlier try may have written it, although its reply was lost."""
    oversized: int = 0
    """How often it may have been too much at once."""
    written: int = -1
    """How many batches had been written when it last met a fault."""

    def halves(self) -> list[_Batch]:
        """The same in two batches, which are tried at once."""
        middle = len(self.runs) // 2
        parts = (slice(None, middle), slice(middle, None))
        return [_Batch(self.runs[part], self.settlements[part], is_unsure=self.is_unsure) for part in parts]


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
        self._pending: list[_Batch] = []
        """What is to be written: new, or kept because it could not be."""
        self._written = 0
        """How many batches were written so far."""
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
        is_open = True
        while is_open or self._pending:
            runs, ends = self._next_runs()
            is_open = is_open and not ends
            self._pending += self._batches(runs)
            now = time.monotonic()
            due = [batch for batch in self._pending if batch.due <= now]
            self._pending = [batch for batch in self._pending if batch.due > now]
            for batch in due:
                self._settle(batch)

    def _next_runs(self) -> tuple[list[Run], bool]:
        """What has ended since, and whether that is all. Waits for it, but not past what is to be tried again."""
        wait = min((batch.due for batch in self._pending), default=None)
        try:
            first = self._finished.get(timeout=None if wait is None else max(0.0, wait - time.monotonic()))
        except queue.Empty:
            return [], False
        if first is None:
            return [], True
        most = self._store.database.batch_size
        if self._finished.qsize() < most:
            time.sleep(LINGER_SECONDS)
        runs = [first]
        with suppress(queue.Empty):
            while len(runs) < most:
                run = self._finished.get_nowait()
                if run is None:
                    return runs, True
                runs.append(run)
        return runs, False

    def _batches(self, runs: list[Run]) -> Iterator[_Batch]:
        """What is to be written of runs that ended, in batches that the database takes."""
        outdated = superseded(runs)
        steps = [(run, None if run in outdated else step_of(run)) for run in runs]
        for run, step in steps:
            if run.context.settled:
                self._observers.settled(run, Finish(State.SUCCEEDED))
            elif step is None:
                self._observers.lost(run, "outcome")
        self._on_settled([run for run, step in steps if step is None])
        to_write = [(run, Settlement(run.lease, step, run.seconds)) for run, step in steps if step is not None]
        for batch in batches(to_write, len(to_write), lambda pair: size_of(pair[1])):
            yield _Batch([run for run, _ in batch], [settlement for _, settlement in batch])

    def _settle(self, batch: _Batch) -> None:
        try:
            accepted = self._store.settlements.settle(batch.settlements, self._worker)
            if batch.is_unsure:
                # After a lost reply a refusal may be our own success: nobody else could have ended that fence.
                accepted |= self._accepted_before(batch.settlements, accepted)
        except Exception as error:  # noqa: BLE001 - whatever it is, no outcome is lost for it
            self._keep(batch, error)
            return
        self._written += 1
        for run, settlement in zip(batch.runs, batch.settlements, strict=True):
            if run.lease.id in accepted:
                self._observers.settled(run, settlement.step)
            else:
                self._observers.lost(run, "settle")
        self._on_settled(batch.runs)

    def _keep(self, batch: _Batch, error: Exception) -> None:
        """Keep what could not be written until it can be; only what its own data forbids ends here."""
        kind = self._store.database.kind_of_error(error)
        if kind is ErrorKind.DATA:
            self._pending += batch.halves() if len(batch.runs) > 1 else self._buried(batch, error)
            return
        wait = batch.backoff.next()
        self._observers.troubled("settle", error, wait)
        batch.is_unsure = True
        batch.oversized += getattr(error, "less_may_pass", False)
        is_alone_at_fault = kind is ErrorKind.FAULT and 0 <= batch.written < self._written
        batch.written = self._written
        if len(batch.runs) > 1 and (batch.oversized >= OVERSIZED_TRIES or is_alone_at_fault):
            self._pending += batch.halves()
            return
        batch.due = time.monotonic() + wait
        self._pending.append(batch)

    def _buried(self, batch: _Batch, error: Exception) -> list[_Batch]:
        """One outcome that cannot be stored: its job is dead instead. If not even that can be, its lease runs out."""
        (run,), (settlement,) = batch.runs, batch.settlements
        burial = _unstorable(settlement, error)
        if settlement.step != burial.step:
            return [_Batch([run], [burial], is_unsure=batch.is_unsure)]
        self._observers.troubled("settle", error, 0.0)
        self._observers.lost(run, "settle")
        self._on_settled([run])
        return []

    def _accepted_before(self, settlements: list[Settlement], accepted: frozenset[str]) -> frozenset[str]:
        """Those of our settlements that an earlier try had written, although its reply was lost."""
        missing = [settlement.lease for settlement in settlements if settlement.lease.id not in accepted]
        return frozenset(lease.id for lease in missing if self._store.settlements.ended_by(lease))


def size_of(settlement: Settlement) -> int:
    """About how many bytes the database is sent."""
    step = settlement.step
    failure = 0 if step.failure is None else size_of_text(step.failure.message)
    return failure + (size_of_text(step.result) if isinstance(step, Finish) else 0)


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
