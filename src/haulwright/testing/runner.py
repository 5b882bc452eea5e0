"""Runs jobs one at a time on the caller's thread, through the real claim, run and settle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from haulwright.client.task import Task
from haulwright.engine.job import Lease
from haulwright.engine.settlement import RELEASE, Finish, Settlement
from haulwright.engine.transitions import State
from haulwright.errors import UnknownTask
from haulwright.runtime.execution import Run, run_async, run_plain
from haulwright.runtime.identity import this_process
from haulwright.runtime.maintenance import Maintenance
from haulwright.runtime.observers import Observers
from haulwright.runtime.settler import settlement_of
from haulwright.settings import Settings
from haulwright.stores.claim_cursor import ClaimCursor
from haulwright.stores.store import Store
from haulwright.testing.faults import Faults, Killed, MortalContext

_OUTCOMES = (Exception, Killed, SystemExit, GeneratorExit, asyncio.CancelledError)
"""What a task may raise. Anything else, such as Ctrl-C, is meant for the test."""


class Runner:
    """A worker without threads: what would be its process dies where a crash is planned, and another takes over."""

    def __init__(self, store: Store, faults: Faults, find: Callable[[str], Task[..., Any] | None]) -> None:
        self._store = store
        self._faults = faults
        self._find = find
        self._settings = Settings.load()
        self._identity = this_process("bench")
        self._registered = False
        self._turn = ClaimCursor()

    def upkeep(self) -> None:
        """What every worker does beside running jobs: take back lost leases, bury the overdue, open slots."""
        observers = Observers.logged(self._identity.name)
        chores = Maintenance(self._store, self._identity, observers, self._settings)
        while reaped := self._store.recovery.reap():  # the clock is the test's: there is nobody to watch
            observers.reaped(reaped, "sweep")
        chores.expire()
        chores.open_slots()

    def step(self, queues: Sequence[str], tasks: Sequence[str]) -> tuple[Run, bool] | None:
        """Run the next due job; returns its run and whether the process lived, or None where nothing is due."""
        if not self._registered:
            self._store.workers.register(self._identity, list(queues), list(tasks))
            self._registered = True
        lengths = {name: task.options.lease_us for name in tasks if (task := self._find(name))}
        leases = self._store.leases.claim(self._identity.id, queues, 1, self._turn, lengths=lengths)
        if not leases:
            return None
        run, context = self._prepare(leases[0])
        lived = self._perform(run, context)
        if not lived:
            self._identity, self._registered = this_process("bench"), False
        return run, lived

    def _prepare(self, lease: Lease) -> tuple[Run, MortalContext]:
        task = self._find(lease.task)
        if task is None:
            self._store.settlements.settle([Settlement(lease, RELEASE)], self._identity.name)
            raise UnknownTask(lease.task, hint="Its app is not in this harness: haulwright.use(app)")
        context = MortalContext(
            lease, self._store, worker=self._identity.name, event_fields=task.options.event_fields, faults=self._faults
        )
        return Run(lease, task.declared, context), context

    def _perform(self, run: Run, context: MortalContext) -> bool:
        """Run and settle; False where the process was killed before it came to that."""
        observers = Observers.logged(self._identity.name, run.task.app.observers)
        observers.claimed([run.lease])
        try:
            context.meet("after", "claim")
            if run.task.is_async:
                asyncio.run(run_async(run, observers))
            else:
                run_plain(run, observers)
            if run.error is not None and not isinstance(run.error, _OUTCOMES):
                raise run.error
            if not context.signals.dead and not context.settled:
                context.meet("before", "settle")
        except Killed:
            return False
        if context.signals.dead:
            return False
        self._settle(run, observers)
        return True

    def _settle(self, run: Run, observers: Observers) -> None:
        settlement = settlement_of(run)
        if run.context.settled:
            observers.settled(run, Finish(State.SUCCEEDED, event_fields=run.context.settled_fields))
        elif settlement is None:
            observers.lost(run, "outcome")
        elif self._store.settlements.settle([settlement], self._identity.name):
            observers.settled(run, settlement.step)
        else:
            observers.lost(run, "settle")
