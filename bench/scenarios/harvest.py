"""The harvest: pages fetched through a source, read, and committed as rows with the ends of their jobs."""

from __future__ import annotations

import shutil
import time
from statistics import median

from bench import environment
from bench.contenders import Contender
from bench.figures import PAGES_PER_SECOND, Series
from bench.lane import Bench, Lane, lane
from bench.pages import pages
from bench.processes import BenchError, Child
from bench.reading import AT_ONCE

HAULWRIGHT = "Haulwright"
BARE = "bare loop on the same client"
AIOHTTP = "bare aiohttp"
SCRAPY = "Scrapy with a job directory"
PATIENCE_SECONDS = 300.0
_PEERS = frozenset({AIOHTTP, SCRAPY})
_MODULES = {BARE: "bench.our_fetch", AIOHTTP: "bench.peers.aiohttp_loop", SCRAPY: "bench.peers.scrapy_crawl"}

Taken = tuple[float, float]
"""Pages a second, and microseconds of the processor for each."""


def harvest(bench: Bench, database: str) -> list[Series]:
    """One worker, 50 at a time; Scrapy with as many; and loops of as many that read the same pages and keep nothing."""
    scenario, count = f"harvest {database}", bench.plan.harvested
    ways = [HAULWRIGHT, *(name for name in _MODULES if bench.peers or name not in _PEERS)]
    runs: dict[str, list[Taken]] = {name: [] for name in (HAULWRIGHT, *_MODULES)}
    with pages() as site:
        settings = ({"concurrency": AT_ONCE},)
        ours = Contender("Haulwright, harvest", "bench.harvest", database, settings, filling={"site": site})
        with lane(bench, ours) as one:
            for _ in range(bench.plan.rounds):
                for name in ways:
                    runs[name].append(_ours(one, count) if name == HAULWRIGHT else _loop(bench, name, site, count))
                    rate, busy = runs[name][-1]
                    bench.say(f"  {scenario}: {name}: {rate:,.0f} {PAGES_PER_SECOND}, {busy:,.0f} us each")
    return [_series(scenario, name, taken, count) for name, taken in runs.items()]


def _ours(one: Lane, count: int) -> Taken:
    """From the first claim to the last end, and what the worker took of the processor; not what the database did."""
    one.prepare(count)
    since = time.time()
    with one.working(one.setting) as (worker,):
        started = worker.call("cpu")
        ended = one.wait(count, [worker])
        busy = worker.call("cpu") - started
    if one.desk.call("collected") != count:
        raise BenchError("a page is missing, or was written twice")
    return count / (ended - one.began(since)), busy / count * 1_000_000


def _loop(bench: Bench, name: str, site: str, count: int) -> Taken:
    """A loop in a process of its own, which Scrapy needs for each."""
    module = _MODULES[name]
    log = bench.logs / f"harvest-{module.rpartition('.')[2]}.log"
    child = Child(environment.python_of(peer=name in _PEERS), "desk", module, {}, log)
    folder = bench.board.path.parent / "crawl"
    folder.mkdir()
    try:
        bench.versions.update(child.call("versions"))
        crawled = ("crawl", str(folder)) if name == SCRAPY else ("harvest",)
        rate, busy = child.call(crawled[0], site, count, AT_ONCE, *crawled[1:], patience=PATIENCE_SECONDS)
    finally:
        child.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return rate, busy


def _series(scenario: str, name: str, taken: list[Taken], count: int) -> Series:
    failure = "" if taken else "the peers' environment is not there; a run without QUICK=1 makes it"
    setting = {"processor_us_a_page": round(median(busy for _, busy in taken))} if taken else {}
    return Series(scenario, name, PAGES_PER_SECOND, tuple(rate for rate, _ in taken), setting, count, failure)
