"""Tasks that ask a source: with a turn from their claim, from inside the run, or only in name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process
from typing import Any

from haulwright import Context, Haulwright, Retry
from haulwright.client.task import Task
from haulwright.sources.http import Policy
from proof.sources.outside import FENCE, JOB, SENDER
from proof.support.site import Site

KEY = "outside"
PLAN = "the plan"
LEASE = "5 s"
ATTEMPTS = 20
"""More than any proof needs: whoever dies of them was failed too often."""


class Fetching:
    """The source of a proof and its tasks, the same in all processes of a site."""

    def __init__(self, site: Site) -> None:
        plan = json.loads((site.folder / PLAN).read_text())
        self.site = site
        self.diary = site.diary()
        self.app = Haulwright(site.url, clock=site.clock if site.clock_path.exists() else None)
        self.source = self.app.source(KEY, policy=Policy(private=True), **plan["figures"])
        self._url = plan["url"]
        policy = Retry(ATTEMPTS, base="1 s", cap="2 s", jitter=0)
        governed = self.app.task(name="fetch", source=self.source, retry=policy, lease=LEASE)
        self.fetch: Task[..., int] = governed(self._fetch)
        self.ask: Task[..., int] = self.app.task(name="ask", retry=policy, lease=LEASE)(self._fetch)
        self.stand: Task[..., int] = self.app.task(name="stand", source=self.source, retry=policy)(self._stand)

    @classmethod
    def prepare(cls, site: Site, url: str, **figures: Any) -> Fetching:
        """Write down what the source allows, for the workers too, and make it known."""
        (site.folder / PLAN).write_text(json.dumps({"url": url, "figures": figures}))
        made = cls(site)
        made.app.declare_sources()
        return made

    def enqueue(self, task: Task[..., int], jobs: int) -> None:
        """Enqueue as a client that writes down what it means to do, and what it was told."""
        calls = [task.call(number) for number in range(jobs)]
        for call in calls:
            self.diary.write("enqueue.intent", call.job.id)
        for handle in self.app.enqueue_many(calls):
            self.diary.write("enqueue.ok", handle.id)

    def close(self) -> None:
        """Let go of the database and the diary."""
        self.app.close()
        self.diary.close()

    def _fetch(self, ctx: Context, number: int) -> int:
        """One request, told apart by its headers."""
        who = {JOB: ctx.job.id, FENCE: str(ctx.job.fence), SENDER: str(_worker())}
        with self._witnessed(ctx):
            self.source.get(f"{self._url}/files/{number}?size=64", headers=who).raise_for_status()
            return number

    def _stand(self, ctx: Context, number: int) -> int:
        """Stand in line for the source, and ask nothing of it."""
        with self._witnessed(ctx):
            return number

    @contextmanager
    def _witnessed(self, ctx: Context) -> Iterator[None]:
        self.diary.write("run.begin", ctx.job.id, ctx.job.fence)
        yield
        self.diary.write("run.end", ctx.job.id, ctx.job.fence)


def _worker() -> int:
    """The process of the worker: a job that lost its lease before runs in a child of it, and dies with it."""
    return os.getpid() if parent_process() is None else os.getppid()
