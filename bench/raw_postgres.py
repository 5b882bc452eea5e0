"""The raw loop on PostgreSQL: Haulwright's own statements on its own tables, and nothing else.

Claim, run and settle overlap, on threads and connections of their own, as in the worker. What the worker adds to this
is its price: turns of tenants, validation, contexts, the hand-over to the event loop, heartbeats, reports.
"""

from __future__ import annotations

import json
import os
import threading
import traceback
import uuid
from collections.abc import Callable
from queue import Queue
from typing import Any

import psycopg
from psycopg.types.string import TextLoader

from bench.workload import DISTRIBUTIONS, app, began, fill, hit, reset, unfinished
from haulwright.stores.books import book
from haulwright.stores.leases import CLAIM_BYTES
from haulwright.stores.postgres.literals import array

__all__ = ["DISTRIBUTIONS", "began", "fill", "reset", "unfinished", "work"]

CLAIMED_AHEAD = 2
FINISHED_AHEAD = 4
_ID, _FENCE, _ARGS = 0, 1, 5
"""Where these stand in a claimed row."""
_WORKER_ID = str(uuid.uuid4())
_BOOK = book("haulwright.stores", "postgres", "jobs")
Rows = list[tuple[Any, ...]]


def work(setting: dict[str, Any]) -> None:
    """Claim, parse and settle batches until nothing is due."""
    batch = setting["batch"]
    claimed: Queue[Rows] = Queue(CLAIMED_AHEAD)
    finished: Queue[Rows] = Queue(FINISHED_AHEAD)
    threads = [
        threading.Thread(target=_or_die, args=(_claim, batch, claimed)),
        threading.Thread(target=_or_die, args=(_settle, finished)),
    ]
    for thread in threads:
        thread.start()
    while rows := claimed.get():
        for row in rows:
            json.loads(row[_ARGS])
        hit(len(rows))
        finished.put(rows)
    finished.put([])
    for thread in threads:
        thread.join()


def _or_die(act: Callable[..., None], *args: Any) -> None:
    """A loop that lost a thread would wait for ever."""
    try:
        act(*args)
    except BaseException:  # noqa: BLE001 - said, and then the end
        traceback.print_exc()
        os._exit(1)


def _claim(batch: int, claimed: Queue[Rows]) -> None:
    share = {
        "tenant": ["default"],
        "rank": [0],
        "limit": [batch],
        "past_run_at": [0],
        "past_id": [str(uuid.UUID(int=0))],
    }
    params = {**share, "worker_id": _WORKER_ID, "queue": "default", "batch": batch, "gated": False, "now": None}
    params["bytes"] = CLAIM_BYTES
    with _connect() as connection:
        rows: Rows = [()]
        while rows:
            rows = connection.execute(_BOOK["claim"][0], params).fetchall()
            claimed.put(rows)


def _settle(finished: Queue[Rows]) -> None:
    with _connect() as connection:
        while rows := finished.get():
            keys = {"id": array([row[_ID] for row in rows]), "fence": array([row[_FENCE] for row in rows])}
            connection.execute(_BOOK["settle"][0], _succeeded(len(rows)) | keys)


def _succeeded(count: int) -> dict[str, Any]:
    """The columns of a settlement that are the same for every job that succeeded without a result."""
    nothing = array([None] * count)
    named = ("reason", "result", "event_fields", "error_class", "error_code", "error_message", "error_frames")
    same: dict[str, Any] = {"was": array(["running"] * count), "state": array(["succeeded"] * count), "now": None}
    same |= {"losses": array([0] * count), "worker_id": array([_WORKER_ID] * count)}
    return same | dict.fromkeys(named, nothing)


def _connect() -> psycopg.Connection[tuple[Any, ...]]:
    connection = psycopg.connect(app.database_url, autocommit=True)
    connection.adapters.register_loader("uuid", TextLoader)
    return connection
