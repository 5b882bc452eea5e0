"""Huey on SQLite: a job leaves the table when it is taken, so there is no completion to record."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from huey import SqliteHuey

from bench.hits import counter
from bench.payload import items
from bench.peers import ADDRESS

DISTRIBUTIONS = ("huey",)
FILE = Path(ADDRESS.removeprefix("sqlite:///"))
hit = counter()
huey = SqliteHuey("bench", filename=str(FILE), fsync=True, results=False)


@huey.task(name="noop")
def noop(item: dict[str, Any]) -> None:
    """Nothing."""
    hit()


def reset() -> None:
    """Empty tables."""
    huey.flush()


def fill(count: int) -> None:
    """Enqueue one by one, for there is no bulk call."""
    for item in items(count):
        noop(item)


def unfinished() -> bool:
    """All that it keeps of a job is its place in the table."""
    with closing(sqlite3.connect(FILE, timeout=30)) as connection:
        return bool(connection.execute("select 1 from task limit 1").fetchall())


def work(setting: dict[str, Any]) -> None:
    """Its consumer, with threads."""
    logging.getLogger("huey").setLevel(logging.ERROR)
    huey.create_consumer(workers=setting["workers"], worker_type="thread", periodic=False).run()
