"""The load of the chaos: tasks of every kind. Whatever they do outside, they write down there, in one order for all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from haulwright import Context, Haulwright, LeaseLost, Retry, Retryable, Throttled, Tx
from haulwright.client.signals import Signals
from haulwright.client.task import Task
from haulwright.errors import DatabaseProblem
from proof.support.site import Site
from proof.support.workload import owner_of

SINK = """create table if not exists proof_sink (
    owner text not null, job_id text not null, fence bigint not null, held bigint)"""
"""`held` is the fence that the job was running under, as the transaction of the row saw it."""
_SAVE = {
    "sqlite": "insert into proof_sink select ?, ?, ?, "
    "(select fence from haulwright_jobs where id = ? and state = 'running')",
    "postgres": "insert into proof_sink select %s, %s, %s, "
    "(select fence from haulwright_jobs where id = %s::uuid and state = 'running')",
}
LEASE = "5 s"
LASTING_SECONDS = 6.0
"""Longer than a lease: a worker that comes back after it finds its job in the hands of another."""
SCHEDULES = 6
"""Every minute each: a cron line knows no seconds."""
PARTS = 2
KEYS = 12
LEDGERED = frozenset(
    {"pipeline", "settling", "failing", "snoozing", "joining", "visiting", "isolated", "lasting", "looping"}
)
"""The tasks whose success means one effect and one commit in the ledger."""


class Load:
    """The tasks, bound to a site."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.diary = site.diary()
        self.outside = site.outside()
        self.app = Haulwright(site.url)
        self.calm = self.app.source("calm", rate="300/min", burst=10, concurrency=2)
        self.note = self._task("note", self._note)
        self.keyed = self._task("keyed", self._note_key, unique="key")
        self.settling = self._task("settling", self._settle)
        self.pipeline = self._task("pipeline", self._save_behind_permit, concurrency=2)
        self.failing = self._task("failing", self._fail_once)
        self.snoozing = self._task("snoozing", self._snooze_once)
        self.isolated = self._task("isolated", self._save_alone, isolation="process")
        self.part = self._task("part", self._part)
        self.joining = self._task("joining", self._join_parts)
        self.visiting = self._task("visiting", self._visit, source=self.calm)
        self.lasting = self._task("lasting", self._last)
        self.looping = self._task("looping", self._loop)
        for number in range(SCHEDULES):
            name = f"every minute {number}"
            self.app.schedule(name, "* * * * *", self.note, args={"number": number}, misfire_grace=None)

    def _task(self, name: str, function: Any, **options: Any) -> Task[..., Any]:
        policy = Retry(100, base="0.2 s", cap="2 s")
        task: Task[..., Any] = self.app.task(name=name, retry=policy, lease=LEASE, **options)(function)
        return task

    def prepare(self) -> None:
        """Make the table that commits write to."""
        self.app.store.database.transact(lambda connection: connection.execute(SINK))

    def close(self) -> None:
        """Let go of the database and the diaries."""
        self.app.close()
        self.diary.close()
        self.outside.close()

    def _note(self, ctx: Context, number: int) -> int:
        with self._witnessed(ctx):
            return number

    def _note_key(self, ctx: Context, key: str) -> str:
        with self._witnessed(ctx):
            time.sleep(0.05)
            return key

    def _settle(self, ctx: Context, number: int) -> int:
        with self._witnessed(ctx):
            self._charge_once(ctx)
            return ctx.commit("save", self._save, number, settle=True)

    def _save_behind_permit(self, ctx: Context, number: int) -> int:
        with self._witnessed(ctx):
            ctx.progress(0.5)
            return self._charge_and_save(ctx, number)

    def _fail_once(self, ctx: Context, number: int) -> int:
        with self._witnessed(ctx):
            self._charge_once(ctx)
            if ctx.job.attempts == 1:
                raise Retryable("not yet")
            return ctx.commit("save", self._save, number)

    def _snooze_once(self, ctx: Context, number: int) -> int:
        with self._witnessed(ctx):
            if ctx.job.deferrals == 0:
                raise Throttled("come back", after=0.5)
            return self._charge_and_save(ctx, number)

    def _save_alone(self, ctx: Context, number: int) -> int:
        """In a process of its own."""
        with self._witnessed(ctx):
            return self._charge_and_save(ctx, number)

    def _part(self, ctx: Context, number: int) -> int:
        with self._witnessed(ctx):
            return number

    def _join_parts(self, ctx: Context, number: int) -> int:
        with self._witnessed(ctx):
            self._charge_once(ctx)
            calls = [self.part.call(number) for _ in range(PARTS)]
            for call in calls:
                self.diary.write("enqueue.intent", call.job.id)
            parts = ctx.enqueue_many("parts", calls)
            for part in parts:
                self.diary.write("enqueue.ok", part.id)
            total = sum(outcome.value() for outcome in ctx.join(parts))
            return ctx.commit("save", self._save, total)

    def _visit(self, ctx: Context, number: int) -> int:
        """Behind the gate of a source, which all workers share."""
        with self._witnessed(ctx):
            return self._charge_and_save(ctx, number)

    def _last(self, ctx: Context, number: int) -> int:
        """Take so long that a fault falls into it."""
        with self._witnessed(ctx):
            self._charge_once(ctx)
            time.sleep(LASTING_SECONDS)
            return ctx.commit("save", self._save, number)

    async def _loop(self, ctx: Context, number: int) -> int:
        """The same on the event loop, in short."""
        self.diary.write("run.begin", ctx.job.id, ctx.job.fence)
        owner, fence = owner_of(ctx.job), ctx.job.fence
        await ctx.aeffect(
            "charge", lambda: self._charge(owner, fence), key="charge", recover=lambda _: self._look(owner, fence)
        )
        self.outside.write("recorded", owner, fence)
        await asyncio.sleep(0.1)
        return await ctx.acommit("save", self._save, number)

    def _write_all_the_same(self, ctx: Context) -> None:
        """As a run does that did not hear of its loss: through a context of its own, and through the store."""
        deaf = Context(ctx.job, ctx.store, Signals())
        doors = {
            "commit": lambda: deaf.commit("save", self._save, 0),
            "renew": lambda: self._renew(ctx),
        }
        for verb, door in doors.items():
            with suppress(DatabaseProblem):  # then nobody said anything
                try:
                    door()
                except LeaseLost:
                    accepted = False
                else:
                    accepted = True
                self.diary.write("write", ctx.job.id, ctx.job.fence, door="deaf", verb=verb, accepted=accepted)

    def _renew(self, ctx: Context) -> None:
        if ctx.job.id in ctx.store.leases.renew([ctx.job]).lost:
            raise LeaseLost(ctx.job.id, ctx.job.fence)

    def _charge_and_save(self, ctx: Context, number: int) -> int:
        self._charge_once(ctx)
        return ctx.commit("save", self._save, number)

    def _charge_once(self, ctx: Context) -> None:
        owner, fence = owner_of(ctx.job), ctx.job.fence
        ctx.effect(
            "charge", lambda: self._charge(owner, fence), key="charge", recover=lambda _: self._look(owner, fence)
        )
        self.outside.write("recorded", owner, fence)

    def _charge(self, owner: str, fence: int) -> int:
        self.outside.write("begins", owner, fence)
        self.outside.write("charge", owner, fence)
        return 1

    def _look(self, owner: str, fence: int) -> int | None:
        """Ask the outside whether it was done, as `recover` should."""
        self.outside.write("look", owner, fence)
        lines = self.outside.path.read_text("utf-8").splitlines()
        return 1 if any('"charge"' in line and f'"{owner}"' in line for line in lines) else None

    def _save(self, tx: Tx, number: int) -> int:
        lease = tx._context.job
        tx.execute(_SAVE[tx.dialect], (owner_of(lease), lease.id, lease.fence, lease.id))
        return number

    @contextmanager
    def _witnessed(self, ctx: Context) -> Iterator[None]:
        """Write down that a run began and ended; one that lost its lease tries to write once more."""
        self.diary.write("run.begin", ctx.job.id, ctx.job.fence)
        try:
            yield
        except LeaseLost:
            self._write_all_the_same(ctx)
            raise
        self.diary.write("run.end", ctx.job.id, ctx.job.fence)
