"""Chancy on PostgreSQL: claims in batches, completions written together at an interval."""

from __future__ import annotations

import asyncio
from typing import Any

from chancy import Chancy, Queue, Worker, job

from bench.hits import counter
from bench.payload import chunks
from bench.peers import ADDRESS
from bench.peers.asking import finds

DISTRIBUTIONS = ("chancy", "psycopg")
LEFT = "select 1 from chancy_jobs where state in ('pending', 'running', 'retrying') limit 1"
hit = counter()


@job()
async def noop(*, item: dict[str, Any]) -> None:
    """Nothing."""
    hit()


def reset() -> None:
    """Empty tables."""

    async def go() -> None:
        async with Chancy(ADDRESS) as chancy:
            await chancy.migrate()
            async with chancy.pool.connection() as connection:
                await connection.execute("truncate chancy_jobs")

    asyncio.run(go())


def fill(count: int) -> None:
    """Push by lists."""

    async def go() -> None:
        async with Chancy(ADDRESS) as chancy:
            await chancy.declare(_queue(1000), upsert=True)
            for items in chunks(count):
                jobs = [noop.job.with_kwargs(item=item) for item in items]
                async for _ in chancy.push_many(jobs, batch_size=len(jobs)):
                    pass

    asyncio.run(go())


def unfinished() -> bool:
    """A finished job has another state."""
    return finds(LEFT)


def work(setting: dict[str, Any]) -> None:
    """Its worker; it flushes completions once a second unless told to do it sooner."""

    async def go() -> None:
        async with Chancy(ADDRESS) as chancy:
            await chancy.declare(_queue(setting["concurrency"]), upsert=True)
            worker = Worker(chancy)
            worker.send_outgoing_interval = setting["flush_seconds"]
            async with worker:
                await worker.wait_for_shutdown()

    asyncio.run(go())


def _queue(concurrency: int) -> Queue:
    executor = "chancy.executors.asyncex.AsyncExecutor"
    return Queue("default", concurrency=concurrency, executor=executor, polling_interval=1, eager_polling=True)
