"""The work that the proofs do: tasks that write down what they do, and reach every point where they may be killed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from haulwright import Context, Haulwright, LeaseLost, Retry, Retryable, Snooze, Throttled, Tx
from haulwright.client.task import Task
from haulwright.engine.ids import new_id
from haulwright.engine.job import DEFAULT_LEASE_SECONDS, Lease
from proof.support.afterlife import Afterlife
from proof.support.machine import MACHINE
from proof.support.meeting import Meeting
from proof.support.site import BARRIER, SHORT_LEASE, Site

SINK = "create table if not exists proof_sink (owner text not null, job_id text not null, fence bigint not null)"
SCHEDULE = "every five minutes"
PARTS = "parts"
"""The queue of what a joining job hands on."""
QUEUES = ("default", PARTS)
APART = "those that join and those that are joined wait for each other"
HOLD_WRITER = "the writer of commits is held"
WRITER_WAITS = "the writer of commits waits"
WRITER_MAY_GO = "the writer of commits may go"
_MARKS = {"sqlite": "(?, ?, ?)", "postgres": "(%s, %s, %s)"}
_POLL_SECONDS = 0.005

Reach = Callable[[str], None]
"""Called with the name of a point; it returns, unless the process is to die there."""


def go(fence: int) -> str:
    """The flag that lets the lingering run of this fence go on."""
    return f"go-{fence}"


def may_go(task: str) -> str:
    """The flag that lets the runs of this task go on, where parents and children are held apart."""
    return f"{task} may go"


def owner_of(lease: Lease) -> str:
    """The name under which a job acts outside: the same for every run of it, and for no other tenant's."""
    return f"{lease.tenant}/{lease.job_key}"


def never(_point: str) -> None:
    """Reach every point alive."""


