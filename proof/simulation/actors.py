"""The actors besides the workers: clients, the reaper, schedulers and an administrator."""

from __future__ import annotations

from haulwright.engine.ids import new_id
from haulwright.engine.job import NewJob
from haulwright.engine.schedule import ScheduleSpec
from haulwright.engine.transitions import State
from haulwright.errors import Conflict, DatabaseUnavailable, NotFound
from haulwright.stores.job_rows import Requeue
from haulwright.stores.listing import JobFilter
from haulwright.stores.store import Store
from proof.simulation.acts import Acts, call
from proof.simulation.bodies import draw_job
from proof.simulation.world import SECOND, World

SCHEDULE = "every five minutes"
QUEUE = "default"


def client(world: World, store: Store, requests: int) -> Acts[None]:
    """Enqueues, writes down what it meant and what it was told, and asks again where the job has a key."""
    for _ in range(requests):
        job = draw_job(world, new_id())
        world.diary.write("enqueue.intent", job.id)
        again = True
        while again:
            again = yield from _enqueue(world, store, job)


def _enqueue(world: World, store: Store, job: NewJob) -> Acts[bool]:
    """One try; True where it should be repeated, which is safe only under a key."""
    try:
        (made,) = yield from call("enqueue", lambda: store.jobs.enqueue([job]))
    except Conflict:
        world.seen["a duplicate with other arguments was refused"] += 1
        return False
    except DatabaseUnavailable as problem:
        world.diary.write("enqueue.info", job.id)
        return job.job_key is not None or not problem.outcome_unknown
    world.diary.write("enqueue.ok", made.id)
    world.seen["a duplicate got the existing job"] += not made.created
    return False


def reaper(world: World, store: Store) -> Acts[None]:
    """Takes back what ran out and buries what is overdue, a little at a time."""
    while True:
        try:
            taken = yield from call("reap", lambda: store.recovery.reap(world.rng.randint(1, 3)))
            world.seen["a lease expired"] += len(taken)
            world.seen["a lost lease was the last"] += sum(one.state is State.DEAD for one in taken)
            gone = yield from call("expire", lambda: store.recovery.expire(2))
            world.seen["a job waited past its deadline"] += len(gone)
        except DatabaseUnavailable:
            continue


def scheduler(world: World, store: Store) -> Acts[None]:
    """Declares the schedule, as every process does, and opens what is due."""
    declared = False
    while True:
        try:
            if not declared:
                yield from call("declare", lambda: store.schedules.declare(spec(world), template(world)))
                declared = True
            for name in (yield from call("look", store.schedules.due)):
                opened = yield from call("open", lambda name=name: store.schedules.open_due(name))  # type: ignore[misc]
                world.seen["a race for a slot was lost"] += opened.slots == 0
                world.seen["a slot fired"] += len(opened.jobs)
        except DatabaseUnavailable:
            continue


def administrator(world: World, store: Store) -> Acts[None]:
    """Cancels, requeues, pauses, resumes and triggers, without knowing better."""
    while True:
        deed = world.rng.choice([_cancel, _cancel, _requeue, _requeue, _pause, _resume, _trigger])
        try:
            yield from deed(world, store)
        except (DatabaseUnavailable, Conflict, NotFound):
            continue


def _cancel(world: World, store: Store) -> Acts[None]:
    page = yield from call("look", lambda: store.listing.page(JobFilter(), limit=20))
    if page.jobs:
        job = world.rng.choice(page.jobs)
        state = yield from call("cancel", lambda: store.jobs.cancel(job.id, tenant=None, reason="so", actor="admin"))
        world.seen[f"a job was cancelled, then {state}"] += 1


def _requeue(world: World, store: Store) -> Acts[None]:
    page = yield from call("look", lambda: store.listing.page(JobFilter(state=State.DEAD), limit=20))
    if page.jobs:
        job = world.rng.choice(page.jobs)
        how = Requeue("admin", "so", fresh=world.rng.random() < 0.2)
        yield from call("requeue", lambda: store.jobs.requeue(job.id, how, tenant=None))
        world.seen["a dead letter was requeued"] += 1


def _pause(world: World, store: Store) -> Acts[None]:
    if world.rng.random() < 0.3:
        yield from call("pause", lambda: store.queues.pause(QUEUE, actor="admin", reason="so"))
    yield from call("pause", lambda: store.schedules.pause(SCHEDULE, tenant=None, actor="admin"))


def _resume(_world: World, store: Store) -> Acts[None]:
    yield from call("resume", lambda: store.queues.resume(QUEUE, actor="admin"))
    yield from call("open", lambda: store.schedules.resume(SCHEDULE, tenant=None, actor="admin"))


def _trigger(world: World, store: Store) -> Acts[None]:
    moment = world.rng.choice([None, world.clock.time // (300 * SECOND) * 300 * SECOND])
    yield from call("open", lambda: store.schedules.trigger(SCHEDULE, moment, tenant=None, actor="admin"))
    world.seen["a slot was opened by hand"] += 1


def spec(world: World) -> ScheduleSpec:
    """The schedule of this seed."""
    seed = world.options.seed
    return ScheduleSpec.declare(
        SCHEDULE,
        "*/5 * * * *",
        "note",
        coalesce=bool(seed % 5),
        overlap="allow" if seed % 2 else "skip",
        misfire_grace=None if seed % 3 else 600,
    )


def template(world: World) -> NewJob:
    """The job that a slot makes."""
    return NewJob(id="", task="note", args="{}", lease_us=world.options.lease_seconds * SECOND)
