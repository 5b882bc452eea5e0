"""The simulated administrator: cancels, requeues, pauses, resumes, triggers and resolves, without knowing better."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from haulwright.engine.transitions import State
from haulwright.errors import Conflict, DatabaseUnavailable, IllegalTransition, InvalidValue, NotFound, UnreadableRow
from haulwright.stores.job_rows import Requeue
from haulwright.stores.listing import JobFilter
from haulwright.stores.store import Store
from proof.simulation.acts import Acts, call
from proof.simulation.options import Theme
from proof.simulation.upkeep import SCHEDULE
from proof.simulation.world import SECOND, World

ADMIN = "admin"
SOURCES = ("server", "calm")
NEWER_FIELDS = "update haulwright_schedules set template = json_set(template, '$.novelty', 1)"
OLDER_FIELDS = "update haulwright_schedules set template = json_remove(template, '$.novelty')"
FIVE_MINUTES = 300 * SECOND
Deed = Callable[[World, Store], Acts[None]]


def administrator(world: World, store: Store) -> Acts[None]:
    """Does one thing after another, and takes a refusal for an answer."""
    usual: list[Deed] = [_cancel, _cancel, _requeue, _requeue, _retry, _pause, _resume, _trespass, _resolve]
    special: list[Deed] = []
    if Theme.SCHEDULES in world.options.themes:
        special += [_pause_schedule, _resume_schedule, _trigger, _backfill]
        if Theme.VERSIONS in world.options.themes:
            special += [_write_newer_field, _mend_newer_field]
    if world.has_sources:
        special += [_pause_source, _resume_source, _narrow_source, _turn_server, _turn_server]
    while True:
        try:
            deeds = special if special and world.rng.random() < 0.5 else usual
            yield from world.rng.choice(deeds)(world, store)
        except (DatabaseUnavailable, Conflict, NotFound, IllegalTransition, InvalidValue, UnreadableRow):
            continue


def open_everything(world: World) -> None:
    """What a person does when the faults are over, so that nothing is kept waiting for them."""
    world.server_is_down = False
    store = world.store
    for queue in world.queues:
        store.queues.resume(queue, actor=ADMIN)
    store.database.transact(lambda connection: connection.execute(OLDER_FIELDS))
    for key in SOURCES:
        with suppress(NotFound):  # one may be declared, and the other one not any more, in a database that was put back
            if store.sources.get(key).standing.paused_until > world.clock.time:  # what broke is left to its probe
                store.sources.resume(key, actor=ADMIN)


def _any_job(world: World, store: Store, state: State | None = None) -> Acts[str]:
    page = yield from call("look", lambda: store.listing.page(JobFilter(state=state), limit=20))
    if not page.jobs:
        raise NotFound("job", "any")
    return world.rng.choice(page.jobs).id


def _cancel(world: World, store: Store) -> Acts[None]:
    job = yield from _any_job(world, store)
    state = yield from call("cancel", lambda: store.jobs.cancel(job, tenant=None, reason="so", actor=ADMIN))
    world.seen[f"a job was cancelled, then {state}"] += 1


def _retry(world: World, store: Store) -> Acts[None]:
    job = yield from _any_job(world, store)
    hastened = yield from call("hasten", lambda: store.jobs.retry(job, tenant=None, reason="so", actor=ADMIN))
    world.seen["a waiting job was made due by hand"] += hastened


def _requeue(world: World, store: Store) -> Acts[None]:
    job = yield from _any_job(world, store, State.DEAD)
    how = Requeue(ADMIN, "so", fresh=world.rng.random() < 0.2)
    yield from call("requeue", lambda: store.jobs.requeue(job, how, tenant=None))
    world.seen["a dead letter was requeued"] += 1


def _trespass(world: World, store: Store) -> Acts[None]:
    """Somebody of another tenant names a job: that must look as if there were none."""
    job = yield from _any_job(world, store)
    doors: list[Callable[[], object]] = [
        lambda: store.jobs.cancel(job, tenant="nobody", reason="mine", actor="stranger"),
        lambda: store.jobs.retry(job, tenant="nobody", reason="mine", actor="stranger"),
        lambda: store.jobs.requeue(job, Requeue("stranger", "mine"), tenant="nobody"),
    ]
    yield from call("trespass", world.rng.choice(doors))
    world.wrong.append(f"I20: job {job} was open to a stranger")


def _resolve(world: World, store: Store) -> Acts[None]:
    """A person finds out about an effect that nobody knows of, and says how it is."""
    unknown = yield from call("look", lambda: store.effects.open(None, 0.0))
    unknown = [effect for effect in unknown if effect.state == "unknown"]
    if unknown:
        effect = world.rng.choice(unknown)
        job = yield from call("look", lambda: store.listing.get(effect.job_id))
        happened = any(entry.job == f"{job.tenant}/{job.job_key}" for entry in world.outside.of("dare"))
        verdict = {"happened": happened, "result": "1" if happened else None, "actor": ADMIN, "reason": "looked"}
        yield from call("resolve", lambda: store.effects.resolve(effect.tenant, effect.key, **verdict))  # type: ignore[arg-type]
        world.seen["a person resolved an unknown effect"] += 1


def _pause(world: World, store: Store) -> Acts[None]:
    queue = world.rng.choice(world.queues)
    yield from call("pause", lambda: store.queues.pause(queue, actor=ADMIN, reason="so"))


def _resume(world: World, store: Store) -> Acts[None]:
    for queue in world.queues:
        changed = yield from call("resume", lambda queue=queue: store.queues.resume(queue, actor=ADMIN))  # type: ignore[misc]
        world.seen["a paused queue was resumed"] += changed


def _pause_schedule(_world: World, store: Store) -> Acts[None]:
    yield from call("pause", lambda: store.schedules.pause(SCHEDULE, tenant=None, actor=ADMIN))


def _resume_schedule(_world: World, store: Store) -> Acts[None]:
    yield from call("open", lambda: store.schedules.resume(SCHEDULE, tenant=None, actor=ADMIN))


def _trigger(world: World, store: Store) -> Acts[None]:
    moment = world.rng.choice([None, world.clock.time // FIVE_MINUTES * FIVE_MINUTES])
    yield from call("open", lambda: store.schedules.trigger(SCHEDULE, moment, tenant=None, actor=ADMIN))
    world.seen["a slot was opened by hand"] += 1


def _backfill(world: World, store: Store) -> Acts[None]:
    until = world.clock.time // FIVE_MINUTES * FIVE_MINUTES
    since = until - world.rng.randint(0, 3) * FIVE_MINUTES
    slots = yield from call("open", lambda: store.schedules.backfill(SCHEDULE, since, until, tenant=None, actor=ADMIN))
    world.seen["a past slot was filled by hand"] += len(slots)


def _write_newer_field(_world: World, store: Store) -> Acts[None]:
    """A process of a newer version declares the schedule with a field that this one does not know."""
    yield from call("newer", lambda: store.database.transact(lambda connection: connection.execute(NEWER_FIELDS)))


def _mend_newer_field(_world: World, store: Store) -> Acts[None]:
    yield from call("newer", lambda: store.database.transact(lambda connection: connection.execute(OLDER_FIELDS)))


def _pause_source(world: World, store: Store) -> Acts[None]:
    key, seconds = world.rng.choice(SOURCES), world.rng.choice([None, 40.0])
    yield from call("govern", lambda: store.sources.pause(key, actor=ADMIN, reason="so", seconds=seconds))


def _resume_source(world: World, store: Store) -> Acts[None]:
    key = world.rng.choice(SOURCES)
    changed = yield from call("open source", lambda: store.sources.resume(key, actor=ADMIN))
    world.seen["a closed source was opened by hand"] += changed


def _narrow_source(world: World, store: Store) -> Acts[None]:
    """Change a figure. From then on the meter runs anew, which by a clock that was set back is not told from a jump."""
    changes = world.rng.choice([{"concurrency": 1}, {"concurrency": 2}, None])

    def override() -> None:
        world.grants.pop("server", None)
        store.sources.override("server", changes, actor=ADMIN)

    yield from call("govern", override)


def _turn_server(world: World, _store: Store) -> Acts[None]:
    """The server goes away, or comes back."""
    yield from call("look", lambda: None)
    world.server_is_down = not world.server_is_down
