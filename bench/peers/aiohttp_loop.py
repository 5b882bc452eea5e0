"""aiohttp in a bare loop: no gate, no guard, no caps, no cache, nothing kept. What a client in Python can reach."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import aiohttp

from bench.fetching import measure_fetches, measure_harvest

DISTRIBUTIONS = ("aiohttp",)


def fetch(address: str, count: int, at_once: int) -> list[float]:
    """Fetch so many pages, so many at once."""
    return asyncio.run(_with_session(measure_fetches, address, count, at_once))


def harvest(address: str, count: int, at_once: int) -> list[float]:
    """Fetch and read so many."""
    return asyncio.run(_with_session(measure_harvest, address, count, at_once))


async def _with_session(
    measure: Callable[..., Awaitable[list[float]]], address: str, count: int, at_once: int
) -> list[float]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=at_once)) as session:

        async def get(url: str) -> bytes:
            async with session.get(url) as answer:
                return bytes(await answer.read())

        return await measure(get, address, count, at_once)
