"""Settles finished runs in batches, on a thread of its own. Nothing is forgotten while the database is away."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from haulwright.clock import SECOND
from haulwright.engine.outcome import REASON_UNSTORABLE, UNKNOWN_TASK_GATE, Failure
from haulwright.engine.settlement import RELEASE, Finish, PutBack, Settlement, resolve
from haulwright.engine.transitions import State
from haulwright.errors import DatabaseLost
from haulwright.runtime.backoff import Backoff
from haulwright.runtime.execution import superseded
from haulwright.runtime.loop import STOP_SECONDS, Loop
from haulwright.stores.batches import batches, size_of_text
from haulwright.stores.error_kinds import ErrorKind

if TYPE_CHECKING:
    from haulwright.engine.job import HeldLease
    from haulwright.runtime.execution import Run
    from haulwright.runtime.observers import Observers
    from haulwright.stores.store import Store

SETTLE_SECONDS = 30.0
"""What a worker that ends waits for the outcomes of its runs to be written."""
UNKNOWN_TASK_SECONDS = 30.0
"""How long a job whose task a worker does not have is left to others."""
LINGER_SECONDS = 0.002
"""How long the first finished run of a batch waits for company."""
FRAME_BYTES = 100
"""About what a line of the user's code takes in a row."""
OVERSIZED_TRIES = 2
"""How often a batch must break off that may be too large, before it is halved."""


@dataclass(slots=True, eq=False)
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
        self._finished: deque[Run] = deque()
        """Those that nobody has looked at yet; filled from any thread."""
        self._ended: list[Run] = []
        """Those that are being made into batches."""
        self._pending: list[_Batch] = []
        """What is to be written: new, or kept because it could not be."""
        self._written = 0
        """How many batches were written so far."""
        self._is_waiting = False
        self._arrived = threading.Event()
        """Set where somebody waits."""
        self._is_closing = False
        self._loop = Loop("settle", self._step, observers)

    def start(self) -> None:
        """Begin."""
        self._loop.start()

    def add(self, run: Run) -> None:
        """A run has ended."""
        self._finished.append(run)
        if self._is_waiting:  # set before it looks whether there is one: one of us sees the other
            self._is_waiting = False  # one call is enough for all that come until it is awake
            self._arrived.set()

    def in_hand(self) -> list[Run]:
        """The runs that it has, in the order in which a run goes through it: none that moves meanwhile is missed."""
        finished = [*self._finished.copy(), *self._ended]
        return [*finished, *(run for batch in self._pending.copy() for run in batch.runs)]

    def stop(self, timeout: float = STOP_SECONDS) -> None:
        """Settle what is left, and end: at the latest after so many seconds."""
        self._is_closing = True
        self._arrived.set()
        self._loop.join(timeout)
        self._loop.end()

    def _step(self) -> None:
        """Take what has ended, and write what is due. Whatever raises here, every run stays in one of the lists."""
        self._wait_for_runs()
        finished, ended = self._finished, self._ended
        for _ in range(min(len(finished), self._store.database.batch_size - len(ended))):
            ended.append(finished[0])
            finished.popleft()
        if ended:
            self._make_batches()
        now = time.monotonic()
        for batch in [batch for batch in self._pending if batch.due <= now]:
            self._settle(batch)
        if self._is_closing and not self._finished and not self._pending:
            self._loop.end()

    def _wait_for_runs(self) -> None:
        """Wait for one that has ended, but not past what is to be tried again; then a moment for its company."""
        due = min((batch.due for batch in self._pending), default=None)
        self._is_waiting = True
        if not self._finished and not self._ended and not (self._is_closing and due is None):
            self._arrived.wait(None if due is None else max(0.0, due - time.monotonic()))
        self._is_waiting = False
        self._arrived.clear()
        if 0 < len(self._finished) < self._store.database.batch_size:
            time.sleep(LINGER_SECONDS)

    def _make_batches(self) -> None:
        """What is to be written of runs that ended, in batches that the database takes."""
        outdated = superseded(self._ended)
        settlements = [(run, None if run in outdated else settlement_of(run)) for run in self._ended]
        to_write = [(run, settlement) for run, settlement in settlements if settlement is not None]
        self._pending += [
            _Batch([run for run, _ in batch], [settlement for _, settlement in batch])
            for batch in batches(to_write, len(to_write), size_of)
        ]
        self._ended = []
        void = [run for run, settlement in settlements if settlement is None]
        try:
            for run in void:
                if run.context.settled:
                    run.has_ended_job = True
                    own = Finish(State.SUCCEEDED, event_fields=run.context.settled_fields)
                    self._observers.settled(run, own)
                else:
                    self._observers.lost(run, "outcome")
        finally:
            self._on_settled(void)

    def _settle(self, batch: _Batch) -> None:
        try:
            accepted = self._store.settlements.settle(batch.settlements, self._worker)
            if batch.is_unsure:
                # After a lost reply a refusal may be our own success: nobody else could have ended that fence.
                accepted |= self._accepted_before(batch.settlements, accepted)
        except Exception as error:  # noqa: BLE001 - whatever it is, no outcome is lost for it
            again = self._keep(batch, error)
            self._pending.remove(batch)
            self._pending += again
            return
        self._pending.remove(batch)
        self._written += 1
        try:
            for run, settlement in zip(batch.runs, batch.settlements, strict=True):
                if run.lease.id in accepted:
                    run.has_ended_job = isinstance(settlement.step, Finish)
                    self._observers.settled(run, settlement.step)
                else:
                    self._observers.lost(run, "settle")
        finally:
            self._on_settled(batch.runs)

    def _keep(self, batch: _Batch, error: Exception) -> list[_Batch]:
        """Keep what could not be written until it can be; only what its own data forbids ends here."""
        kind = self._store.database.kind_of_error(error)
        if kind is ErrorKind.DATA:
            return batch.halves() if len(batch.runs) > 1 else self._buried(batch, error)
        wait = self._loop.note(error, batch.backoff.next())
        if isinstance(error, DatabaseLost):  # there is nothing to wait for
            self._on_settled(batch.runs)
            return []
        batch.is_unsure = True
        batch.oversized += getattr(error, "less_may_pass", False)
        is_alone_at_fault = kind is ErrorKind.FAULT and 0 <= batch.written < self._written
        batch.written = self._written
        if len(batch.runs) > 1 and (batch.oversized >= OVERSIZED_TRIES or is_alone_at_fault):
            return batch.halves()
        batch.due = time.monotonic() + wait
        return [batch]

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


