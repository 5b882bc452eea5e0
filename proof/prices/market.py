"""Many intakes, a few shops, and workers that are killed with -9 while they collect."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Self

from haulwright import Haulwright, Principal
from haulwright.apps.prices import NewIntake, Prices
from haulwright.apps.prices.intakes import Intake
from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.sandbox.shop.catalogue import COINS
from haulwright.stores import migrations
from proof.support.site import ROOT, Site
from tests.apps.prices.scenes import html_rules, json_rules

TENANT = "proof"
HERE = "127.0.0.1"
"""Where the shops are."""
FREE: dict[str, Any] = {"rate": "1000000/min", "concurrency": None, "max_pages": 1}
"""A gate that counts and never closes: what is proven here is not the rate."""
SHOPS = {
    "coinhall": "coinhall",
    "muenzkontor": "muenzkontor",
    "collectors-row": "collectors-row",
    "coinhall-people": "coinhall",
}
"""Each source with the shop behind it: one answers programs, three are pages for people."""
CURRENCIES = {"muenzkontor": ("EUR", ","), "collectors-row": ("USD", "."), "coinhall-people": ("GBP", ".")}
PATIENCE_SECONDS = 2_400.0
_NAP_SECONDS = 0.05


@dataclass
class Market:
    """A database, shops whose time stands still, and what is to be priced there."""

    site: Site
    sandbox: Sandbox
    app: Haulwright
    prices: Prices
    intakes: list[Intake] = field(default_factory=list)
    workers: int = 0
    """How many were started in all."""
    kills: int = 0

    @classmethod
    @contextmanager
    def open(cls, site: Site) -> Iterator[Self]:
        """The market at a site, whose clock is everybody's own."""
        store = site.open_store()
        migrations.migrate(store.database, "haulwright.apps.prices")
        store.close()
        app = Haulwright(site.url)
        with Sandbox(seed=7, clock=SandboxClock.standing(time.time())) as sandbox:
            for shop in set(SHOPS.values()):
                sandbox.shop.script(shop=shop, limit={"count": 10_000_000, "seconds": 60})
            try:
                yield cls(site, sandbox, app, Prices(app, private_hosts=HERE))
            finally:
                app.close()

    def prepare(self, *, intakes: int, sources: int) -> int:
        """Configure sources, add intakes, and enqueue a job for each pair; how many jobs that are."""
        for name in list(SHOPS)[:sources]:
            self.prices.sources.put(TENANT, name, self._rules(name))
        for number in range(intakes):
            title, year, _, _ = COINS[number % len(COINS)]
            new = NewIntake(f"intake-{number:05}", str(year), title=title, attributes={"lot": str(number)})
            self.intakes.append(self.prices.intakes.add(TENANT, new))
        return self.prices.collect_all(Principal.of_tenant(TENANT))

    def work(self, *, workers: int, kills: int = 0, seed: int = 1) -> None:
        """Have so many workers work until nothing is left; on the way some are killed, each replaced at once."""
        luck, total, until = Random(seed), self._left(), time.monotonic() + PATIENCE_SECONDS
        crew = [self.hire() for _ in range(workers)]
        try:
            while left := self._left():
                assert time.monotonic() < until, f"{left} jobs do not get on: {self.site.database}"
                assert all(worker.poll() is None for worker in crew), "a worker ended by itself"
                if self.kills < kills and (total - left) * (kills + 1) >= total * (self.kills + 1):
                    victim = luck.randrange(len(crew))
                    crew[victim].kill()
                    crew[victim].wait()
                    self.kills += 1
                    crew[victim] = self.hire()
                time.sleep(_NAP_SECONDS)
        finally:
            for worker in crew:
                worker.kill()
                worker.wait()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a person reads with SQL."""
        return self.app.store.database.read(lambda connection: connection.execute(sql))

    def _rules(self, name: str) -> dict[str, Any]:
        if name not in CURRENCIES:
            return json_rules(self.sandbox.url, SHOPS[name], **FREE)
        return html_rules(self.sandbox.url, SHOPS[name], *CURRENCIES[name], **FREE)

    def _left(self) -> int:
        return sum(one.due + one.parked + one.running for one in self.app.store.queues.counts())

    def hire(self) -> subprocess.Popen[bytes]:
        """A worker of its own process."""
        self.workers += 1
        command = [sys.executable, "-m", "haulwright", "-A", "proof.prices.app:app", "worker", "--queues", "prices"]
        options = ["--concurrency", "1", "--poll-interval", "0.2 s", "--stale-check-interval", "1 s"]
        environment = self.site._environment() | {"WORKER_ID": f"worker-{self.workers}", "CACHE_ENABLED": "false"}
        environment["HAULWRIGHT_PRICES_PRIVATE_HOSTS"] = HERE
        told = subprocess.DEVNULL
        return subprocess.Popen([*command, *options], cwd=ROOT, env=environment, stdout=told, stderr=told)
