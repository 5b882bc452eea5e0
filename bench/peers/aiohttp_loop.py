"""aiohttp in a bare loop: no gate, no guard, no caps, no cache, nothing kept. What a client in Python can reach."""

from __future__ import annotations

import asyncio

import aiohttp

from bench.fetching import measure_fetches

DISTRIBUTIONS = ("aiohttp",)


def fetch(address: str, count: int, at_once: int) -> list[float]:
    """Fetch so many pages, so many at once."""
    return asyncio.run(_fetch(address, count, at_once))


async def _fetch(address: str, count: int, at_once: int) -> list[float]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=at_once)) as session:

        async def get(url: str) -> bytes:
            async with session.get(url) as answer:
                return bytes(await answer.read())

        return await measure_fetches(get, address, count, at_once)