class Workload:
    """The tasks, bound to a site."""

    def __init__(self, site: Site, reach: Reach = never) -> None:
        self.site = site
        self.diary = site.diary()
        self.outside = site.outside()
        self.app = Haulwright(site.url, clock=site.clock if site.clock_path.exists() else None)
        self._reach = reach
        self._lock = threading.Lock()
        self._begins_with_others = False
        policy = Retry(5, base="10 s", jitter=0)
        lease = SHORT_LEASE if site.clock_path.exists() else DEFAULT_LEASE_SECONDS
        self.note: Task[..., int] = self.app.task(name="note", retry=policy, lease=lease)(self._note)
        self.pipeline: Task[..., int] = self.app.task(name="pipeline", retry=policy, lease=lease, concurrency=2)(
            self._pipeline
        )
        self.settling: Task[..., int] = self.app.task(name="settling", retry=policy, lease=lease)(self._settling)
        self.failing: Task[..., int] = self.app.task(name="failing", retry=policy, lease=lease)(self._failing)
        self.snoozing: Task[..., int] = self.app.task(name="snoozing", retry=policy, lease=lease)(self._snoozing)
        self.part: Task[..., int] = self.app.task(name="part", retry=policy, lease=lease, queue=PARTS)(self._part)
        self.joining: Task[..., int] = self.app.task(name="joining", retry=policy, lease=lease)(self._joining)
        self.server = self.app.source("server", rate="1/h", concurrency=2)
        self.governed: Task[..., int] = self.app.task(name="governed", source=self.server, retry=policy, lease=lease)(
            self._governed
        )
        self.calm = self.app.source("calm", rate="600/min", burst=10, concurrency=2)
        self.visiting: Task[..., int] = self.app.task(name="visiting", retry=policy, lease=lease)(self._visiting)
        self.narrow = self.app.source("narrow", concurrency=1)
        self.crowding: Task[..., int] = self.app.task(name="crowding", source=self.narrow, retry=policy, lease=lease)(
            self._crowding
        )
        self.meeting: Task[..., int] = self.app.task(name="meeting", retry=policy, lease=lease)(self._meeting)
        self.harvesting: Task[..., int] = self.app.task(name="harvesting", retry=policy, lease=lease)(self._harvesting)
        self._meets = Meeting(self._may_write)
        self.boarding: Task[..., int] = self.app.task(name="boarding", retry=policy, lease="2 s")(self._boarding)
        self.patient: Task[..., int] = self.app.task(name="patient", retry=policy, lease="1 h")(self._boarding)
        lingering = self.app.task(name="lingering", retry=policy, lease="2 s", concurrency=1)
        self.lingering: Task[..., int | Snooze] = lingering(self._lingering)

    def prepare(self) -> None:
        """Make the table that commits write to."""
        self.app.store.database.transact(lambda connection: connection.execute(SINK))

    def close(self) -> None:
        """Let go of the database and the diaries."""
        self.app.close()
        self.diary.close()
        self.outside.close()

    def keep_schedule(self) -> None:
        """Open a slot every five minutes."""
        self.app.schedule(SCHEDULE, "*/5 * * * *", self.note, args={"number": 0}, misfire_grace=None)

    def enqueue(self, task: Task[..., Any], numbers: range) -> list[str]:
        """Enqueue as a client that writes down what it means to do, and what it was told."""
        calls = [task.call(number) for number in numbers]
        for call in calls:
            self.diary.write("enqueue.intent", call.job.id)
        handles = self.app.enqueue_many(calls)
        for handle in handles:
            self.diary.write("enqueue.ok", handle.id)
        return [handle.id for handle in handles]

    def begin_with_others(self) -> None:
        """Have the first runs of this process wait for those of all others, so that none drains the queue by itself."""
        self._begins_with_others = True

    def _wait_for_others(self) -> None:
        with self._lock:
            is_first, self._begins_with_others = self._begins_with_others, False
            if is_first:
                self.diary.write("worker.ready")
                self.wait_for(BARRIER)

    def _note(self, ctx: Context, number: int) -> int:
        with self._witnessed(ctx):
            return number

    def _pipeline(self, ctx: Context, number: int) -> int:
        """Every promise in one run: progress, an effect outside, a stage, rows in the database."""
        with self._witnessed(ctx):
            ctx.progress(0.5)
            self._charge_once(ctx, number)
            ctx.stage("FETCHED", MACHINE)
            self._reach("run: between effect and commit")
            return ctx.commit("save", self._save, number)

    def _settling(self, ctx: Context, number: int) -> int:
        """The same with the job's end in the transaction of its rows."""
        with self._witnessed(ctx):
            self._charge_once(ctx, number)
            return ctx.commit("save", self._save, number, settle=True)

    async def _meeting(self, ctx: Context, number: int) -> int:
        """Commit together with the others, each with the end of its job."""
        with self._witnessed(ctx):
            key = owner_of(ctx.job)
            await ctx.aeffect("charge", self._charge, key, number, recover=lambda _: self._found_outside(key))
            await self._meets.arrive(ctx, self._save)
            return await ctx.acommit("save", self._save, number, settle=True)

    async def _harvesting(self, ctx: Context, number: int) -> int:
        """As a page of a harvest: a commit that is the end of its job, and whoever is there goes along."""
        with self._witnessed(ctx):
            return await ctx.acommit("save", self._save, number, settle=True)

    def _boarding(self, ctx: Context, number: int) -> int:
        """Commit together with all others, on a thread, which waits for its commit whatever becomes of its lease.

        Who runs it again waits for a flag of its fence.
        """
        with self._witnessed(ctx):
            self._meets.expect_all(ctx, self._save)
            if ctx.job.fence > 1:
                self.wait_for(go(ctx.job.fence))
            return ctx.commit("save", self._save, number, settle=True)

    def _failing(self, ctx: Context, number: int) -> int:
        with self._witnessed(ctx):
            self._charge_once(ctx, number)
            if ctx.job.attempts == 1:
                raise Retryable("not yet")
            return ctx.commit("save", self._save, number)

    def _snoozing(self, ctx: Context, number: int) -> int:
        with self._witnessed(ctx):
            self._charge_once(ctx, number)
            if ctx.job.deferrals == 0:
                raise Throttled("come back", after=60)
            return ctx.commit("save", self._save, number)

    def _joining(self, ctx: Context, number: int) -> int:
        """Hand work to another job, and go on when it has ended."""
        with self._witnessed(ctx):
            self._charge_once(ctx, number)
            parts = ctx.enqueue_many("parts", [self.part.call(number)])
            for part in parts:
                self.diary.write("enqueue.intent", part.id)
                self.diary.write("enqueue.ok", part.id)
            self._held_apart("joining")
            total = sum(outcome.value() for outcome in ctx.join(parts))
            return ctx.commit("save", self._save, total)

    def _part(self, ctx: Context, number: int) -> int:
        """What a joining job waits for."""
        with self._witnessed(ctx):
            self._held_apart("part")
            return number

    def _governed(self, ctx: Context, number: int) -> int:
        """Pass the gate of a source, which the first one closes for a while."""
        with self._witnessed(ctx):
            with self.server.enter() as visit:
                self._charge_once(ctx, number)
                if ctx.job.deferrals == 0:
                    visit.failed(park_seconds=60)
            return ctx.commit("save", self._save, number)

    def _visiting(self, ctx: Context, number: int) -> int:
        """Pass the gate of a source that is well, and leave it as it was."""
        with self._witnessed(ctx):
            with self.calm.enter():
                self._charge_once(ctx, number)
            return ctx.commit("save", self._save, number)

    def _crowding(self, ctx: Context, number: int) -> int:
        """Pass the gate of a source that takes one at a time, while the others come and wait for its permit."""
        with self._witnessed(ctx):
            with self.narrow.enter():
                assert ctx.store.leases.claim(new_id(), ["default"], 2) == []
                self._charge_once(ctx, number)
            return ctx.commit("save", self._save, number)

    def _lingering(self, ctx: Context, number: int) -> int | Snooze:
        """Wait in the middle of an effect for a flag of its fence; a run that lost its lease then tries everything."""
        with self._witnessed(ctx):
            ctx.stage("FETCHED", MACHINE)
            ctx.progress(0.1)
            try:
                return ctx.effect("wait", self._wait_in_effect, number, ctx.job.fence, key="wait")
            except LeaseLost:
                self.diary.write("write", ctx.job.id, ctx.job.fence, door="ctx", verb="effect settle", accepted=False)
        Afterlife(ctx, self.diary).try_everything()
        return Snooze(60)

    def _wait_in_effect(self, number: int, fence: int) -> int:
        self.wait_for(go(fence))
        return number

    def _charge_once(self, ctx: Context, number: int) -> None:
        key = owner_of(ctx.job)
        ctx.effect("charge", self._charge, key, number, recover=lambda _: self._found_outside(key))

    def _charge(self, key: str, number: int) -> int:
        self._reach("effect: in the function, before it acts")
        self.outside.write("charge", key, number=number)
        self._reach("effect: in the function, after it acted")
        return number

    def _found_outside(self, key: str) -> int | None:
        """Ask the outside whether it was done, as `recover` should."""
        done = [entry.more["number"] for entry in self.outside.of("charge") if entry.job == key]
        return done[0] if done else None

    def _save(self, tx: Tx, number: int) -> int:
        self._reach("commit: in the function, before its rows")
        lease = tx._context.job
        tx.execute(f"insert into proof_sink values {_MARKS[tx.dialect]}", (owner_of(lease), lease.id, lease.fence))
        tx.stage("SAVED", MACHINE) if lease.task == "pipeline" else None
        self._reach("commit: in the function, after its rows")
        return number

    @contextmanager
    def _witnessed(self, ctx: Context) -> Iterator[None]:
        """Write down that a run began and, unless it failed or was killed, that it ended."""
        self.diary.write("run.begin", ctx.job.id, ctx.job.fence)
        self._reach("run: at its beginning")
        self._wait_for_others()
        yield
        self.diary.write("run.end", ctx.job.id, ctx.job.fence)
        self._reach("run: at its end")

    def _may_write(self) -> bool:
        """Whether the writer may take the commits that are all there; it says that it waits."""
        if not self.site.has_flag(HOLD_WRITER) or self.site.has_flag(WRITER_MAY_GO):
            return True
        self.site.raise_flag(WRITER_WAITS)
        return False

    def _held_apart(self, task: str) -> None:
        if self.site.has_flag(APART):
            self.wait_for(may_go(task))

    def wait_for(self, flag: str) -> None:
        """Wait inside a run until the proof lets it go on."""
        while not self.site.has_flag(flag):
            time.sleep(_POLL_SECONDS)
