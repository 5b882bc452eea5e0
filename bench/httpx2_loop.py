"""httpx2 in a bare loop, as many write it."""

from __future__ import annotations

import asyncio

import httpx2

from bench.fetching import measure_fetches

DISTRIBUTIONS = ("httpx2",)


def fetch(address: str, count: int, at_once: int) -> list[float]:
    """Fetch so many pages, so many at once."""
    return asyncio.run(_fetch(address, count, at_once))


async def _fetch(address: str, count: int, at_once: int) -> list[float]:
    limits = httpx2.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    async with httpx2.AsyncClient(limits=limits) as client:

        async def get(url: str) -> bytes:
            return (await client.get(url)).content

        return await measure_fetches(get, address, count, at_once)
