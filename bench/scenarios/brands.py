"""Brands: what asking for a compile costs beside busy workers, and how fast raw items become rows."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial

from bench import filling
from bench.contenders import haulwright
from bench.figures import ITEMS_PER_SECOND, MILLISECONDS, Series, percentiles
from bench.lane import Bench, lane
from bench.scenarios.enqueueing import while_busy
from bench.workload import app, reset
from haulwright import Haulwright
from haulwright.application.tables import Writing
from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.evidence.normalization import normalize
from haulwright.apps.brands.platforms.capabilities import BUILT_IN, Capability
from haulwright.apps.brands.rows import PaidRun
from haulwright.engine.ids import new_id
from haulwright.operations.principal import Principal
from haulwright.sandbox.apify.actors import ACTORS
from haulwright.sandbox.apify.timeline import newest
from haulwright.stores import migrations
from haulwright.stores.connect import open_database

TENANT = "bench"
ACME = Principal.of_tenant(TENANT)
NEW = "new items"
AGAIN = "the same items again"
RUN_ITEMS = 1_000
"""Of one run: the most that one may have."""
SEED = 7
SEEN = 1_790_856_000.0
"""1 October 2026, 12:00 UTC: when the items are looked at."""
CAP = {"cap": 50}


def kickoff(bench: Bench, database: str) -> list[Series]:
    """Asking for a compile while two workers drain a backlog: its row, its job and its event, read back."""
    busy = haulwright(database, name="Haulwright, brands", workers=2)
    rounds = []
    with lane(bench, busy) as one:
        for _ in range(bench.plan.rounds):
            one.prepare(1)
            filling.backlog(one.address, bench.plan.loaded_backlog - 1)
            with _installed(one.address) as brands:
                brand = brands.add(ACME, "Acme")
                with one.working(one.setting):
                    rounds.append(while_busy(one, bench.plan.loaded_backlog, partial(brands.compile, ACME, brand.id)))
    return percentiles(f"kickoff {database}", MILLISECONDS, rounds)


def normalization(bench: Bench, database: str) -> list[Series]:
    """Raw items of every kind to rows, run by run, in one process: first new to the database, then known to it."""
    scenario, count = f"normalization {database}", bench.plan.raw_items
    address = bench.site.address(database, f"normalization_{database}")
    runs: dict[str, list[float]] = {NEW: [], AGAIN: []}
    for _ in range(bench.plan.rounds):
        with app.moved_to(address):
            reset()
        with _installed(address) as brands:
            stored = list(_stored(brands, count))
            bench.site.settle_down()
            for name, taken in runs.items():
                taken.append(count / _normalize(brands, stored))
                bench.say(f"  {scenario}: {name}: {taken[-1]:,.0f} {ITEMS_PER_SECOND}")
    return [Series(scenario, name, ITEMS_PER_SECOND, tuple(taken), jobs=count) for name, taken in runs.items()]


@contextmanager
def _installed(address: str) -> Iterator[Brands]:
    """Brands on an app of their own, with their tables. Nothing is bought: any token will do."""
    os.environ.setdefault("APIFY_TOKEN", "bench")
    with closing(Haulwright(address)) as own:
        brands = Brands.on(own)
        with closing(open_database(address)) as database:
            migrations.migrate(database, "haulwright.apps.brands")
        yield brands


def _stored(brands: Brands, count: int) -> Iterator[tuple[PaidRun, Capability]]:
    """Runs with so many raw items in all, of each capability in turn, each of a brand of its own."""
    bodies = {one.key: _bodies(one) for one in BUILT_IN}
    for number in range(count // RUN_ITEMS):
        capability = BUILT_IN[number % len(BUILT_IN)]
        brand = brands.add(ACME, f"Brand {number}")
        identifier = "acme" if capability.platform != "web" else "https://acme.example/"
        source = brands.connect(ACME, brand.id, capability.platform, capability.name, identifier, CAP)
        run = {"tenant": TENANT, "id": new_id()}
        order = {"brand_id": brand.id, "connection_id": source.id, "job_id": new_id(), "actor": capability.actor}
        rows = bodies[capability.key]

        def store(writing: Writing, run: dict[str, str] = run, order: dict[str, str] = order) -> PaidRun:
            writing.run("runs.order", **run, **order, input="{}", input_hash="", marked=True, cap=RUN_ITEMS)
            writing.each("items.store", rows, tenant=TENANT, run_id=run["id"])  # noqa: B023 - called before it changes
            return PaidRun.of(writing.run("runs.get", **run)[0])

        yield brands.tables.transact(store), capability


def _bodies(capability: Capability) -> list[dict[str, object]]:
    render = ACTORS[capability.actor].render
    texts = [json.dumps(render(post)) for post in newest(SEED, "acme", SEEN, RUN_ITEMS)]
    return [{"item_index": index, "bytes": len(text), "body": text} for index, text in enumerate(texts)]


def _normalize(brands: Brands, stored: list[tuple[PaidRun, Capability]]) -> float:
    began = time.perf_counter()
    for run, capability in stored:
        brands.tables.transact(lambda writing, run=run, of=capability: normalize(writing, run, of, RUN_ITEMS, 0.5))  # type: ignore[misc]
    return time.perf_counter() - began
