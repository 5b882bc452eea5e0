"""Who this process is, and whether another one is provably gone."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from penstock.__about__ import __version__
from penstock.engine.ids import new_id
from penstock.stores.workers import Identity

_PROC = Path("/proc")
_START_FIELD = 21
"""The place of the start time in /proc/PID/stat, counted from zero."""


def this_process(name: str | None = None) -> Identity:
    """The identity of this process: new with every start, whatever its name."""
    worker_id = new_id()
    host = socket.gethostname()
    return Identity(
        id=worker_id,
        name=name or f"{host}-{worker_id[-8:]}",
        host=host,
        boot_id=boot_id(),
        pid=os.getpid(),
        pid_started=started_at(os.getpid()) or "",
        version=__version__,
    )


def boot_id() -> str:
    """What tells this start of the host from every other; empty where the system does not say."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def started_at(pid: int) -> str | None:
    """When a process started, in the system's own units; None where there is no such process."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[_START_FIELD - 2]


def is_gone(boot: str, pid: int, started: str) -> bool:
    """Whether a process of this host is provably gone. Where the system cannot say, it is not."""
    here = boot_id()
    if not sys.platform.startswith("linux") or not here or not boot or not started:
        return False
    return boot != here or started_at(pid) != started
