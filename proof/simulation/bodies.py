"""What the simulated jobs do: the same promises as the workload of the other proofs, one step at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from zlib import crc32

from haulwright import Permanent, Retryable, Throttled, Tx
from haulwright.engine.ids import new_id
from haulwright.engine.job import Lease, NewJob
from haulwright.engine.outcome import Outcome, Skip
from proof.simulation.acts import Acts, SteppedContext
from proof.simulation.options import Fault
from proof.simulation.requests import Requests
from proof.simulation.riding import fails_in_company
from proof.simulation.world import SECOND, World
from proof.support.machine import MACHINE
from proof.support.workload import PARTS, owner_of

Body = Callable[[SteppedContext], Acts[int | Outcome]]
SECRET = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"  # noqa: S105 - no secret of anybody's: it must not come back
SNOOZE_SECONDS = 20


class Bodies:
    """The functions of the simulated tasks, by name."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._requests = Requests(world)
        self.of: dict[str, Body] = {
            "note": self._note,
            "pipeline": self._pipeline,
            "settling": self._settling,
            "failing": self._failing,
            "snoozing": self._snoozing,
            "careful": self._careful,
            "doomed": self._doomed,
            "picky": self._picky,
            "hopeless": self._hopeless,
            "joining": self._joining,
            "part": self._note,
            "governed": self._governed,
            "visiting": self._visiting,
        }

    def _note(self, ctx: SteppedContext) -> Acts[int | Outcome]:
        yield from ctx.take(ctx.progress, 0.5, note=f"under fence {ctx.job.fence}")
        return 1

    def _pipeline(self, ctx: SteppedContext) -> Acts[int | Outcome]:
        yield from self._charge_once(ctx)
        yield from ctx.take(ctx.stage, "FETCHED", MACHINE)
        return (yield from self._save_once(ctx))

    def _settling(self, ctx: SteppedContext) -> Acts[int | Outcome]:
        yield from self._charge_once(ctx)
        return (yield from self._save_once(ctx, settle=True))

    def _failing(self, ctx: SteppedContext) -> Acts[int | Outcome]:
        yield from self._charge_once(ctx)
        if ctx.job.attempts == 1:
            raise Retryable("not yet")
        return (yield from self._save_once(ctx))

    def _snoozing(self, ctx: SteppedContext) -> Acts[int | Outcome]:
        yield from self._charge_once(ctx)
        if ctx.job.deferrals == 0:
            raise Throttled("come back", after=SNOOZE_SECONDS)
        return (yield from self._save_once(ctx))

    def _careful(self, ctx: SteppedContext) -> Acts[int | Outcome]:
        """An effect that nobody can look up and that must not happen twice."""
        yield from ctx.take(ctx.effect, "dare", self._act, "dare", owner_of(ctx.job), at_most_once=True)
        return 1

    def _doomed(self, ctx: SteppedContext) -> Acts[int | Outcome]:
        yield from ctx.take(ctx.progress, 0.1)
        raise Retryable(f"GET https://me:{SECRET}@server.example/ failed, password={SECRET}")

    def _picky(self, ctx: SteppedContext) -> Acts[int | Outcome]:
        yield from ctx.take(ctx.progress, 0.1)
        return Skip("nothing to do")

    def _hopeless(self, ctx: SteppedContext) -> Acts[int | Outcome]:
        yield from ctx.take(ctx.progress, 0.1)
        raise Permanent("no run can help")

    def _joining(self, ctx: SteppedContext) -> Acts[int | Outcome]:
        """Hand work to other jobs, and go on when they have ended."""
        yield from self._charge_once(ctx)
        parts = yield from ctx.take(ctx.commit, "parts", self._hand_on)
        for part in parts:
            self._world.diary.write("enqueue.ok", part)
        outcomes = yield from ctx.take(ctx.join, parts)
        unfinished = self._world.unfinished(parts)
        if unfinished and Fault.PUT_BACK not in self._world.options.rates:
            self._world.wrong.append(f"I18: job {ctx.job.id} went on while {sorted(unfinished)} had not ended")
        self._world.seen["a join had all its jobs"] += len(outcomes) == len(parts)
        return (yield from self._save_once(ctx))

    def _hand_on(self, tx: Tx) -> list[str]:
        count = self._world.rng.randint(1, 2)
        jobs = [self._part(tx._context.job.tenant) for _ in range(count)]
        for job in jobs:
            self._world.diary.write("enqueue.intent", job.id)
        return [enqueued.id for enqueued in tx.store.jobs.enqueue_on(tx.connection, jobs)]

    def _part(self, tenant: str) -> NewJob:
        task = self._world.rng.choice(["part", "part", "part", "hopeless"])
        lease_us = self._world.options.lease_seconds * SECOND
        return NewJob(new_id(), task, "{}", tenant=tenant, queue=PARTS, max_attempts=3, lease_us=lease_us)

    def _governed(self, ctx: SteppedContext) -> Acts[int | Outcome]:
        """Pass the gate of a source with the claim, and ask the server."""
        yield from self._requests.ask_server(ctx, ctx.job.source or "", self._charge_once(ctx))
        return (yield from self._save_once(ctx))

    def _visiting(self, ctx: SteppedContext) -> Acts[int | Outcome]:
        """Pass the gate of a source in the middle of a run."""
        yield from self._requests.ask_server(ctx, "calm", self._charge_once(ctx))
        return (yield from self._save_once(ctx))

    def _charge_once(self, ctx: SteppedContext) -> Acts[int]:
        key = owner_of(ctx.job)
        found = partial(self._found, key)
        return (yield from ctx.take(ctx.effect, "charge", self._act, "charge", key, recover=found))

    def _save_once(self, ctx: SteppedContext, *, settle: bool = False) -> Acts[int]:
        """Commit, and see that what comes back is this job's own, in the first run and in every later one."""
        saved = yield from ctx.take(ctx.commit, "save", self._save, settle=settle)
        if saved != _number_of(ctx.job):
            self._world.wrong.append(f"I10: the commit of {owner_of(ctx.job)} gave {saved}")
        return saved

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
        if fails_in_company(self._world):
            raise Retryable("it was written, and is taken back")
        return _number_of(lease)


def _number_of(lease: Lease) -> int:
    return crc32(owner_of(lease).encode())
