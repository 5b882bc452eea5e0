"""The manners and the wells: what a gate costs a request, and how fast feeds are read."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Callable, Sequence

import feedparser  # type: ignore[import-untyped]  # it ships none

from bench.figures import ENTRIES_PER_SECOND, MILLISECONDS, Series, percentiles
from bench.lane import Bench
from bench.workload import app, reset
from haulwright.sandbox.feeds import world
from haulwright.sandbox.feeds.formats import Channel, atom, rss1, rss2
from haulwright.sources.feeds import parse_feed
from haulwright.sources.http import Verdict
from haulwright.sources.source import Source

SOURCE = "bench"
ANSWERED = Verdict("ok", status=200, received_bytes=2_000, seconds=0.1)
WARM_UP = 20
HAULWRIGHT = "Haulwright"
BARE = "bare feedparser"
FEED_ENTRIES = 40
"""Entries of one feed, as most papers have them."""
SEED = 7
FROM = 1_790_856_000.0
"""1 October 2026, 12:00 UTC: where the articles end."""


def gate(bench: Bench, database: str) -> list[Series]:
    """A request's way through a gate with a rate and permits: in, and out again with what the answer says."""
    scenario = f"gate {database}"
    with app.moved_to(bench.site.address(database, f"gate_{database}")):
        reset()
        source = app.source(SOURCE, rate="1000000/s", concurrency=100)
        source.declare()
        bench.site.settle_down()
        rounds = [asyncio.run(_passes(source, bench.plan.gate_passes)) for _ in range(bench.plan.rounds)]
    return percentiles(scenario, MILLISECONDS, rounds)


def feeds(bench: Bench, _database: str) -> list[Series]:
    """The same bytes, read by us down to keys and canonical addresses, and by feedparser alone."""
    bodies = _bodies(bench.plan.feed_entries)
    ways: dict[str, Callable[[bytes], int]] = {
        HAULWRIGHT: lambda body: len(parse_feed(body).entries),
        BARE: lambda body: len(feedparser.parse(io.BytesIO(body)).entries),
    }
    runs: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(bench.plan.rounds):
        for name, way in ways.items():
            runs[name].append(_rate(way, bodies))
            bench.say(f"  feeds: {name}: {runs[name][-1]:,.0f} {ENTRIES_PER_SECOND}")
    entries = bench.plan.feed_entries
    return [Series("feeds none", name, ENTRIES_PER_SECOND, tuple(taken), jobs=entries) for name, taken in runs.items()]


async def _passes(source: Source, count: int) -> list[float]:
    """Milliseconds of each pass, entering and leaving together, one after the other."""
    taken = []
    for _ in range(WARM_UP + count):
        began = time.perf_counter()
        grant = await source.gate.enter()
        await grant.leave(ANSWERED)
        taken.append((time.perf_counter() - began) * 1000)
    return taken[WARM_UP:]


def _bodies(entries: int) -> list[bytes]:
    """Feeds with so many entries in all, in the three formats that are most about."""
    weeks = entries / (world.EVENTS_A_WEEK * world.FEWEST_PAPERS)
    articles = world.articles(SEED, FROM - weeks * world.WEEK, FROM)[:entries]
    pages = [articles[start : start + FEED_ENTRIES] for start in range(0, entries, FEED_ENTRIES)]
    writers = (rss2, atom, rss1)
    return [
        writers[number % len(writers)](Channel("The Bench Times", "https://news.example", "bench", page))
        for number, page in enumerate(pages)
    ]


def _rate(read: Callable[[bytes], int], bodies: Sequence[bytes]) -> float:
    """How many entries are read a second."""
    began = time.perf_counter()
    found = sum(map(read, bodies))
    return found / (time.perf_counter() - began)