def size_of(pair: tuple[Run, Settlement]) -> int:
    """About how many bytes the database is sent of a run and its settlement."""
    step = pair[1].step
    result = step.result if isinstance(step, Finish) else None
    if step.failure is None:
        return 0 if result is None else size_of_text(result)
    return size_of_text(result) + size_of_text(step.failure.message) + FRAME_BYTES * len(step.failure.frames)


def settlement_of(run: Run) -> Settlement | None:
    """What is written of a run that ended; None where it has no right to an outcome any more.

    Where its outcome makes no sense, such as a wait that is no number, its job is dead instead.
    """
    if run.outcome is None:
        return None
    try:
        step = resolve(run.outcome, run.lease, run.task.options.retry, random.random)
    except (ValueError, TypeError, ArithmeticError) as error:
        return _unstorable(release_of(run), error)
    return Settlement(run.lease, step, run.seconds)


def release_of(run: Run) -> Settlement:
    """A run that is given back without burning its attempt."""
    return Settlement(run.lease, RELEASE, run.seconds)


def leave_to_others(lease: HeldLease) -> Settlement:
    """A job whose task this worker does not have is left to others for a while."""
    wait_us = int(UNKNOWN_TASK_SECONDS * SECOND)
    return Settlement(lease, PutBack("snooze", wait_us, refund=1, deferral=1, waiting_on=UNKNOWN_TASK_GATE))


def _unstorable(settlement: Settlement, error: Exception) -> Settlement:
    failure = Failure(type(error).__name__, REASON_UNSTORABLE, "the outcome of the run could not be stored")
    return Settlement(settlement.lease, Finish(State.DEAD, REASON_UNSTORABLE, failure=failure), settlement.seconds)
