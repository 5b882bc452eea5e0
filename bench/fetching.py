"""A crowd on one event loop that fetches pages, whoever's client it uses. Runs in the peers' environment too."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable


async def measure_fetches(
    get: Callable[[str], Awaitable[bytes]], address: str, count: int, at_once: int
) -> list[float]:
    """Fetch so many pages, so many at once; pages a second, and microseconds of the processor for each."""
    length = len(await get(f"{address}/warm"))  # a connection, and whatever is made with the first request
    numbers = iter(range(count))

    async def one() -> None:
        for number in numbers:
            body = await get(f"{address}/pages/{number}.html?from=bench")
            if len(body) != length:
                raise ValueError("a page is not whole")

    busy, began = time.process_time(), time.perf_counter()
    await asyncio.gather(*(one() for _ in range(at_once)))
    seconds, busy = time.perf_counter() - began, time.process_time() - busy
    return [count / seconds, busy / count * 1_000_000]
