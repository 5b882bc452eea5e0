"""A job whose claim the backup does not know: its first run writes after the database was put back."""

from __future__ import annotations

import os

from haulwright import Context, Retry
from haulwright.client.task import Task
from haulwright.errors import DatabaseLost, LeaseLost
from proof.support.workload import Workload

QUEUE = "held"


class Held:
    """A task whose runs wait for a flag of their process, and then write under their lease."""

    def __init__(self, work: Workload) -> None:
        self._work = work
        options = work.app.task(name="held", queue=QUEUE, retry=Retry(5, base="1 s", jitter=0))
        self.task: Task[..., int] = options(self._hold)

    def _hold(self, ctx: Context, number: int) -> int:
        with self._work._witnessed(ctx):
            self._work.wait_for(go(os.getpid()))
            try:
                ctx.commit("save", self._work._save, number)
            except (LeaseLost, DatabaseLost) as refusal:
                self._note(ctx, accepted=False, why=type(refusal).__name__)
                raise
            self._note(ctx, accepted=True, why="")
            return number

    def _note(self, ctx: Context, *, accepted: bool, why: str) -> None:
        self._work.diary.write("write", ctx.job.id, ctx.job.fence, verb="commit", accepted=accepted, why=why)


def go(pid: int) -> str:
    """The flag that lets the run in this process go on."""
    return f"process {pid} may go"
