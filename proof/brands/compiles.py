"""Compiles of several brands at once, whose workers are killed with -9 all the while."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from random import Random
from typing import Any, Self

from haulwright import Haulwright
from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.rows import CompileRun
from haulwright.apps.brands.settings import BrandSettings
from haulwright.clock import SECOND
from haulwright.engine.job import Job
from haulwright.engine.transitions import State
from haulwright.errors import DatabaseUnavailable
from haulwright.operations.principal import Principal
from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.settings import Settings
from haulwright.stores import migrations
from haulwright.stores.listing import JobFilter
from proof.brands.endings import Ending, ending
from proof.support.site import ROOT, START, Site

TENANT = "proof"
ACME = Principal.of_tenant(TENANT)
HANDLE = "acme"
SOURCES = (
    ("instagram", "posts", HANDLE),
    ("instagram", "reels", HANDLE),
    ("tiktok", "profile_videos", HANDLE),
    ("linkedin", "company_posts", HANDLE),
    ("youtube", "channel_videos", HANDLE),
    ("web", "pages", "https://acme.example/"),
)
FIGURES = {
    "HAULWRIGHT_BRANDS_ATTEMPTS": "1000",
    "HAULWRIGHT_BRANDS_LAG_SECONDS": "0.3",
    "HAULWRIGHT_BRANDS_POLL_INTERVAL_SECONDS": "60",
    "HAULWRIGHT_BRANDS_POLL_TIMEOUT_SECONDS": "80000",
}
"""Time flies here while everybody waits, and nobody is to be late for that, nor to have died too often."""
RUN_SECONDS = 30
TICK_SECONDS = 20
WORKERS = 2
MOST_STEPS = 8
"""Of progress between two kills."""
LATEST_SECONDS = 0.05
"""After the last of these steps a kill comes at any moment up to this."""
PATIENCE_SECONDS = 240.0
_NAP_SECONDS = 0.02
_TICK_EVERY_SECONDS = 0.1
_WORKER = (
    "-m", "haulwright", "-A", "proof.brands.app:app", "worker", "--queues", "brands", "--concurrency", "4",
    "--poll-interval", "0.05 s", "--stale-check-interval", "0.2 s",
)  # fmt: skip


class Stage:
    """A database, the outside world and a clock; time passes only while nobody has anything to do."""

    def __init__(self, site: Site, sources: int = len(SOURCES)) -> None:
        self.site = site
        self.sources = SOURCES[:sources]
        self.kills = 0
        """Of workers that were at work."""
        self.outside_clock = SandboxClock.standing(START / 1_000_000)
        self.sandbox = Sandbox(seed=7, clock=self.outside_clock)
        self._over = threading.Event()

    def __enter__(self) -> Self:
        self.sandbox.__enter__()
        self.sandbox.apify.script(limits={"concurrent_runs": 100_000, "memory_mbytes": 10**9})
        os.environ["APIFY_TOKEN"], os.environ["APIFY_BASE_URL"] = "token", f"{self.sandbox.url}/apify"
        store = self.site.open_store()
        migrations.migrate(store.database, "haulwright.apps.brands")
        store.close()
        self.app = Haulwright(self.site.url, clock=self.site.clock)
        self.brands = Brands(self.app, figures=BrandSettings.load(Settings.load({**os.environ, **FIGURES})))
        self._ticking = threading.Thread(target=self._tick, daemon=True)
        self._ticking.start()
        return self

    def __exit__(self, *said: object) -> None:
        self._over.set()
        self._ticking.join()
        self.app.close()
        self.sandbox.__exit__(None, None, None)
        for name in ("APIFY_TOKEN", "APIFY_BASE_URL"):
            os.environ.pop(name, None)

    def compile(self, *, brands: int = 1, kills: int = 0, seed: int = 0) -> list[Ending]:
        """Compile new brands of the same sources at the same moment, with up to so many workers killed on the way."""
        self.site.clock.set(START)
        self.outside_clock.set(START / 1_000_000)
        before = len(self.sandbox.books.paid_runs())
        self._asked = [self._ask() for _ in range(brands)]
        self._all_begun = before + brands * len(self.sources)
        if kills:
            self._work_and_die(kills, Random(seed))
        else:
            self._wait(self._worked_here)
        endings = [ending(self.brands, self.sandbox, one) for one in self._asked]
        bought = len(self.sandbox.books.paid_runs()) - before
        assert bought == sum(sum(one.paid.values()) for one in endings), "a run was paid for that nobody knows of"
        return endings

    def _ask(self) -> CompileRun:
        brand = self.brands.add(ACME, "Acme", {"mission": "Coffee that is worth the walk."})
        for source in self.sources:
            self.brands.connect(ACME, brand.id, *source)
        return self.brands.compile(ACME, brand.id)

    def _worked_here(self) -> bool:
        """Be the worker that nobody kills; whether all is over."""
        self.app.run_worker(queues=["brands"], until_empty=True)
        return self._is_over()

    def _work_and_die(self, kills: int, luck: Random) -> None:
        """Have workers work until all is over; those at work are killed, one after a few steps of progress each."""
        with ExitStack() as ended:
            crew = [self._worker(ended) for _ in range(WORKERS)]
            wanted = self.kills + kills
            while self.kills < wanted and not self._is_over():
                steps = self._steps() + luck.randrange(1, MOST_STEPS)
                self._wait(partial(self._has_come_to, steps, crew))
                time.sleep(luck.random() * LATEST_SECONDS)
                if busy := self._busy(crew):
                    victim = luck.choice(busy)
                    self.kills += self._kill(crew[victim])
                    crew[victim] = self._worker(ended)
            self._wait(self._is_over)

    def _has_come_to(self, steps: int, crew: list[subprocess.Popen[bytes]]) -> bool:
        return self._is_over() or (self._steps() >= steps and bool(self._busy(crew)))

    def _worker(self, ended: ExitStack) -> subprocess.Popen[bytes]:
        environment = self.site._environment() | FIGURES
        told = subprocess.DEVNULL
        worker = subprocess.Popen([sys.executable, *_WORKER], cwd=ROOT, env=environment, stdout=told, stderr=told)
        ended.callback(worker.wait)
        ended.callback(worker.kill)
        return worker

    def _busy(self, crew: list[subprocess.Popen[bytes]]) -> list[int]:
        """The places of those who hold leases."""
        holders = self._holders()
        return [place for place, worker in enumerate(crew) if worker.pid in holders]

    def _kill(self, worker: subprocess.Popen[bytes]) -> bool:
        """Kill a worker; whether it had work."""
        worker.kill()
        return worker.pid in self._holders()

    def _holders(self) -> set[int]:
        """The processes that jobs are running in, as the database has it."""
        rows = self._rows("select w.pid from haulwright_jobs j join haulwright_workers w on w.id = j.worker_id"
                          " where j.state = 'running'")  # fmt: skip
        return {pid for (pid,) in rows}

    def _steps(self) -> int:
        """How far everything has come: requests to the outside world, and what the ledger has."""
        ((recorded,),) = self._rows("select count(*) from haulwright_effects")
        return int(recorded) + self.sandbox.books.count(service="apify")

    def _is_over(self) -> bool:
        """Whether all compiles are over; on the way, the runs of the outside world end once all have begun."""
        if len(self.sandbox.books.paid_runs()) >= self._all_begun:
            self.outside_clock.set(START / 1_000_000 + RUN_SECONDS)
        return all(self.brands.compile_run(ACME, one.id).is_over for one in self._asked)

    def _wait(self, happened: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while not happened():
            assert time.monotonic() < until, f"the compiles do not get on: {self._standing()}"
            time.sleep(_NAP_SECONDS)

    def _standing(self) -> list[tuple[Any, ...]]:
        """The jobs that are not over, for whoever has to find out why."""
        return [(job.task, job.state, job.waiting_on, job.losses, job.error_message) for job in self._waiting()]

    def _waiting(self, state: State | None = None) -> list[Job]:
        jobs = self.app.store.listing.page(JobFilter(tenant=TENANT, state=state), limit=500).jobs
        return [job for job in jobs if not job.finished_at]

    def _tick(self) -> None:
        """Let time pass whenever everybody waits: to when the first of them is due, or a little longer."""
        while not self._over.wait(_TICK_EVERY_SECONDS):
            with suppress(DatabaseUnavailable):
                counts = self.app.store.queues.counts()
                if any(one.parked for one in counts) and not any(one.due or one.running for one in counts):
                    due = min((job.run_at for job in self._waiting(State.QUEUED)), default=0)
                    self.site.clock.set(max(due, self.site.clock.now() + TICK_SECONDS * SECOND))

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.app.store.database.read(lambda connection: connection.execute(sql))
