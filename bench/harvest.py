"""Haulwright as a harvester: each job fetches a page through a source, reads it, and commits what it read as a row."""

from __future__ import annotations

import os
from collections.abc import Iterator

from bench import workload
from bench.hits import counter
from bench.reading import parse
from bench.workload import ADDRESS_VARIABLE, DISTRIBUTIONS, app, began, database, rows, unfinished, work
from haulwright.client.context import Context
from haulwright.client.transaction import Tx

__all__ = ["DISTRIBUTIONS", "began", "collected", "fill", "reset", "unfinished", "work"]

SOURCE = "pages"
PACED = "paced"
RATE = 200
"""Requests a second that `PACED` takes, and as many at once after a quiet time, as a rate means by itself."""
FILL_CHUNK = 5_000
_TABLE = "create table bench_pages (url text primary key, title text not null, paragraphs integer not null)"
_MARK = "%s" if os.environ.get(ADDRESS_VARIABLE, "").startswith("postgres") else "?"
_INSERT = f"insert into bench_pages (url, title, paragraphs) values ({_MARK}, {_MARK}, {_MARK})"
pages = app.source(SOURCE, private=True, rate="100000/s")
paced_pages = app.source(PACED, private=True, rate=f"{RATE}/s")
hit = counter()


@app.task(source=SOURCE)
async def harvest(ctx: Context, url: str) -> None:
    """One page: fetched, read, and its row committed with the end of the job."""
    reply = await pages.aget(url)
    title, paragraphs = parse(reply.body)
    await ctx.acommit("page", _save, url, title, paragraphs, settle=True)
    hit()


@app.task(source=PACED)
async def paced(url: str) -> None:
    """One page at the pace of its source, and no more."""
    await paced_pages.aget(url)
    hit()


def _save(tx: Tx, url: str, title: str, paragraphs: int) -> None:
    tx.execute(_INSERT, (url, title, paragraphs))


def reset() -> None:
    """Empty tables, and one for the rows."""
    workload.reset()
    database().transact(lambda connection: connection.script(_TABLE))


def fill(count: int, *, site: str, task: str = "harvest") -> None:
    """Enqueue a job for each page."""
    for start in range(0, count, FILL_CHUNK):
        urls = _urls(site, range(start, min(count, start + FILL_CHUNK)))
        app.enqueue_many(app.tasks[task].call(url) for url in urls)


def collected() -> int:
    """How many rows there are."""
    ((count,),) = rows("select count(*) from bench_pages")
    return int(count)


def _urls(site: str, numbers: range) -> Iterator[str]:
    return (f"{site}/page/{number}" for number in numbers)
