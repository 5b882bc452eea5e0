"""What keeps a simulated house in order: the reaper, schedulers, and retention."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from haulwright.engine.job import NewJob
from haulwright.engine.schedule import ScheduleSpec
from haulwright.engine.transitions import FINAL, State
from haulwright.errors import DatabaseUnavailable, NotFound, UnreadableRow
from haulwright.stores.store import Store
from proof.simulation.acts import Acts, call
from proof.simulation.options import Theme
from proof.simulation.world import SECOND, World

SCHEDULE = "every five minutes"
FINAL_STATES = sorted(FINAL)


def reaper(world: World, store: Store) -> Acts[None]:
    """Takes back what ran out and buries what is overdue, a little at a time."""
    while True:
        if world.is_draining and world.next_lease_end >= world.clock.time and world.rng.random() < 0.8:
            yield from call("rest", lambda: None)
            continue
        try:
            taken = yield from call("reap", lambda: store.recovery.reap(world.rng.randint(1, 3)))
            world.seen["a lease expired"] += len(taken)
            world.seen["a lost lease was the last"] += sum(one.state is State.DEAD for one in taken)
            gone = yield from call("expire", lambda: store.recovery.expire(2))
            world.seen["a job waited past its deadline"] += len(gone)
        except DatabaseUnavailable:
            continue


def scheduler(world: World, store: Store, *, is_newer: bool = False) -> Acts[None]:
    """Declares the schedule, as every process does, and opens what is due."""
    declared, declaration = False, (spec(world, is_newer=is_newer), template(world))
    while True:
        try:
            if not declared:
                yield from call("open", lambda: store.schedules.declare(*declaration))
                declared = True
            for name in (yield from call("look", store.schedules.due)):
                opened = yield from call("open", lambda name=name: store.schedules.open_due(name))  # type: ignore[misc]
                world.seen["a race for a slot was lost"] += opened.slots == 0
                world.seen["a slot fired"] += len(opened.jobs)
        except DatabaseUnavailable:
            continue
        except UnreadableRow:
            world.seen["a schedule of another version was left alone"] += 1
        except NotFound:
            declared = False  # the database was put back to a time before the schedule


def retention(world: World, store: Store) -> Acts[None]:
    """Removes what is older than it is kept, which is not long here."""
    while True:
        state, age = world.rng.choice(FINAL_STATES), world.rng.choice([0, 60, 300])
        prunes: list[Callable[[], int]] = [
            partial(store.jobs.prune, state, age, 2),
            partial(store.schedules.prune, age, 3),
            partial(store.jobs.prune_keys, 2),
        ]
        try:
            removed = yield from call("prune", world.rng.choice(prunes))
            world.seen["something was pruned"] += removed > 0
        except DatabaseUnavailable:
            continue


def spec(world: World, *, is_newer: bool = False) -> ScheduleSpec:
    """The schedule of this seed; a newer version of the code may have changed its mind about overlaps."""
    seed = world.options.seed
    changed = is_newer and Theme.VERSIONS in world.options.themes
    return ScheduleSpec.declare(
        SCHEDULE,
        "*/5 * * * *",
        "note",
        coalesce=bool(seed % 5),
        overlap="allow" if (seed + changed) % 2 else "skip",
        misfire_grace=None if seed % 3 else 600,
    )


def template(world: World) -> NewJob:
    """The job that a slot makes."""
    return NewJob(id="", task="note", args="{}", lease_us=world.options.lease_seconds * SECOND)
