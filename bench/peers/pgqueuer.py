"""PgQueuer on PostgreSQL through asyncpg: claims and completions in batches."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import asyncpg
import uvloop
from pgqueuer import AsyncpgDriver, PgQueuer, Queries
from pgqueuer.models import Job

from bench.hits import counter
from bench.payload import chunks
from bench.peers import ADDRESS
from bench.peers.asking import finds

DISTRIBUTIONS = ("pgqueuer", "asyncpg", "uvloop")
hit = counter()


def reset() -> None:
    """Empty tables; all of them logged, which is its default."""

    async def go() -> None:
        connection = await asyncpg.connect(ADDRESS)
        queries = Queries(AsyncpgDriver(connection))
        if await queries.schema_is_installed():
            await connection.execute("truncate pgqueuer, pgqueuer_log")
        else:
            await queries.install()
        await connection.close()

    asyncio.run(go())


def fill(count: int) -> None:
    """Enqueue by lists."""

    async def go() -> None:
        connection = await asyncpg.connect(ADDRESS)
        queries = Queries(AsyncpgDriver(connection))
        for items in chunks(count):
            bodies: list[bytes | None] = [json.dumps(item).encode() for item in items]
            await queries.enqueue(["noop"] * len(items), bodies, [0] * len(items))
        await connection.close()

    asyncio.run(go())


def unfinished() -> bool:
    """A finished job leaves the table."""
    return finds("select 1 from pgqueuer limit 1")


def work(setting: dict[str, Any]) -> None:
    """Its worker, with the batch size of the setting."""

    async def go() -> None:
        queuer = PgQueuer(AsyncpgDriver(await asyncpg.connect(ADDRESS)))

        @queuer.entrypoint("noop")
        async def noop(job: Job) -> None:
            json.loads(job.payload or b"null")
            hit()

        await queuer.run(batch_size=setting["batch"], dequeue_timeout=timedelta(seconds=30))

    if setting.get("uvloop"):
        uvloop.run(go())
    else:
        asyncio.run(go())
