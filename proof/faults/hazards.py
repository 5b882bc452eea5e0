"""Tasks that a worker must survive, beside the ordinary ones of a workload."""

from __future__ import annotations

import os
import signal
import threading

from haulwright import Context, Retry, Retryable
from haulwright.client.task import Task
from proof.support.workload import Workload

GO = "those that hold on may go"
"""The flag that held runs wait for."""
POISON_ATTEMPTS = 3
ENDLESS_ATTEMPTS = 2


class Hazards:
    """The dangerous tasks, bound to the app of a workload."""

    def __init__(self, work: Workload) -> None:
        self._work = work
        app, policy = work.app, Retry(5, base="1 s", jitter=0)
        self.holding: Task[..., int] = app.task(name="holding", retry=policy)(self._hold)
        self.brief: Task[..., int] = app.task(name="brief", retry=policy, lease="1 s")(self._hold)
        self.faltering: Task[..., int] = app.task(name="faltering", retry=Retry(5, base="0.1 s"))(self._falter)
        deadly = Retry(POISON_ATTEMPTS, base="1 s", jitter=0)
        self.poison: Task[..., int] = app.task(name="poison", retry=deadly)(self._die)
        patience = Retry(ENDLESS_ATTEMPTS, base="0.1 s", jitter=0)
        forever = app.task(name="endless", retry=patience, lease="1 s", timeout="0.2 s")
        self.endless: Task[..., int] = forever(self._wait_forever)

    def _hold(self, ctx: Context, number: int) -> int:
        """Keep a lease in hand until the proof says otherwise, deaf to everything else."""
        with self._work._witnessed(ctx):
            self._work.wait_for(GO)
            return number

    def _falter(self, ctx: Context, number: int) -> int:
        """Fail once, and that is this task's own fault."""
        with self._work._witnessed(ctx):
            if ctx.job.attempts == 1:
                raise Retryable("not yet")
            return number

    def _die(self, ctx: Context, number: int) -> int:
        """Take the whole process along, as a broken extension module does."""
        with self._work._witnessed(ctx):
            os.kill(os.getpid(), signal.SIGSEGV)
            return number

    def _wait_forever(self, ctx: Context, number: int) -> int:
        """Never come back, whatever the context says."""
        with self._work._witnessed(ctx):
            threading.Event().wait()
            return number
