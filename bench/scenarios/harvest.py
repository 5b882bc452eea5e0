"""The harvest: pages fetched through a source, read, and committed as rows with the ends of their jobs."""

from __future__ import annotations

import asyncio
import time

from bench.contenders import Contender
from bench.figures import PAGES_PER_SECOND, Series
from bench.harvest import CONCURRENCY, parse
from bench.lane import Bench, lane
from bench.pages import pages
from bench.processes import BenchError
from haulwright.sources.http import Http, Policy

HAULWRIGHT = "Haulwright"
BARE = "bare loop on the same client"


def harvest(bench: Bench, database: str) -> list[Series]:
    """One worker, 50 at a time, and a loop of as many that fetches and reads the same pages and keeps nothing."""
    scenario, count = f"harvest {database}", bench.plan.harvested
    runs: dict[str, list[float]] = {HAULWRIGHT: [], BARE: []}
    with pages() as site:
        settings = ({"until_empty": True, "concurrency": CONCURRENCY},)
        ours = Contender("Haulwright, harvest", "bench.harvest", database, settings, filling={"site": site})
        with lane(bench, ours) as one:
            for _ in range(bench.plan.rounds):
                runs[BARE].append(asyncio.run(_bare(site, count)))
                one.prepare(count)
                runs[HAULWRIGHT].append(one.drain(count))
                if one.desk.call("collected") != count:
                    raise BenchError("a page is missing, or was written twice")
                bench.say(f"  {scenario}: {runs[HAULWRIGHT][-1]:,.0f}, bare {runs[BARE][-1]:,.0f} {PAGES_PER_SECOND}")
    return [Series(scenario, name, PAGES_PER_SECOND, tuple(taken), jobs=count) for name, taken in runs.items()]


async def _bare(site: str, count: int) -> float:
    """Pages a second without an engine."""
    urls = iter(f"{site}/page/{number}" for number in range(count))

    async def fetch() -> None:
        for url in urls:
            parse((await client.aget(url)).body)

    async with Http(policy=Policy(private=True)) as client:
        began = time.perf_counter()
        await asyncio.gather(*(fetch() for _ in range(CONCURRENCY)))
        return count / (time.perf_counter() - began)
