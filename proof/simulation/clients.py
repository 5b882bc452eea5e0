"""The simulated clients: what they enqueue, and what they write down of it."""

from __future__ import annotations

from haulwright.engine.ids import new_id
from haulwright.engine.job import NewJob, Unique
from haulwright.errors import Conflict, DatabaseUnavailable
from haulwright.stores.store import Store
from proof.simulation.acts import Acts, call
from proof.simulation.options import Theme
from proof.simulation.world import SECOND, World

TENANTS = ("acme", "beta")
WITH_COMMITS = 0.6
"""How many jobs end with a commit, where commits are to meet."""
TASKS = ("note", "pipeline", "settling", "failing", "snoozing", "careful", "doomed", "picky", "hopeless")
PERIOD_US = 60 * SECOND


def client(world: World, store: Store, requests: int) -> Acts[None]:
    """Enqueues, writes down what it meant and what it was told, and asks again where the job has a key."""
    for _ in range(requests):
        job = draw_job(world)
        world.diary.write("enqueue.intent", job.id)
        world.arguments[job.id] = job.args
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
        world.seen["a client was not told whether its job is there"] += problem.outcome_unknown
        return job.job_key is not None or not problem.outcome_unknown
    world.diary.write("enqueue.ok", made.id)
    world.seen["a duplicate got the existing job"] += not made.created
    return False


def draw_job(world: World) -> NewJob:
    """A job of a kind that the seed chooses."""
    rng, themes = world.rng, world.options.themes
    task = rng.choice(TASKS)
    if Theme.JOINS in themes and rng.random() < 0.4:
        task = "joining"
    if Theme.SOURCES in themes and rng.random() < 0.75:
        task = rng.choice(["governed", "governed", "visiting"])
    if Theme.COMPANY in themes and world.company.random() < WITH_COMMITS:
        task = world.company.choice(["pipeline", "settling", "settling"])
    return NewJob(
        id=new_id(),
        task=task,
        args=rng.choice(["{}", "{}", '{"number":1}']),
        tenant=rng.choice(TENANTS),
        priority=rng.choice([0, 0, 5]),
        delay_us=rng.choice([0, 0, 15 * SECOND]),
        max_attempts=rng.choice([1, 2, 3, 5]),
        lease_us=world.options.lease_seconds * SECOND,
        deadline_us=rng.choice([None, 3600 * SECOND, 90 * SECOND]),
        source="server" if task == "governed" else None,
        **_keys(world, task),  # type: ignore[arg-type]
    )


def _keys(world: World, task: str) -> dict[str, object]:
    """What about a job must be unique, or may run only beside few others."""
    rng, themes = world.rng, world.options.themes
    if Theme.PERMITS in themes and rng.random() < 0.5:
        return {"concurrency_key": "few", "concurrency_limit": 1 + world.options.seed % 2}
    if Theme.KEYS not in themes:
        return {}
    unique = f"key-{rng.randrange(2)}"
    planned = f"planned-{task}-{rng.randrange(2)}"
    kinds: list[dict[str, object]] = [
        {"job_key": planned},
        {"unique": Unique(unique)},
        {"unique": Unique(unique, "forever")},
        {"unique": Unique(unique, "period", PERIOD_US)},
        {"unique": Unique(unique, "forever"), "job_key": planned},
    ]
    return rng.choice(kinds)
