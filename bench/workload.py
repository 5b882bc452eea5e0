"""Haulwright as a contender: its tasks, its worker, and its tables emptied, filled and asked how far they are."""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path
from typing import Any

from bench.hits import counter
from bench.payload import Item, chunks
from haulwright import Haulwright
from haulwright.clock import SECOND
from haulwright.runtime import pruner
from haulwright.runtime.launch import run_worker
from haulwright.settings import Settings
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.connection import Database

DISTRIBUTIONS = ("haulwright", "psycopg", "pydantic")
ADDRESS_VARIABLE = "HAULWRIGHT_BENCH_DATABASE"
FILL_CHUNK = 5000

app = Haulwright(os.environ.get(ADDRESS_VARIABLE))
hit = counter()


@app.task()
async def noop(item: Item) -> None:
    """Nothing, on the event loop."""
    hit()


@app.task()
def plain(item: Item) -> None:
    """Nothing, in a thread."""
    hit()


@app.task()
async def timed(sent_ns: int) -> int:
    """How long it took from the call of enqueue to here."""
    return time.monotonic_ns() - sent_ns


def reset() -> None:
    """Empty tables, as fresh as a new database's."""
    app.close()
    if database().dialect == "sqlite":
        _remove_file(database())
    else:
        database().transact(lambda connection: connection.script(_AFRESH))
    migrations.migrate(database())


def fill(count: int, *, task: str = "noop", tenants: int = 1) -> None:
    """Enqueue jobs as a user would, for each tenant in turn."""
    bound = [app.tasks[task].using(tenant=f"tenant-{number:03}") for number in range(tenants)]
    if tenants == 1:
        bound = [app.tasks[task].using()]
    for items in chunks(count, FILL_CHUNK):
        app.enqueue_many(bound[item["number"] % tenants].call(item) for item in items)


def work(setting: dict[str, Any]) -> None:
    """Run a worker with these options; with `keep_seconds` it keeps what succeeded no longer, and prunes at once."""
    options = dict(setting)
    kept = options.pop("keep_seconds", None)
    if kept is None:
        run_worker(app, **options)
        return
    pruner.ROUND_SECONDS = 0.0
    settings = Settings.load({**os.environ, "HAULWRIGHT_KEEP_SUCCEEDED_SECONDS": str(kept)})
    run_worker(app, settings=settings, **options)


def unfinished() -> bool:
    """Whether the completion of a job whose body has run is not recorded yet: then its lease is still there."""
    return bool(rows("select 1 from haulwright_jobs where state = 'running' order by lease_expires_at limit 1"))


def began(since: float) -> float | None:
    """When the first claim after a moment was made, in seconds since 1970, by the database's clock."""
    moment = int(since * SECOND)
    ((first,),) = rows(f"select min(leased_at) from haulwright_history where finished_at >= {moment}")
    return None if first is None else float(first) / SECOND


def history_size() -> int:
    """How many finished jobs are kept."""
    ((count,),) = rows("select count(*) from haulwright_history")
    return int(count)


def finished(number: int) -> float:
    """When the completion of this number was written, in seconds since 1970."""
    ((moment,),) = rows(f"select finished_at from haulwright_history order by finished_at limit 1 offset {number - 1}")
    return float(moment) / SECOND


def database() -> Database:
    """The database of this process."""
    return _opened(app.database_url)


def rows(statement: str) -> list[tuple[Any, ...]]:
    """What a statement finds."""
    return database().read(lambda connection: connection.execute(statement))


_AFRESH = "drop schema public cascade; create schema public"


@cache
def _opened(address: str) -> Database:
    return open_database(address)


def _remove_file(opened: Database) -> None:
    opened.close()
    _opened.cache_clear()  # a database stands for one file: another one in its place is refused
    path = Path(app.database_url.removeprefix("sqlite:///"))
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
