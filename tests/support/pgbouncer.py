"""A real PgBouncer before a database, where this machine has one."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tests.support.binaries import unprivileged_account
from tests.support.postgres import free_port

START_SECONDS = 20
SETTINGS = """
[databases]
* = host={host} port={port} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = 5
ignore_startup_parameters = extra_float_digits
"""


def program() -> str | None:
    """Where it is, if it is."""
    return shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")


@contextmanager
def pgbouncer(url: str, mode: Literal["transaction", "session"]) -> Iterator[str]:
    """Start one before the database of a URL, and return the address of the same database through it."""
    parts, account, listen = conninfo_to_dict(url), unprivileged_account(), free_port()
    with tempfile.TemporaryDirectory(prefix="haulwright-pgbouncer-") as folder:
        settings = Path(folder, "pgbouncer.ini")
        there = {"host": parts.get("host"), "port": parts.get("port", 5432), "user": parts.get("user")}
        settings.write_text(SETTINGS.format(listen=listen, mode=mode, **there))
        account.owns(Path(folder))
        process = subprocess.Popen(
            [str(program()), settings],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            **account.options(),
        )
        try:
            address = f"postgresql://{there['user']}@127.0.0.1:{listen}/{parts['dbname']}"
            _wait_until_ready(address)
            yield address
        finally:
            process.terminate()
            process.wait()


def _wait_until_ready(address: str) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with suppress(psycopg.OperationalError), psycopg.connect(address):
            return
        time.sleep(0.02)
    raise TimeoutError(f"PgBouncer did not start at {address}")
