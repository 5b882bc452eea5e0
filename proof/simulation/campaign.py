"""Runs a seed: first anything may go wrong and nothing may become wrong, then all must be made good."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from haulwright.engine.ids import new_id
from haulwright.stores.store import Store
from proof.simulation import authority, ending, people, records, resources, upkeep
from proof.simulation.acts import Act, Acts
from proof.simulation.bodies import Bodies
from proof.simulation.clients import client
from proof.simulation.faults import Died, FaultyDatabase
from proof.simulation.judge import Judge
from proof.simulation.options import Fault, Options, Theme
from proof.simulation.workers import Worker
from proof.simulation.world import SECOND, Backup, Tables, World, world_of
from proof.support.checker import Verdict
from proof.support.site import START

DRAIN_STEPS = 2_000
"""Rounds of everybody in which all must be made good."""
FAR = 2**62
WEIGHTS = {"worker": 5, "client": 3}
OLD_VERSION_LACKS = frozenset({"pipeline", "joining", "picky"})
PRUNED = ("haulwright_history", "haulwright_effects", "haulwright_stages", "haulwright_slots")
CHECKED_BY = (authority, records, resources)
"""Where the judge's checks are: to import them is to have them."""
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
    is_in_call: bool = False


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
        self._judge = Judge(world)
        self._faults: Counter[str] = Counter()
        self._history: list[str] = []
        self._step = 0
        self._latest = START
        """The latest time that the clock ever showed."""
        self._gone: list[str] = []
        self._backup: Backup | None = None
        self._actors = self._cast()

    def run(self) -> Outcome:
        """Both phases, and the verdict."""
        for _ in range(self._world.options.steps):
            self._step += 1
            self._pass_time()
            self._put_back()
            self._go_on(self._choose(), faults=True)
        due = self._make_good()
        verdict, wrong = ending.verdict_of(self._world, due)
        seen = Counter({what: count for what, count in self._world.seen.items() if count})
        return Outcome(self._world.options, verdict, self._judge.wrong + wrong, self._faults, seen, self._history)

    def _cast(self) -> list[Actor]:
        world, options = self._world, self._world.options
        half = (options.jobs + 1) // 2
        parts: list[tuple[str, Begin]] = [
            ("client 1", lambda store: client(world, store, half)),
            ("client 2", lambda store: client(world, store, options.jobs - half)),
            ("reaper", lambda store: upkeep.reaper(world, store)),
            ("administrator", lambda store: people.administrator(world, store)),
        ]
        if Theme.SCHEDULES in options.themes:
            parts += [
                ("scheduler 1", lambda store: upkeep.scheduler(world, store)),
                ("scheduler 2", lambda store: upkeep.scheduler(world, store, is_newer=True)),
            ]
        if Theme.PRUNING in options.themes:
            parts.append(("retention", lambda store: upkeep.retention(world, store)))
        parts += [(f"worker {number}", partial(self._worker, number)) for number in range(options.workers)]
        return [self._start(name, begin) for name, begin in parts]

    def _worker(self, number: int, store: Store) -> Acts[None]:
        tasks = frozenset(Bodies(self._world).of)
        if number == 1 and Theme.VERSIONS in self._world.options.themes:
            tasks -= OLD_VERSION_LACKS
        worker = Worker(self._world, store, new_id(), tasks, tuple(self._gone))
        try:
            yield from worker.work()
        except Died:
            self._gone.append(worker.id)
            raise

    def _start(self, name: str, begin: Begin) -> Actor:
        store, database = self._world.process()
        return Actor(name, begin, begin(store), database)

    def _choose(self) -> Actor | None:
        """Who goes on of those that are awake: mostly those who work."""
        awake = [actor for actor in self._actors if actor.asleep_until <= self._step and not actor.is_in_call]
        weights = [WEIGHTS.get(actor.name.split()[0], 1) for actor in awake]
        return self._world.rng.choices(awake, weights)[0] if awake else None

    def _pass_time(self) -> None:
        rng, clock = self._world.rng, self._world.clock
        clock.time += rng.choice([0, 0, 100_000, 1_000_000, 3_000_000])
        if self._happens(Fault.CLOCK_FORWARD):
            clock.time += rng.choice([40, 130, 700]) * SECOND
        if self._happens(Fault.CLOCK_BACK):
            clock.time -= rng.choice([1, 20, 90]) * SECOND
        self._latest = max(self._latest, clock.time)

    def _put_back(self) -> None:
        """A backup is made now and then, and may take the place of the database."""
        if Fault.PUT_BACK not in self._world.options.rates:
            return
        if self._backup is not None and self._happens(Fault.PUT_BACK):
            self._world.restore(self._backup)
            self._judge.begin()
            self._note("everybody", Act("put back"))
            self._backup = None
        elif self._backup is None and self._world.rng.random() < 0.2:
            self._backup = self._world.back_up()

    def _go_on(self, actor: Actor | None, *, faults: bool) -> None:
        """Let an actor make the call that it stopped before, with what the seed lets go wrong there."""
        if actor is None:
            return
        actor.database.begin_call()
        if faults and actor.pending is not None:
            if self._happens(Fault.PAUSE):
                actor.asleep_until = self._step + self._world.rng.randint(5, 60)
                return
            if self._happens(Fault.KILL):
                self._bury(actor)
                return
            self._arm(actor)
        self._resume(actor)

    def _arm(self, actor: Actor) -> None:
        rng = self._world.rng
        actor.database.between = partial(self._interleave, actor)
        for fault in (Fault.BUSY, Fault.DIE_INSIDE, Fault.DIE_AFTER, Fault.LOSE_REPLY):
            if self._happens(fault):
                actor.database.begin_call(
                    fault, at=rng.choice([0, 0, 0, 1]), statement=rng.randint(0, 5), stays_away=rng.random() < 0.3
                )
                return

    def _interleave(self, actor: Actor) -> None:
        """Between two transactions of one call others may go first."""
        if self._world.is_draining or actor.pending is None or self._world.rng.random() > 0.3:
            return
        self._judge.look(actor.pending, completed=False)
        self._world.seen["somebody went between two transactions of a call"] += 1
        other = self._choose()
        if other is not None:
            self._go_on(other, faults=True)

    def _resume(self, actor: Actor) -> None:
        act, alive, completed = actor.pending, True, False
        kept = self._prunable() if act is not None and act.verb == "prune" else {}
        actor.is_in_call = True
        try:
            actor.pending = next(actor.acts)
            completed = True
        except StopIteration:
            self._actors.remove(actor)
        except Died:
            alive = False
        except Exception as error:  # noqa: BLE001 - what no actor expects is a finding, whatever it is
            self._judge.wrong.append(f"{actor.name} failed at {act}: {type(error).__name__}: {error}")
            alive = False
        actor.is_in_call = False
        if act is not None:
            self._note(actor.name, act)
            self._note_purged(kept)
            self._world.seen["a call broke off"] += actor.database.has_failed
            self._judge.look(act, completed=completed and not actor.database.has_failed)
        if not alive:
            self._replace(actor)

    def _prunable(self) -> Tables:
        tables = {name: f"select * from {name}" for name in PRUNED}
        return self._world.database.read(lambda c: {name: c.execute(asked) for name, asked in tables.items()})

    def _note_purged(self, kept: Tables) -> None:
        if kept:
            left = self._prunable()
            purged = {name: [row for row in rows if row not in left[name]] for name, rows in kept.items()}
            if any(purged.values()):
                self._world.purged.append(purged)

    def _bury(self, actor: Actor) -> None:
        """Kill a process where it stands."""
        try:
            actor.acts.throw(Died())
        except (Died, StopIteration):
            self._replace(actor)

    def _replace(self, actor: Actor) -> None:
        """Somebody starts the process again: it knows nothing of what its predecessor did."""
        self._actors[self._actors.index(actor)] = self._start(actor.name, actor.begin)
        self._world.seen["a process died"] += 1

    def _happens(self, fault: Fault) -> bool:
        happens = self._world.rng.random() < self._world.options.rates.get(fault, 0.0)
        self._faults[fault] += happens
        return happens

    def _note(self, name: str, act: Act) -> None:
        held = ", ".join(f"{lease.id[:8]}/{lease.fence}" for lease in act.leases)
        self._history.append(f"{self._step:4} {self._world.clock.time - START:>14,} {name:14} {act.verb} {held}")

    def _make_good(self) -> dict[str, set[int]]:
        """Stop the faults, wake whoever sleeps, let everybody finish; returns the slots that were owed until then."""
        world = self._world
        world.is_draining = True
        world.clock.time = self._latest  # a clock that was set back comes right again
        people.open_everything(world)
        self._judge.begin()
        self._keep({"reaper", "scheduler", "worker"})
        self._open_slots()
        owed_until = self._latest
        self._keep({"reaper", "worker"})
        for _ in range(DRAIN_STEPS):
            due, lease_end = ending.next_moments(world)
            if due is None and lease_end is None:
                break
            world.next_due = FAR if due is None else due
            world.next_lease_end = FAR if lease_end is None else lease_end
            if all(actor.pending is not None and actor.pending.verb == "rest" for actor in self._actors[1:]):
                self._latest = max(self._latest, min(world.next_due, world.next_lease_end + 1))
            self._latest = world.clock.time = self._latest + world.rng.choice([0, SECOND])
            for actor in list(self._actors):
                self._step += 1
                self._go_on(actor, faults=False)
        return ending.owed(world, owed_until)

    def _keep(self, kinds: set[str]) -> None:
        self._actors = [actor for actor in self._actors if actor.name.split()[0] in kinds]

    def _open_slots(self) -> None:
        """The last look at the schedule, by a scheduler that nothing happens to."""
        for _ in range(8):
            for actor in [actor for actor in self._actors if actor.name == "scheduler 1"]:
                self._go_on(actor, faults=False)


def run_seed(seed: int, *, on_disk: bool = False) -> Outcome:
    """Run one seed from the beginning to the verdict."""
    with world_of(Options.of(seed), on_disk=on_disk) as world:
        return Campaign(world).run()
