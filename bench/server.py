"""Where the databases of a run are: a PostgreSQL and, where there is one, a Redis of our own, and a scratch folder."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psycopg
from psycopg import sql

from bench.processes import BenchError
from tests.support import postgres

REDIS_SETTINGS = ("--save", "", "--appendonly", "yes", "--appendfsync", "always")
DURABLE = ("fsync", "synchronous_commit", "full_page_writes")
_START_SECONDS = 10.0
LOG_SEGMENTS = 40
"""Files of PostgreSQL's log that are there before anything is measured: more than one scenario fills."""


class Site:
    """The databases of one run, each made when it is first asked for."""

    def __init__(self, folder: Path, server: postgres.Server, redis_address: str | None) -> None:
        self.folder = folder
        self.redis_address = redis_address
        self._server = server
        self._databases: set[str] = set()

    def address(self, kind: str, name: str) -> str:
        """The address of an own database of this kind under this name."""
        if kind == "sqlite":
            return f"sqlite:///{self.folder / name}.db"
        if kind == "redis":
            if self.redis_address is None:
                raise BenchError("no redis-server on the path of this machine")
            return self.redis_address
        if name not in self._databases:
            self._execute(sql.SQL("create database {}").format(sql.Identifier(name)))
            self._databases.add(name)
        return self._server.url(name)

    def drop(self, kind: str, name: str) -> None:
        """Remove a database that is large, when nobody needs it any more."""
        if kind == "sqlite":
            for suffix in ("", "-wal", "-shm"):
                (self.folder / f"{name}.db{suffix}").unlink(missing_ok=True)
        elif name in self._databases:
            self._execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))
            self._databases.discard(name)

    def settle_down(self) -> None:
        """Write out what earlier work left in PostgreSQL's buffers, so that every measurement starts alike."""
        self._execute(sql.SQL("checkpoint"))

    def facts(self) -> dict[str, str]:
        """The versions of the servers, and the settings that durability depends on."""
        with psycopg.connect(self._server.url()) as connection:
            row = connection.execute("show server_version").fetchone()
            facts = {"PostgreSQL": str(row[0]).split(" ", maxsplit=1)[0] if row else "?"}
            for name in DURABLE:
                row = connection.execute("select current_setting(%s)", [name]).fetchone()
                facts[name] = str(row[0]) if row else "?"
        return facts | ({"Redis": _redis_version()} if self.redis_address else {})

    def _execute(self, statement: sql.Composed | sql.SQL) -> None:
        with psycopg.connect(self._server.url(), autocommit=True) as connection:
            connection.execute(statement)


@contextmanager
def site() -> Iterator[Site]:
    """Start what a run needs, and leave nothing of it behind."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="haulwright-bench-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        server = stack.enter_context(postgres.start(durable=True))
        _make_log_segments(server)
        yield Site(folder, server, stack.enter_context(_redis(folder)))


def _make_log_segments(server: postgres.Server) -> None:
    """Have a server's log as one that has run for a day has it.

    A new one makes and syncs each file of 16 MB when it comes to it, and all who commit wait for that. Later it takes
    old ones again.
    """
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("alter system set min_wal_size = '1GB'")
        connection.execute("select pg_reload_conf()")
        for _ in range(LOG_SEGMENTS):
            connection.execute("select pg_logical_emit_message(false, 'bench', ''), pg_switch_wal()")
        connection.execute("checkpoint")


@contextmanager
def _redis(folder: Path) -> Iterator[str | None]:
    """A Redis that writes every command to disk before it answers; None where the machine has none."""
    program = shutil.which("redis-server")
    if program is None:
        yield None
        return
    path = folder / "redis.sock"
    command = [program, "--port", "0", "--unixsocket", str(path), "--dir", str(folder), *REDIS_SETTINGS]
    with (folder / "redis.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        _wait_for_socket(path, process)
        yield f"unix://{path}"
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
        process.kill()
        process.wait()


def _redis_version() -> str:
    told = subprocess.run(["redis-server", "--version"], capture_output=True, text=True, check=True).stdout  # noqa: S607
    return next((word.removeprefix("v=") for word in told.split() if word.startswith("v=")), "?")


def _wait_for_socket(path: Path, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        with socket.socket(socket.AF_UNIX) as probe, suppress(OSError):
            probe.connect(str(path))
            return
        time.sleep(0.02)
    raise BenchError("redis-server did not start")
