"""The simulated worker: it claims, runs a step here and a step there, renews, and settles, as the real one does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from haulwright.client.context import Signals
from haulwright.engine.job import Lease
from haulwright.engine.outcome import Done, Outcome, Snooze, outcome_of
from haulwright.engine.retry import Retry
from haulwright.engine.settlement import RELEASE, Settlement, resolve
from haulwright.errors import DatabaseUnavailable, EffectUnknown, LeaseLost
from haulwright.runtime.failure import failure_of
from haulwright.stores.claim_cursor import ClaimCursor
from haulwright.stores.store import Store
from proof.simulation.acts import Act, Acts, SteppedContext, call
from proof.simulation.bodies import Bodies
from proof.simulation.world import World

POLICY = Retry(5, base="10 s", jitter=0.25)
QUEUES = ("default",)


@dataclass(slots=True, eq=False)
class Run:
    """A job in the hands of a worker."""

    lease: Lease
    context: SteppedContext
    steps: Acts[int]
    """What is left of it."""
    pending: Act | None = None
    """The call that it makes next; None before it begins."""
    outcome: Outcome | None = None
    over: bool = False
    unsure: bool = False
    """The reply to its settlement was lost."""


@dataclass(slots=True)
class Worker:
    """One incarnation of a worker process."""

    world: World
    store: Store
    id: str
    gone: tuple[str, ...] = ()
    """Earlier incarnations that are known to be dead."""
    turn: ClaimCursor = field(default_factory=ClaimCursor)
    runs: list[Run] = field(default_factory=list)

    def work(self) -> Acts[None]:
        """Recover, then claim, run, renew and settle in an order that the seed decides."""
        yield from self._patiently(self._recover)
        while True:
            deed = self.world.rng.choices(
                [self._claim, self._step, self._renew, self._settle, self._release], [3, 12, 3, 6, 0.3]
            )[0]
            yield from self._patiently(deed)

    def _patiently(self, deed: Callable[[], Acts[None]]) -> Acts[None]:
        try:
            yield from deed()
        except DatabaseUnavailable:
            self.world.seen["a worker had to wait for the database"] += 1

    def _recover(self) -> Acts[None]:
        if self.gone and self.world.rng.random() < 0.5:
            taken = yield from call("recover", lambda: self.store.recovery.recover(self.gone), workers=self.gone)
            self.world.seen["a dead process was recovered at once"] += len(taken)

    def _claim(self) -> Acts[None]:
        if len(self.runs) >= self.world.options.batch * 2:
            return
        batch = self.world.options.batch
        leases = yield from call("claim", lambda: self.store.leases.claim(self.id, QUEUES, batch, self.turn))
        bodies = Bodies(self.world)
        for lease in leases:
            context = SteppedContext(lease, self.store, Signals(), self.id)
            self.runs.append(Run(lease, context, bodies.of[lease.task](context)))

    def _step(self) -> Acts[None]:
        """Take one step of one run: up to its next call of the store, and that call."""
        waiting = [run for run in self.runs if not run.over]
        if not waiting:
            return
        run = self.world.rng.choice(waiting)
        try:
            if run.pending is None:
                self.world.diary.write("run.begin", run.lease.id, run.lease.fence)
                run.pending = next(run.steps)
            yield run.pending
            run.pending = next(run.steps)
        except StopIteration as end:
            run.over, run.outcome = True, None if run.context.settled else Done(str(end.value))
        except LeaseLost:
            run.over = True
            self.world.seen["a run was told that its lease is lost"] += 1
        except DatabaseUnavailable:
            run.over, run.outcome = True, Snooze(5, "database")
        except EffectUnknown as error:
            run.over, run.outcome = True, outcome_of(error, failure_of(error))
            self.world.seen["an interrupted effect was left for a person"] += 1
        except Exception as error:  # noqa: BLE001 - whatever a task raises is an outcome
            run.over, run.outcome = True, outcome_of(error, failure_of(error))

    def _renew(self) -> Acts[None]:
        leases = [run.lease for run in self.runs]
        renewal = yield from call("renew", lambda: self.store.leases.renew(leases), leases)
        for run in self.runs:
            if run.lease.id in renewal.lost:
                run.context.signals.lost = True
            if run.lease.id in renewal.cancelled:
                run.context.signals.cancelled = renewal.cancelled[run.lease.id]

    def _settle(self) -> Acts[None]:
        self.runs = [run for run in self.runs if not run.over or run.outcome is not None]
        told = [(run, run.outcome) for run in self.runs if run.over and run.outcome is not None]
        if not told:
            return
        chance = self.world.rng.random
        steps = [Settlement(run.lease, resolve(outcome, run.lease, POLICY, chance)) for run, outcome in told]
        leases = [run.lease for run, _ in told]
        try:
            accepted = yield from call("settle", lambda: self.store.settlements.settle(steps, self.id), leases)
        except DatabaseUnavailable:
            for run, _ in told:
                run.unsure = True
            raise
        for run, _ in told:
            yield from self._let_go(run, accepted=run.lease.id in accepted)

    def _let_go(self, run: Run, *, accepted: bool) -> Acts[None]:
        """After a lost reply a refusal may be our own success: that is looked up, never guessed."""
        if run.unsure and not accepted:
            mine = yield from call("look", lambda: self.store.settlements.ended_by(run.lease))
            self.world.seen["a lost reply was found to be a success"] += mine
        self.runs.remove(run)

    def _release(self) -> Acts[None]:
        """As a worker that is told to stop: everything is given back."""
        leases = [run.lease for run in self.runs]
        if leases:
            steps = [Settlement(lease, RELEASE) for lease in leases]
            given = yield from call("settle", lambda: self.store.settlements.settle(steps, self.id), leases)
            self.world.seen["a job was released"] += len(given)
            self.runs.clear()
