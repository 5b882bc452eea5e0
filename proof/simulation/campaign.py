"""Runs a seed: first anything may go wrong and nothing may become wrong, then all must be made good."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from haulwright.engine.ids import new_id
from haulwright.stores.store import Store
from proof.simulation import actors
from proof.simulation.acts import Act, Acts
from proof.simulation.authority import Judge
from proof.simulation.faults import Died, FaultyDatabase
from proof.simulation.options import Fault, Options
from proof.simulation.workers import Worker
from proof.simulation.world import SECOND, World, world_of
from proof.support.checker import Evidence, Verdict, check
from proof.support.facts import Facts
from proof.support.site import START

DRAIN_STEPS = 6_000
FIVE_MINUTES = 300 * SECOND
Begin = Callable[[Store], Acts[None]]


@dataclass(slots=True, eq=False)
class Actor:
    """A process: what it does, its view of the database, and where it stands."""

    name: str
    begin: Begin
    acts: Acts[None]
    database: FaultyDatabase
    pending: Act | None = None
    """The call that it makes next; None before it begins."""
    asleep_until: int = 0
    """The step before which it does not go on."""


@dataclass
class Outcome:
    """How a seed went."""

    options: Options
    verdict: Verdict
    wrong: list[str]
    faults: Counter[str]
    seen: Counter[str]
    history: list[str] = field(repr=False)

    @property
    def digest(self) -> str:
        """The same for the same seed, always."""
        return hashlib.sha256("\n".join(self.history).encode()).hexdigest()


class Campaign:
    """One seed."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._judge = Judge(world.store)
        self._faults: Counter[str] = Counter()
        self._history: list[str] = []
        self._step = 0
        self._latest = START
        """The latest time that the clock ever showed."""
        self._gone: list[str] = []
        self._actors = self._cast()

    def run(self) -> Outcome:
        """Both phases, and the verdict."""
        for _ in range(self._world.options.steps):
            self._step += 1
            self._pass_time()
            self._go_on(self._choose(), faults=True)
        due = self._make_good()
        facts = Facts.read(self._world.store)
        evidence = Evidence(facts, self._world.diary.entries, self._world.outside.entries, due)
        verdict = check(evidence)
        self._world.seen["a stale write was refused"] += sum(self._judge.refused.values())
        self._world.seen["a job waited for a permit"] += self._judge.turned_away
        wrong = self._judge.wrong + verdict.wrong
        return Outcome(self._world.options, verdict, wrong, self._faults, self._world.seen, self._history)

    def _cast(self) -> list[Actor]:
        world, options = self._world, self._world.options
        half = (options.jobs + 1) // 2
        parts: list[tuple[str, Begin]] = [
            ("client 1", lambda store: actors.client(world, store, half)),
            ("client 2", lambda store: actors.client(world, store, options.jobs - half)),
            ("reaper", lambda store: actors.reaper(world, store)),
            ("scheduler 1", lambda store: actors.scheduler(world, store)),
            ("scheduler 2", lambda store: actors.scheduler(world, store)),
            ("administrator", lambda store: actors.administrator(world, store)),
        ]
        parts += [(f"worker {number}", self._worker) for number in range(options.workers)]
        return [self._start(name, begin) for name, begin in parts]

    def _worker(self, store: Store) -> Acts[None]:
        worker = Worker(self._world, store, new_id(), tuple(self._gone))
        try:
            yield from worker.work()
        except Died:
            self._gone.append(worker.id)
            raise

    def _start(self, name: str, begin: Begin) -> Actor:
        store, database = self._world.process()
        return Actor(name, begin, begin(store), database)

    def _choose(self) -> Actor | None:
        awake = [actor for actor in self._actors if actor.asleep_until <= self._step]
        return self._world.rng.choice(awake) if awake else None

    def _pass_time(self) -> None:
        rng, clock = self._world.rng, self._world.clock
        clock.time += rng.choice([0, 0, 100_000, 1_000_000, 3_000_000])
        if self._happens(Fault.CLOCK_FORWARD):
            clock.time += rng.choice([40, 130, 700]) * SECOND
        if self._happens(Fault.CLOCK_BACK):
            clock.time -= rng.choice([1, 20, 90]) * SECOND
        self._latest = max(self._latest, clock.time)

    def _go_on(self, actor: Actor | None, *, faults: bool) -> None:
        """Let an actor make the call that it stopped before, with what the seed lets go wrong there."""
        if actor is None:
            return
        if faults and actor.pending is not None:
            if self._happens(Fault.PAUSE):
                actor.asleep_until = self._step + self._world.rng.randint(5, 60)
                return
            if self._happens(Fault.KILL):
                self._bury(actor)
                return
            self._arm(actor.database)
        self._resume(actor)

    def _arm(self, database: FaultyDatabase) -> None:
        for fault in (Fault.BUSY, Fault.DIE_INSIDE, Fault.DIE_AFTER, Fault.LOSE_REPLY):
            if self._happens(fault):
                database.next_fault = fault
                database.die_at_statement = self._world.rng.randint(0, 5)
                return

    def _resume(self, actor: Actor) -> None:
        made, alive = actor.pending, True
        try:
            actor.pending = next(actor.acts)
        except StopIteration:
            self._actors.remove(actor)
        except Died:
            alive = False
        except Exception as error:  # noqa: BLE001 - what no actor expects is a finding, whatever it is
            self._judge.wrong.append(f"{actor.name} failed at {made}: {type(error).__name__}: {error}")
            alive = False
        actor.database.next_fault = None
        if made is not None:
            self._note(actor, made)
            self._judge.look(made, self._world.clock.time)
        if not alive:
            self._replace(actor)

    def _bury(self, actor: Actor) -> None:
        """Kill a process where it stands."""
        try:
            actor.acts.throw(Died())
        except (Died, StopIteration):
            self._replace(actor)

    def _replace(self, actor: Actor) -> None:
        """Somebody starts the process again: it knows nothing of what its predecessor did."""
        actor.database.close()
        self._actors[self._actors.index(actor)] = self._start(actor.name, actor.begin)
        self._world.seen["a process died"] += 1

    def _happens(self, fault: Fault) -> bool:
        happens = self._world.rng.random() < self._world.options.rates.get(fault, 0.0)
        self._faults[fault] += happens
        return happens

    def _note(self, actor: Actor, act: Act) -> None:
        held = ", ".join(f"{lease.id[:8]}/{lease.fence}" for lease in act.leases)
        self._history.append(f"{self._step:4} {self._world.clock.time - START:>14,} {actor.name:14} {act.verb} {held}")

    def _make_good(self) -> dict[str, set[int]]:
        """Stop the faults, wake whoever sleeps, let everybody finish; returns the slots that were owed until then."""
        self._world.clock.time = self._latest  # a clock that was set back comes right again
        somebody, _ = self._world.process()
        somebody.queues.resume(actors.QUEUE, actor="admin")
        self._judge.look(Act("resume"), self._latest)
        self._actors = [actor for actor in self._actors if not actor.name.startswith(("client", "administrator"))]
        self._open_slots()
        owed_until = self._latest
        self._actors = [actor for actor in self._actors if not actor.name.startswith("scheduler")]
        for _ in range(DRAIN_STEPS):
            self._step += 1
            waiting = _next_due(self._world.store)
            if waiting is None:
                break
            passed = self._world.rng.choice([0, SECOND, 4 * SECOND])
            self._latest = self._world.clock.time = max(self._latest + passed, waiting)
            self._go_on(self._world.rng.choice(self._actors), faults=False)
        return self._owed(owed_until)

    def _open_slots(self) -> None:
        """The last look at the schedule, by a scheduler that nothing happens to."""
        for _ in range(40):
            schedulers = [actor for actor in self._actors if actor.name.startswith("scheduler")]
            self._go_on(schedulers[0], faults=False)

    def _owed(self, until: int) -> dict[str, set[int]]:
        """The slots of the schedule by arithmetic, from its declaration on."""
        asked = "select created_at from haulwright_schedules"
        rows = self._world.store.database.read(lambda connection: connection.execute(asked))
        if not rows:
            return {}
        first = rows[0][0] // FIVE_MINUTES * FIVE_MINUTES + FIVE_MINUTES
        return {actors.SCHEDULE: set(range(first, until + 1, FIVE_MINUTES))}


def _next_due(store: Store) -> int | None:
    """When something is to do for an active job; None where there is none."""
    asked = "select min(case when state = 'queued' then run_at else 0 end) from haulwright_jobs"
    moment: int | None = store.database.read(lambda connection: connection.execute(asked))[0][0]
    return moment


def run_seed(seed: int) -> Outcome:
    """Run one seed from the beginning to the verdict."""
    with world_of(Options.of(seed)) as world:
        return Campaign(world).run()
