"""Our client: alone, and as a source without limits, through its gate and its cache in the database. No job."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from bench.fetching import measure_fetches, measure_harvest
from bench.workload import app, reset
from haulwright.sources.http import Http, Policy

DISTRIBUTIONS = ("haulwright",)
SOURCE = "pages"


def fetch(address: str, count: int, at_once: int) -> list[float]:
    """Fetch so many pages, so many at once, by `Http`: guard, caps and all, without a database."""
    return asyncio.run(_alone(address, count, at_once))


def harvest(address: str, count: int, at_once: int) -> list[float]:
    """Fetch and read so many pages by `Http`."""
    return asyncio.run(_alone(address, count, at_once, measure_harvest))


def fetch_by_source(address: str, count: int, at_once: int) -> list[float]:
    """The same by `source.aget`."""
    reset()
    return asyncio.run(_by_source(address, count, at_once))


async def _alone(
    address: str, count: int, at_once: int, measure: Callable[..., Awaitable[list[float]]] = measure_fetches
) -> list[float]:
    async with Http(policy=Policy(private=True)) as http:

        async def get(url: str) -> bytes:
            return (await http.aget(url)).body

        return await measure(get, address, count, at_once)


async def _by_source(address: str, count: int, at_once: int) -> list[float]:
    source = app.source(SOURCE, private=True)

    async def get(url: str) -> bytes:
        return (await source.aget(url)).body

    try:
        return await measure_fetches(get, address, count, at_once)
    finally:
        await source.http.aclose()
