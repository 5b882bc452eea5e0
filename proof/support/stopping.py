"""Stopping a process with SIGSTOP, but never inside a transaction: that is a limit of SQLite, not a zombie."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from subprocess import Popen
from typing import Any

from haulwright.stores.store import Store

TRIES = 200


def stop(process: Popen[Any], store: Store) -> None:
    """Freeze a process where it holds nothing, so that others can go on."""
    for _ in range(TRIES):
        os.kill(process.pid, signal.SIGSTOP)
        _wait_for_state(process.pid, "T")
        if _holds_nothing(store):
            return
        resume(process)
        time.sleep(0.003)
    message = f"process {process.pid} was never found outside a transaction"
    raise AssertionError(message)


def resume(process: Popen[Any]) -> None:
    """Let it go on, as if nothing had happened."""
    os.kill(process.pid, signal.SIGCONT)


def _wait_for_state(pid: int, wanted: str) -> None:
    """A signal takes a moment to stop all threads."""
    while Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != wanted:
        time.sleep(0.001)


def _holds_nothing(store: Store) -> bool:
    if store.database.dialect == "postgres":
        return _try(store, "select id from haulwright_jobs for update nowait")
    return _try(store, "select 1")


def _try(store: Store, sql: str) -> bool:
    """Whether a transaction of ours gets through at once; the raw connection does not wait as the store would."""
    with store.database._pool.acquire() as connection:  # type: ignore[attr-defined]
        try:
            connection.raw.execute("begin immediate" if connection.dialect == "sqlite" else "begin")
            connection.raw.execute(sql).fetchall()
        except Exception:  # noqa: BLE001 - locked, in the words of either driver
            free = False
        else:
            free = True
        if not connection.usable():
            connection.raw.execute("rollback")
    return free
