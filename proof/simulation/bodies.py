"""What the simulated jobs do: the same promises as the workload of the other proofs, one step at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from haulwright import Retryable, Throttled, Tx
from haulwright.engine.job import NewJob, Unique
from proof.simulation.acts import Acts, SteppedContext
from proof.simulation.world import SECOND, World
from proof.support.machine import MACHINE
from proof.support.workload import owner_of


class Bodies:
    """The functions of the simulated tasks, by name."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.of: dict[str, Callable[[SteppedContext], Acts[int]]] = {
            "note": self._note,
            "pipeline": self._pipeline,
            "settling": self._settling,
            "failing": self._failing,
            "snoozing": self._snoozing,
            "careful": self._careful,
            "doomed": self._doomed,
        }

    def _note(self, ctx: SteppedContext) -> Acts[int]:
        yield from ctx.take(ctx.progress, 0.5, note=f"under fence {ctx.job.fence}")
        return 1

    def _pipeline(self, ctx: SteppedContext) -> Acts[int]:
        yield from self._charge_once(ctx)
        yield from ctx.take(ctx.stage, "FETCHED", MACHINE)
        return (yield from ctx.take(ctx.commit, "save", self._save))

    def _settling(self, ctx: SteppedContext) -> Acts[int]:
        yield from self._charge_once(ctx)
        return (yield from ctx.take(ctx.commit, "save", self._save, settle=True))

    def _failing(self, ctx: SteppedContext) -> Acts[int]:
        yield from self._charge_once(ctx)
        if ctx.job.attempts == 1:
            raise Retryable("not yet")
        return (yield from ctx.take(ctx.commit, "save", self._save))

    def _snoozing(self, ctx: SteppedContext) -> Acts[int]:
        yield from self._charge_once(ctx)
        if ctx.job.deferrals == 0:
            raise Throttled("come back", after=20)
        return (yield from ctx.take(ctx.commit, "save", self._save))

    def _careful(self, ctx: SteppedContext) -> Acts[int]:
        """An effect that nobody can look up and that must not happen twice."""
        yield from ctx.take(ctx.effect, "dare", self._act, "dare", owner_of(ctx.job), at_most_once=True)
        return 1

    def _doomed(self, ctx: SteppedContext) -> Acts[int]:
        yield from ctx.take(ctx.progress, 0.1)
        raise Retryable("never")

    def _charge_once(self, ctx: SteppedContext) -> Acts[int]:
        key = owner_of(ctx.job)
        found = partial(self._found, key)
        return (yield from ctx.take(ctx.effect, "charge", self._act, "charge", key, recover=found))

    def _act(self, event: str, key: str) -> int:
        self._world.outside.write(event, key)
        return 1

    def _found(self, key: str, _effect_key: str) -> int | None:
        found = any(entry.job == key for entry in self._world.outside.of("charge"))
        self._world.seen["an effect in doubt was adopted" if found else "an effect in doubt had not happened"] += 1
        return 1 if found else None

    def _save(self, tx: Tx) -> int:
        lease = tx._context.job
        tx.execute("insert into proof_sink values (?, ?, ?)", (owner_of(lease), lease.id, lease.fence))
        if lease.task == "pipeline":
            tx.stage("SAVED", MACHINE)
        return 1


def draw_job(world: World, new_id: str) -> NewJob:
    """A job of a kind that the seed chooses."""
    rng = world.rng
    task = rng.choice(["note", "pipeline", "pipeline", "settling", "failing", "snoozing", "careful", "doomed"])
    words: dict[str, object] = {}
    match rng.randrange(6):
        case 0:
            words = {"job_key": f"planned-{task}-{rng.randrange(2)}"}
        case 1:
            words = {"unique": Unique(f"key-{rng.randrange(2)}")}
        case 2:
            words = {"unique": Unique(f"key-{rng.randrange(2)}", "forever")}
        case 3:
            words = {"unique": Unique(f"key-{rng.randrange(2)}", "period", 60 * SECOND)}
        case 4:
            words = {"concurrency_key": "few", "concurrency_limit": 1}
    return NewJob(
        id=new_id,
        task=task,
        args="{}",
        tenant=rng.choice(["acme", "beta"]),
        priority=rng.choice([0, 0, 5]),
        delay_us=rng.choice([0, 0, 15 * SECOND]),
        max_attempts=rng.choice([2, 3, 5]),
        lease_us=world.options.lease_seconds * SECOND,
        deadline_us=rng.choice([None, 3600 * SECOND, 90 * SECOND]),
        **words,  # type: ignore[arg-type]
    )
