"""Compiles whose workers are killed with -9, and what is left of each to compare."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, Self

from penstock import Penstock
from penstock.apps.brands.application import Brands
from penstock.apps.brands.figures import Figures
from penstock.apps.brands.rows import CompileRun
from penstock.errors import DatabaseUnavailable
from penstock.sandbox import Clock, Sandbox
from penstock.stores import migrations
from penstock.stores.listing import JobFilter
from proof.support.site import ROOT, START, Site

TENANT = "proof"
HANDLE = "acme"
SOURCES = (
    ("instagram", "posts", HANDLE),
    ("instagram", "reels", HANDLE),
    ("tiktok", "profile_videos", HANDLE),
    ("linkedin", "company_posts", HANDLE),
    ("youtube", "channel_videos", HANDLE),
    ("web", "pages", "https://acme.example/"),
)
KILLS_EACH = 2
"""In one compile. A job whose worker dies under it more often than it may be tried is a dead letter, as it should."""
FIGURES = {
    "PENSTOCK_BRANDS_LAG_SECONDS": "0.5",
    "PENSTOCK_BRANDS_POLL_INTERVAL_SECONDS": "60",
    "PENSTOCK_BRANDS_POLL_TIMEOUT_SECONDS": "100000",
}
"""Time flies here while everybody waits, and nobody is to be late for that."""
RUN_SECONDS = 30
TICK_SECONDS = 20
PATIENCE_SECONDS = 240.0
_NAP_SECONDS = 0.04
_LATEST_SECONDS = 0.05
_TICK_EVERY_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Ending:
    """What a compile came to."""

    run: CompileRun
    kills: int
    paid: dict[str, int]
    """How many runs of each actor were paid for."""
    items: list[tuple[Any, ...]]
    """Everything that was normalized, without our own ids."""
    snapshot: dict[str, Any]
    """The same for the snapshot."""


class Stage:
    """A database, the outside world and a clock; time passes only while nobody has anything to do."""

    def __init__(self, site: Site, sources: int = len(SOURCES)) -> None:
        self.site = site
        self.sources = SOURCES[:sources]
        self.outside_clock = Clock.standing(START / 1_000_000)
        self.sandbox = Sandbox(seed=7, clock=self.outside_clock)
        self._over = threading.Event()

    def __enter__(self) -> Self:
        self.sandbox.__enter__()
        self.sandbox.apify.script(limits={"concurrent_runs": 100_000, "memory_mbytes": 10**9})
        os.environ["APIFY_TOKEN"], os.environ["APIFY_BASE_URL"] = "token", f"{self.sandbox.url}/apify"
        store = self.site.open_store()
        migrations.migrate(store.database, "penstock.apps.brands")
        store.close()
        self.app = Penstock(self.site.url, clock=self.site.clock)
        self.brands = Brands(self.app, figures=Figures.load({**os.environ, **FIGURES}))
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

    def compile(self, *, kills: int, seed: int) -> Ending:
        """Compile a new brand of the same sources, at the same moment, with so many workers killed on the way."""
        self.site.clock.set(START)
        self.outside_clock.set(START / 1_000_000)
        brand = self.brands.add(TENANT, "Acme", {"mission": "Coffee that is worth the walk."})
        for source in self.sources:
            self.brands.connect(TENANT, brand.id, *source)
        before = self._paid()
        asked = self.brands.compile(TENANT, brand.id)
        killed = self._work(asked.id, before, kills=kills, luck=Random(seed))
        run = self.brands.compile_run(TENANT, asked.id)
        paid = {actor: count - before.get(actor, 0) for actor, count in self._paid().items()}
        snapshot = self.brands.snapshot(TENANT, brand.id) if run.status == "succeeded" else {}
        return Ending(run, killed, paid, self._items(brand.id), _bare(snapshot))

    def _work(self, run_id: str, before: dict[str, int], *, kills: int, luck: Random) -> int:
        """Have workers work until the compile is over; the first ones are killed, each after a few more requests."""
        if not kills:
            self._work_here(run_id, before)
            return 0
        killed, asked = 0, self.sandbox.books.count(service="apify")
        for _ in range(kills):
            asked += luck.randrange(1, 3 * len(self.sources))
            with self._worker() as worker:
                self._wait(lambda n=asked: self._moved(before, run_id, n))
                time.sleep(luck.random() * _LATEST_SECONDS)
                worker.kill()
            killed += not self._is_over(run_id)
        with self._worker() as worker:
            self._wait(lambda: self._moved(before, run_id, sys.maxsize))
            worker.kill()
        return killed

    def _work_here(self, run_id: str, before: dict[str, int]) -> None:
        """Be the worker that nobody kills."""

        def worked() -> bool:
            self.app.run_worker(queues=["brands"], until_empty=True)
            return self._moved(before, run_id, sys.maxsize)

        self._wait(worked)

    def _moved(self, before: dict[str, int], run_id: str, asked: int) -> bool:
        """Whether it is time; on the way, the runs of the outside world end once all have begun."""
        paid = self._paid()
        if sum(paid.values()) - sum(before.values()) >= len(self.sources):
            self.outside_clock.set(START / 1_000_000 + RUN_SECONDS)
        return self.sandbox.books.count(service="apify") >= asked or self._is_over(run_id)

    def _is_over(self, run_id: str) -> bool:
        return self.brands.compile_run(TENANT, run_id).is_over

    @contextmanager
    def _worker(self) -> Iterator[subprocess.Popen[bytes]]:
        command = [sys.executable, "-m", "penstock", "-A", "proof.brands.app:app", "worker", "--queues", "brands"]
        options = ["--concurrency", "4", "--poll-interval", "0.05 s", "--stale-check-interval", "0.2 s"]
        told = subprocess.DEVNULL
        process = subprocess.Popen(
            [*command, *options], cwd=ROOT, env=self.site._environment() | FIGURES, stdout=told, stderr=told
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def _wait(self, happened: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while not happened():
            assert time.monotonic() < until, f"the compile does not get on: {self._standing()}"
            time.sleep(_NAP_SECONDS)

    def _standing(self) -> list[tuple[Any, ...]]:
        """The jobs that are not over, for whoever has to find out why."""
        jobs = self.app.store.listing.page(JobFilter(tenant=TENANT), limit=50).jobs
        return [
            (job.task, job.state, job.waiting_on, job.losses, job.error_message) for job in jobs if not job.finished_at
        ]

    def _tick(self) -> None:
        """Let time pass whenever everybody waits."""
        while not self._over.wait(_TICK_EVERY_SECONDS):
            try:
                counts = self.app.store.queues.counts()
            except DatabaseUnavailable:
                continue
            if any(one.parked for one in counts) and not any(one.due or one.running for one in counts):
                self.site.clock.advance(TICK_SECONDS)

    def _paid(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for run in self.sandbox.books.paid_runs():
            found[run.actor] = found.get(run.actor, 0) + 1
        return found

    def _items(self, brand_id: str) -> list[tuple[Any, ...]]:
        connections = [one.id for one in self.brands.connections(TENANT, brand_id)]
        found = self.brands.evidence(TENANT, brand_id, connections)
        return sorted(
            (one.kind, one.external_id or "", one.canonical_url, one.author, one.title, one.text, one.published_at,
             sorted(one.metrics.items()), list(one.media), list(one.hashtags), list(one.links))
            for one in found
        )  # fmt: skip


def _bare(snapshot: dict[str, Any]) -> dict[str, Any]:
    """What a snapshot says, with items named by what they are instead of by our ids."""
    if not snapshot:
        return {}
    known = {one: f"{said['kind']} {said['external_id'] or said['url']}" for one, said in snapshot["evidence"].items()}
    return {
        "sections": {
            name: [(one["subject"], one["text"], sorted(known[item] for item in one["evidence"])) for one in said]
            for name, said in snapshot["sections"].items()
        },
        "evidence": sorted(known.values()),
        "sources": sorted(one["source"] for one in snapshot["evidence_status"]["refreshed"]),
    }
