"""Procrastinate on PostgreSQL: one job a fetch, one statement a completion."""

from __future__ import annotations

import asyncio
from typing import Any

import procrastinate
import psycopg

from bench.hits import counter
from bench.payload import chunks
from bench.peers import ADDRESS
from bench.peers.asking import finds

DISTRIBUTIONS = ("procrastinate", "psycopg")
TABLES = "procrastinate_jobs, procrastinate_events, procrastinate_periodic_defers, procrastinate_workers"
LEFT = "select 1 from procrastinate_jobs where status in ('todo', 'doing') limit 1"
hit = counter()


def reset() -> None:
    """Empty tables."""
    if finds("select 1 where to_regclass('procrastinate_jobs') is not null"):
        with psycopg.connect(ADDRESS, autocommit=True) as connection:
            connection.execute(f"truncate {TABLES} cascade")
        return
    with _app(procrastinate.SyncPsycopgConnector(conninfo=ADDRESS)).open() as app:
        app.schema_manager.apply_schema()


def fill(count: int) -> None:
    """Defer by lists."""
    with _app(procrastinate.SyncPsycopgConnector(conninfo=ADDRESS)).open() as app:
        for items in chunks(count):
            app.tasks["noop"].batch_defer(*[{"item": item} for item in items])


def unfinished() -> bool:
    """A finished job has another state."""
    return finds(LEFT)


def work(setting: dict[str, Any]) -> None:
    """Its worker."""

    async def go() -> None:
        connector = procrastinate.PsycopgConnector(conninfo=ADDRESS, min_size=1, max_size=setting["pool"])
        async with _app(connector).open_async() as app:
            await app.run_worker_async(concurrency=setting["concurrency"], install_signal_handlers=False)

    asyncio.run(go())


def _app(connector: procrastinate.BaseConnector) -> procrastinate.App:
    app = procrastinate.App(connector=connector)

    @app.task(name="noop")
    async def noop(item: dict[str, Any]) -> None:
        hit()

    return app
