"""The simulated worker: it claims, runs a step here and a step there, renews, and settles, as the real one does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from haulwright.client.signals import Signals
from haulwright.engine.job import Lease, LeaseKey
from haulwright.engine.outcome import Done, Outcome
from haulwright.engine.retry import Retry
from haulwright.engine.settlement import RELEASE, PutBack, Settlement, resolve
from haulwright.errors import DatabaseUnavailable, EffectUnknown, HaulwrightError, LeaseLost, Suspended
from haulwright.runtime import execution
from haulwright.runtime.settler import UNKNOWN_TASK_SECONDS
from haulwright.stores.claim_cursor import ClaimCursor
from haulwright.stores.store import Store
from haulwright.stores.workers import Identity
from proof.simulation.acts import Act, Acts, SteppedContext, call
from proof.simulation.bodies import Bodies
from proof.simulation.requests import limits_of, note_claimed_grants
from proof.simulation.riding import Rides
from proof.simulation.world import SECOND, World

POLICY = Retry(5, base="10 s", jitter=0.25)
HANGS = (0, 0, 0, 0, 12, 25)
OUTCOMES = execution._RETURNED_OUTCOMES


@dataclass(slots=True, eq=False)
class Run:
    """A job in the hands of a worker."""

    lease: Lease
    context: SteppedContext
    steps: Acts[int | Outcome]
    """What is left of it."""
    pending: Act | None = None
    """The call that it makes next; None before it begins."""
    outcome: Outcome | None = None
    error: BaseException | None = None
    over: bool = False
    unsure: bool = False
    """The reply to its settlement was lost."""
    hangs: int = 0
    """For so many deeds of its worker it stands still, and nobody renews its lease."""


@dataclass(slots=True)
class Worker:
    """One incarnation of a worker process."""

    world: World
    store: Store
    id: str
    tasks: frozenset[str]
    """What its version of the code knows."""
    gone: tuple[str, ...] = ()
    """Earlier incarnations that are known to be dead."""
    turn: ClaimCursor = field(default_factory=ClaimCursor)
    runs: list[Run] = field(default_factory=list)
    rides: Rides = field(init=False)
    in_doubt: bool = False
    """A claim or a release broke off: what it holds must be looked up."""
    beats: int = 0

    def __post_init__(self) -> None:
        self.rides = Rides(self.world, self.store, [Bodies._save, Bodies._hand_on])

    def work(self) -> Acts[None]:
        """Recover, then claim, run, renew and settle in an order that the seed decides."""
        for deed in (self._register, self._recover, self._declare_sources):
            yield from self._patiently(deed)
        while True:
            yield from self._patiently(self._next_deed())

    def _next_deed(self) -> Callable[[], Acts[None]]:
        if self.world.is_draining:
            if any(run.over for run in self.runs):
                return self._settle
            if self.runs:
                return self._step
            return self._claim if self.world.next_due <= self.world.clock.time else self._rest
        deeds = [self._claim, self._step, self._renew, self._settle, self._release, self._beat]
        return self.world.rng.choices(deeds, [3, 12, 2, 5, 0.3, 0.3])[0]

    def _patiently(self, deed: Callable[[], Acts[None]]) -> Acts[None]:
        try:
            yield from deed()
        except DatabaseUnavailable:
            self.world.seen["a worker had to wait for the database"] += 1

    def _rest(self) -> Acts[None]:
        """Nothing is to do."""
        yield from call("rest", lambda: None)

    def _register(self) -> Acts[None]:
        identity = Identity(self.id, "worker", "host", "boot", 1, "1", "1")
        yield from call(
            "look", lambda: self.store.workers.register(identity, list(self.world.queues), sorted(self.tasks))
        )

    def _recover(self) -> Acts[None]:
        if self.gone and self.world.rng.random() < 0.5:
            taken = yield from call("recover", lambda: self.store.recovery.recover(self.gone), workers=self.gone)
            self.world.seen["a dead process was recovered at once"] += len(taken)

    def _declare_sources(self) -> Acts[None]:
        for key, limits in limits_of(self.world).items() if self.world.has_sources else ():
            yield from call("govern", lambda key=key, limits=limits: self.store.sources.declare(key, limits))  # type: ignore[misc]

    def _beat(self) -> Acts[None]:
        """Say that it lives, and notice a database that has forgotten some of it."""
        beats = yield from call("look", lambda: self.store.workers.seen(self.id, 0))
        self.world.seen["a worker saw that the database was put back"] += beats <= self.beats
        self.beats = beats

    def _claim(self) -> Acts[None]:
        if self.in_doubt:
            yield from self._give_back_unknown()
        batch = self.world.options.batch
        if len(self.runs) >= batch + 2:
            return
        self.in_doubt = True
        leases = yield from call(
            "claim", lambda: self.store.leases.claim(self.id, self.world.queues, batch, self.turn), workers=[self.id]
        )
        self.in_doubt = False
        keys = {lease.key for lease in leases}
        note_claimed_grants(self.world, self.store.database.process.admissions._unused, keys)
        again = self._disown(leases)
        self._begin([lease for lease in leases if lease.task in self.tasks and lease not in again])
        yield from self._leave_to_others([lease for lease in leases if lease.task not in self.tasks])
        if again:
            steps = [Settlement(lease, RELEASE) for lease in again]
            self.in_doubt = True
            yield from call("settle", lambda: self.store.settlements.settle(steps, self.id), again)
            self.in_doubt = False

    def _disown(self, leases: list[Lease]) -> list[Lease]:
        """A lease that is held already was given out twice: the database was put back, and forgot what was done.

        The run that has it is lost, and what was claimed goes back: the next claim of the job has another fence.
        """
        held = {run.lease.key: run for run in self.runs}
        again = [lease for lease in leases if lease.key in held]
        for lease in again:
            self.runs.remove(held[lease.key])
            self.world.seen["a worker was given a lease again that it held"] += 1
        return again

    def _begin(self, leases: list[Lease]) -> None:
        bodies = Bodies(self.world)
        for lease in leases:
            self.world.note_claim(lease)
            runs_still = any(run.lease.id == lease.id and not run.over for run in self.runs)
            self.world.seen["a worker got a job again that it still ran"] += runs_still
            context = SteppedContext(lease, self.store, Signals(), self.id, self.rides.queue)
            hangs = 0 if self.world.is_draining else self.world.rng.choice(HANGS)
            self.runs.append(Run(lease, context, bodies.of[lease.task](context), hangs=hangs))

    def _give_back_unknown(self) -> Acts[None]:
        """After a claim that broke off: there may be leases of ours that nobody here knows of."""
        held = [run.lease for run in self.runs]
        keys: set[LeaseKey] = {lease.key for lease in held}
        freed = yield from call(
            "give back", lambda: self.store.recovery.give_back_unknown(self.id, keys), held, workers=[self.id]
        )
        self.in_doubt = False
        self.world.seen["a lease that its worker did not know of was given back"] += len(freed)

    def _leave_to_others(self, leases: list[Lease]) -> Acts[None]:
        """A job whose task this version does not have stays queued."""
        if leases:
            wait = PutBack(
                "snooze", int(UNKNOWN_TASK_SECONDS * SECOND), refund=1, deferral=1, waiting_on="task:unknown"
            )
            steps = [Settlement(lease, wait) for lease in leases]
            yield from call("settle", lambda: self.store.settlements.settle(steps, self.id), leases)
            self.world.seen["a task of another version was left to others"] += len(leases)

    def _step(self) -> Acts[None]:
        """Take one step of one run: up to its next call of the store, and that call."""
        waiting = [run for run in self.runs if not run.over and (not run.hangs or self.world.is_draining)]
        for run in self.runs:
            run.hangs = max(0, run.hangs - 1)
        if not waiting:
            return
        run = self.world.rng.choice(waiting)
        if run.pending is None:
            if run.lease.key in self.world.claimed:  # not of a database that was put back since
                self.world.diary.write("run.begin", run.lease.id, run.lease.fence)
            self._go_on(run)
        if run.pending is None or run.over:
            return
        if run.pending.ride is not None:
            yield from self._write_commits()
        else:
            yield run.pending
            self._go_on(run)

    def _write_commits(self) -> Acts[None]:
        """Write the commits that wait, those of runs that this worker has given up too, and let their runs go on."""
        if self.rides.is_late(may_come=any(run.pending is None or run.pending.ride is None for run in self.runs)):
            return
        yield Act("run", self.rides.leases)
        self.rides.write()
        for run in [run for run in self.runs if run.pending is not None and run.pending.ride is not None]:
            if run.pending is not None and run.pending.ride is not None and run.pending.ride.answer is not None:
                self._go_on(run)

    def _go_on(self, run: Run) -> None:
        """What a run does up to its next call of the store, or its end."""
        try:
            run.pending = next(run.steps)
        except StopIteration as end:
            run.over, run.outcome = True, self._returned(run, end.value)
        except (Exception, Suspended) as error:  # noqa: BLE001 - an outcome, by the engine's own rule
            run.over = True
            execution._classify_error(run, error)  # type: ignore[arg-type] # a run, as far as the rule looks at it
            self._note(error, run)

    def _returned(self, run: Run, value: int | Outcome) -> Outcome | None:
        if run.context.settled:
            return None
        return value if isinstance(value, OUTCOMES) else Done(str(value))

    def _note(self, error: BaseException, run: Run) -> None:
        if not isinstance(error, HaulwrightError | Suspended):
            self.world.wrong.append(f"{run.lease.task} failed with {type(error).__name__}: {error}")
        self.world.seen["a run was told that its lease is lost"] += isinstance(error, LeaseLost)
        self.world.seen["an interrupted effect was left for a person"] += isinstance(error, EffectUnknown)
        self.world.seen["a run went to wait for other jobs"] += run.context.signals.suspended is not None

    def _renew(self) -> Acts[None]:
        """Renew all leases; those of runs whose job this worker has again under a newer fence by themselves."""
        old: list[Run] = execution.superseded(self.runs)  # type: ignore[arg-type, assignment] # as above
        for runs in ([run for run in self.runs if run not in old and not run.hangs], old):
            leases = [run.lease for run in runs]
            if leases:
                renewal = yield from call("renew", lambda leases=leases: self.store.leases.renew(leases), leases)  # type: ignore[misc]
                for run in runs:
                    self._signal(run, renewal.lost, renewal.cancelled)

    def _signal(self, run: Run, lost: frozenset[str], cancelled: dict[str, str]) -> None:
        if run.lease.id in lost and self.world.rng.random() < 0.5:  # else it goes on without having heard of it
            run.context.signals.lost = True
        if run.lease.id in cancelled:
            run.context.signals.cancelled = cancelled[run.lease.id]

    def _settle(self) -> Acts[None]:
        self.runs = [run for run in self.runs if not run.over or run.outcome is not None]
        ended = [(run, run.outcome) for run in self.runs if run.over and run.outcome is not None]
        if not ended:
            return
        chance = self.world.rng.random
        steps = [Settlement(run.lease, resolve(outcome, run.lease, POLICY, chance)) for run, outcome in ended]
        leases = [run.lease for run, _ in ended]
        try:
            accepted = yield from call("settle", lambda: self.store.settlements.settle(steps, self.id), leases)
        except DatabaseUnavailable:
            for run, _ in ended:
                run.unsure = True
            raise
        for run, _ in ended:
            yield from self._let_go(run, accepted=run.lease.id in accepted)

    def _let_go(self, run: Run, *, accepted: bool) -> Acts[None]:
        """After a lost reply a refusal may be our own success: that is looked up, never guessed."""
        if run.unsure and not accepted:
            mine = yield from call("look", lambda: self.store.settlements.ended_by(run.lease))
            self.world.seen["a lost reply was found to be a success"] += mine
            if mine and run.lease.key not in self.world.settled:
                self.world.believe_wrongly(run.lease)
        if run in self.runs:
            self.runs.remove(run)

    def _release(self) -> Acts[None]:
        """As a worker that is told to stop: everything is given back."""
        leases = [run.lease for run in self.runs]
        if leases:
            steps = [Settlement(lease, RELEASE) for lease in leases]
            self.in_doubt = True
            self.runs.clear()  # after a lost reply nobody knows whether they are ours still: they are looked up
            given = yield from call("settle", lambda: self.store.settlements.settle(steps, self.id), leases)
            self.world.seen["a job was released"] += len(given)
