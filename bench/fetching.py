"""A crowd on one event loop that fetches pages, whoever's client it uses. Runs in the peers' environment too."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from bench.reading import parse


async def measure_fetches(
    get: Callable[[str], Awaitable[bytes]], address: str, count: int, at_once: int
) -> list[float]:
    """Fetch so many pages, so many at once; pages a second, and microseconds of the processor for each."""
    length = len(await get(f"{address}/warm"))  # a connection, and whatever is made with the first request

    async def take(number: int) -> None:
        if len(await get(f"{address}/pages/{number}.html?from=bench")) != length:
            raise ValueError("a page is not whole")

    return await _measure(take, count, at_once)


async def measure_harvest(
    get: Callable[[str], Awaitable[bytes]], address: str, count: int, at_once: int
) -> list[float]:
    """The same for pages that are read as well: what a harvest has to do, and keeps nothing of."""
    parse(await get(f"{address}/page/warm"))

    async def take(number: int) -> None:
        parse(await get(f"{address}/page/{number}"))

    return await _measure(take, count, at_once)


async def _measure(take: Callable[[int], Awaitable[None]], count: int, at_once: int) -> list[float]:
    numbers = iter(range(count))

    async def one() -> None:
        for number in numbers:
            await take(number)

    busy, began = time.process_time(), time.perf_counter()
    await asyncio.gather(*(one() for _ in range(at_once)))
    seconds, busy = time.perf_counter() - began, time.process_time() - busy
    return [count / seconds, busy / count * 1_000_000]
