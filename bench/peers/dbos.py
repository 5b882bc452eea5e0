"""DBOS queues on PostgreSQL or SQLite: a queued workflow without steps."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
from dbos import DBOS, DBOSClient

from bench.hits import counter
from bench.payload import chunks
from bench.peers import ADDRESS
from bench.peers.asking import finds

DISTRIBUTIONS = ("dbos", "sqlalchemy", "psycopg")
IS_SQLITE = ADDRESS.startswith("sqlite")
FILE = Path(ADDRESS.removeprefix("sqlite:///"))
STATUS = "workflow_status" if IS_SQLITE else "dbos.workflow_status"
LEFT = f"select 1 from {STATUS} where status in ('ENQUEUED', 'PENDING') limit 1"
hit = counter()


def reset() -> None:
    """Empty tables; on SQLite in WAL mode, which a file remembers, with `synchronous=FULL` as SQLite has it."""
    if IS_SQLITE:
        for suffix in ("", "-wal", "-shm"):
            FILE.with_name(FILE.name + suffix).unlink(missing_ok=True)
        with closing(sqlite3.connect(FILE)) as connection:
            connection.execute("pragma journal_mode = wal")
    elif finds("select 1 where to_regclass('dbos.workflow_status') is not null"):
        with psycopg.connect(ADDRESS, autocommit=True) as server:
            server.execute("truncate dbos.workflow_status cascade")
        return
    _launch()
    DBOS.register_queue("bench")
    DBOS.destroy()


def fill(count: int) -> None:
    """Enqueue lists in transactions of ours, for there is no bulk call."""
    client = DBOSClient(system_database_url=ADDRESS)
    for items in chunks(count):
        with client._sys_db.engine.begin() as connection:  # noqa: SLF001 - its own engine, with its own settings
            for item in items:
                client.enqueue_in_transaction(connection, {"queue_name": "bench", "workflow_name": "noop"}, item)
    client.destroy()


def unfinished() -> bool:
    """A finished workflow has another status."""
    if not IS_SQLITE:
        return finds(LEFT)
    with closing(sqlite3.connect(FILE, timeout=30)) as connection:
        return bool(connection.execute(LEFT).fetchall())


def work(setting: dict[str, Any]) -> None:
    """Its queue, asked often."""
    _launch()
    DBOS.register_queue(
        "bench",
        worker_concurrency=setting.get("concurrency"),
        polling_interval_sec=setting["poll_seconds"],
        on_conflict="always_update",
    )
    threading.Event().wait()


def _launch() -> None:
    DBOS(
        config={
            "name": "bench",
            "system_database_url": ADDRESS,
            "log_level": "ERROR",
            "run_admin_server": False,
            "application_version": "bench",
            "executor_id": str(os.getpid()),
        }
    )

    @DBOS.workflow(name="noop")
    def noop(item: dict[str, Any]) -> None:
        hit()

    DBOS.launch()
