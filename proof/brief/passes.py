"""Passes over many feeds: each is read once, by workers of which some are killed with -9 on the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, Self

from haulwright import Haulwright, Principal
from haulwright.apps.brief.application import QUEUE, Brief
from haulwright.engine.transitions import State
from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.stores import migrations
from proof.support.site import ROOT, START, Site

TENANT = "proof"
WHO = Principal.of_tenant(TENANT)
FIGURES = {
    "HAULWRIGHT_BRIEF_FEED_RATE": "1000000/min",
    "HAULWRIGHT_BRIEF_FEED_BURST": "10000",
    "HAULWRIGHT_BRIEF_FEED_CONCURRENCY": "1000",
    "HAULWRIGHT_BRIEF_PRIVATE_HOSTS": "127.0.0.1",
    **{f"HAULWRIGHT_BRIEF_{name}CRON": "0 0 31 12 *" for name in ("INGEST_", "CLUSTER_", "RETENTION_", "")},
}
"""Hosts that are asked as fast as it goes, and schedules that are not due: the proof says what is done, and when."""
TICK_SECONDS = 20
"""How far time moves when everybody waits."""
PATIENCE_SECONDS = 1_800.0
_NAP_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass over all feeds came to."""

    outcomes: dict[str, int]
    new: int
    edited: int
    kills: int
    statuses: dict[int, int]
    """Of the answers, those to workers that were killed included."""
    seconds: float


class Stage:
    """A database, many feeds, a clock that moves when everybody waits, and workers."""

    def __init__(self, site: Site, feeds: int, *, workers: int = 2, concurrency: int = 4) -> None:
        self.site = site
        self.feeds = feeds
        self._crew = (workers, concurrency)
        self.sandbox = Sandbox(seed=7, clock=SandboxClock.standing(START / 1_000_000))
        self._workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        self.sandbox.__enter__()
        self._before = {name: os.environ.get(name) for name in FIGURES}
        os.environ.update(FIGURES)
        store = self.site.open_store()
        migrations.migrate(store.database, "haulwright.apps.brief")
        store.close()
        self.app = Haulwright(self.site.url, clock=self.site.clock)
        self.brief = Brief(self.app)
        for number in range(self.feeds):
            self.brief.add(WHO, f"{self.sandbox.url}/feeds/bulk/{number}.xml", name=f"bulk {number}")
        return self

    def __exit__(self, *_said: object) -> None:
        self._stop()
        self.app.close()
        self.sandbox.__exit__(None, None, None)
        for name, value in self._before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})

    def read(self, *, kills: int, seed: int) -> Pass:
        """Read all feeds once, and kill so many workers meanwhile; without any, the reader is this process."""
        began, first = time.monotonic(), self.sandbox.books.count(service="feeds")
        jobs = self.brief.ingest(WHO)
        killed = self._read_and_kill(kills, Random(seed), first) if kills else self._read_here()
        return self._came_to(jobs, killed, first, time.monotonic() - began)

    def _read_and_kill(self, kills: int, luck: Random, first: int) -> int:
        killed, (workers, _) = 0, self._crew
        for _ in range(workers):
            self._start()
        for number in range(kills):
            requests = first + (number + luck.random()) * self.feeds / (kills + 1)
            self._wait(partial(self._has_come_to, requests))
            killed += not self._is_over()
            self._kill(luck.randrange(workers))
        self._wait(self._is_over)
        self._stop()
        return killed

    def _has_come_to(self, requests: float) -> bool:
        return self.sandbox.books.count(service="feeds") >= requests or self._is_over()

    def _read_here(self) -> int:
        self.app.run_worker(queues=(QUEUE,), until_empty=True, schedules=False)
        return 0

    def retain(self) -> dict[str, int]:
        """Let three months pass, and remove what is old."""
        self.site.clock.advance(91 * 86_400)
        handle = self.brief.retain(Principal.system())
        self.app.run_worker(queues=(QUEUE,), until_empty=True, schedules=False)
        removed: dict[str, int] = json.loads(self.app.store.listing.get(handle.id).result or "{}")
        return removed

    def articles(self) -> tuple[Any, ...]:
        """How many articles there are, with how many addresses, and whether any was written again."""
        sql = "select count(*), count(distinct url), coalesce(sum(edits), 0), max(updated_at) from brief_articles"
        return self.app.store.database.read(lambda connection: connection.execute(sql))[0]

    def _came_to(self, jobs: list[str], killed: int, first: int, seconds: float) -> Pass:
        found = [self.app.store.listing.get(job_id) for job_id in jobs]
        unfinished = [(job.id, job.state, job.error_message) for job in found if job.state is not State.SUCCEEDED]
        assert not unfinished, unfinished[:5]
        results = [json.loads(job.result or "{}") for job in found]
        entries = self.sandbox.books.requests(service="feeds")[first:]
        return Pass(
            outcomes=dict(Counter(one["outcome"] for one in results)),
            new=sum(one["new"] for one in results),
            edited=sum(one["edited"] for one in results),
            kills=killed,
            statuses=dict(Counter(entry.status for entry in entries if entry.status is not None)),
            seconds=round(seconds, 1),
        )

    def _is_over(self) -> bool:
        counts = [one for one in self.app.store.queues.counts() if one.name == QUEUE]
        waiting = any(one.parked for one in counts) and not any(one.due or one.running for one in counts)
        if waiting:
            self.site.clock.advance(TICK_SECONDS)
        return not any(one.due or one.running or one.parked for one in counts)

    def _start(self) -> None:
        command = [sys.executable, "-m", "haulwright", "-A", "proof.brief.app:app", "worker", "--queues", QUEUE]
        options = ["--concurrency", str(self._crew[1]), "--poll-interval", "0.05 s", "--stale-check-interval", "0.2 s"]
        quiet = subprocess.DEVNULL
        environment = self.site._environment()
        self._workers.append(
            subprocess.Popen([*command, *options], cwd=ROOT, env=environment, stdout=quiet, stderr=quiet)
        )

    def _kill(self, number: int) -> None:
        worker = self._workers.pop(number)
        worker.kill()
        worker.wait()
        self._start()

    def _stop(self) -> None:
        for worker in self._workers:
            worker.kill()
            worker.wait()
        self._workers.clear()

    def _wait(self, happened: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while not happened():
            assert time.monotonic() < until, f"the pass does not get on: {self.app.store.queues.counts()}"
            time.sleep(_NAP_SECONDS)
