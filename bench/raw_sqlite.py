"""The raw loop on SQLite: Haulwright's own statements on its own tables, one connection, and nothing else.

The settlement of a batch and the claim of the next share a transaction, for there is only one writer anyway.
"""

from __future__ import annotations

import json
import sqlite3
import time
import uuid
from typing import Any

from bench.workload import DISTRIBUTIONS, app, began, fill, hit, reset, unfinished
from haulwright.clock import host_now
from haulwright.stores.books import book
from haulwright.stores.sqlite.connection import with_table

__all__ = ["DISTRIBUTIONS", "began", "fill", "reset", "unfinished", "work"]

_ID, _FENCE, _ARGS = 0, 1, 5
"""Where these stand in a claimed row."""
_BOOK = book("haulwright.stores", "sqlite", "jobs")
_NAP_SECONDS = 0.0005
_PRAGMAS = """
pragma journal_mode = wal;
pragma synchronous = full;
pragma cache_size = -4096;
pragma wal_autocheckpoint = 4000;
"""
_WORKER_ID = str(uuid.uuid4())
_SUCCEEDED = {"worker_id": _WORKER_ID, "was": "running", "state": "succeeded", "losses": 0} | dict.fromkeys(
    ("reason", "result", "event_fields", "error_class", "error_code", "error_message", "error_frames")
)
_SETTLE = [with_table(one, ("id", "fence", *_SUCCEEDED), ("id", "fence")) for one in _BOOK["settle"]]
Rows = list[tuple[Any, ...]]


def work(setting: dict[str, Any]) -> None:
    """Claim, parse and settle batches until nothing is due."""
    path = app.database_url.removeprefix("sqlite:///")
    connection = sqlite3.connect(path, isolation_level=None, timeout=0, cached_statements=256)
    connection.executescript(_PRAGMAS)
    share = {"worker_id": _WORKER_ID, "queue": "default", "tenant": "default", "rank": 0, "limit": setting["batch"]}
    rows: Rows = []
    while True:
        _begin(connection)
        _settle(connection, rows)
        rows = connection.execute(_BOOK["claim"][0], share | {"now": host_now()}).fetchall()
        connection.execute("commit")
        if not rows:
            return
        for row in rows:
            json.loads(row[_ARGS])
        hit(len(rows))


def _begin(connection: sqlite3.Connection) -> None:
    """Wait for a second loop by trying again: SQLite's own waiting backs off for too long."""
    while True:
        try:
            connection.execute("begin immediate")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(_NAP_SECONDS)
        else:
            return


def _settle(connection: sqlite3.Connection, rows: Rows) -> None:
    if rows:
        keys = json.dumps([(row[_ID], row[_FENCE]) for row in rows])
        same = {f"same_{name}": value for name, value in _SUCCEEDED.items()}
        for statement in _SETTLE:
            connection.execute(statement, {**same, "input": keys, "now": host_now()}).fetchall()
