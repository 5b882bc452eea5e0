"""What can happen to a PostgreSQL server: a crash, its connections ended from outside, and standing still."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from tests.support.postgres import Server

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes as Linux shows them")
WORKERS = "proof-workers"
"""What the connections of the workers call themselves."""
_TERMINATE = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = %s"


def named(url: str) -> str:
    """The same address, for connections that can be told from those of the proof."""
    return f"{url}{'&' if '?' in url else '?'}application_name={WORKERS}"


def terminate_workers(server: Server) -> int:
    """End every connection of every worker from outside, and return how many there were."""
    with psycopg.connect(server.url(), autocommit=True) as connection:
        return len(connection.execute(_TERMINATE, [WORKERS]).fetchall())


@contextmanager
def read_only(server: Server) -> Iterator[None]:
    """Have the server take no writes of the workers, as one does that a fail-over left behind; then let it again."""
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("alter database postgres set default_transaction_read_only = on")
        connection.execute(_TERMINATE, [WORKERS])
        try:
            yield
        finally:
            connection.execute("alter database postgres reset default_transaction_read_only")


@contextmanager
def frozen(server: Server) -> Iterator[None]:
    """Stop the whole server where it stands, the postmaster first so that nobody new is born; then let it go on."""
    with stopped([server.pid]), stopped(children_of(server.pid)):
        yield


@contextmanager
def stopped(pids: list[int]) -> Iterator[None]:
    """Let processes stand still; one that has ended meanwhile is no trouble."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def children_of(parent: int) -> list[int]:
    """The processes that it started, by the system's own table; one that ends while it is read is in it no more."""
    children = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            name, _, rest = path.read_text("utf-8").rpartition(")")
            children += [int(name.partition(" ")[0])] if int(rest.split()[1]) == parent else []
    return children
