"""Who this process is, and whether another one is provably gone."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from haulwright.__about__ import __version__
from haulwright.engine.ids import new_id
from haulwright.stores.workers import Identity

_PROC = Path("/proc")
_MACHINE = Path("/etc/machine-id")
_STATE_FIELD, _START_FIELD = 0, 19
"""The places of state and start time in /proc/PID/stat, counted from what follows the name."""
_OVER = frozenset("ZX")
"""The states of a process that has ended and was not yet taken note of by its parent."""
_UNKNOWN = ""


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
        pid_started=started_at(os.getpid()) or _UNKNOWN,
        version=__version__,
    )


def boot_id() -> str:
    """What a process number means something in: machine, its boot and its process namespace, apart by slashes.

    A part that the system does not tell is empty. The name of a host is not enough: containers and clones share it.
    """
    try:
        namespace = str((_PROC / "self/ns/pid").readlink())
    except OSError:
        namespace = _UNKNOWN
    return "/".join((_first_line(_MACHINE), _first_line(_PROC / "sys/kernel/random/boot_id"), namespace))


def started_at(pid: int) -> str | None:
    """When a process started, in the system's own units; None where no such process can be seen running."""
    fields = _stat(pid)
    return None if fields is None or fields[_STATE_FIELD] in _OVER else fields[_START_FIELD]


def is_gone(boot: str, pid: int, started: str) -> bool:
    """Whether a process of this host is provably gone. Where the system cannot say, it is not."""
    here = boot_id()
    if not sys.platform.startswith("linux") or not started:
        return False
    if boot == here:
        _, booted, namespace = here.split("/")
        return bool(booted and namespace) and _has_ended(pid, started)
    return _is_earlier_boot(boot, here)


def _has_ended(pid: int, started: str) -> bool:
    """Whether no process has this number, or another one that can be seen.

    Not seen is not gone: /proc may hide the processes of others (hidepid), or be that of another namespace. Whether
    there is a process with a number is told all the same to who would send it a signal.
    """
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass  # there is one, and it is somebody else's
    fields = _stat(pid) if _shows_our_numbers() else None
    return fields is not None and (fields[_STATE_FIELD] in _OVER or fields[_START_FIELD] != started)


def _stat(pid: int) -> list[str] | None:
    """What the system tells of a process, from its state on; None where it tells nothing."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()


def _shows_our_numbers() -> bool:
    """Whether /proc counts processes as we do: a container may see the one of its host."""
    try:
        return (_PROC / "self").readlink().name == str(os.getpid())
    except OSError:
        return False


def _is_earlier_boot(boot: str, here: str) -> bool:
    """Whether this machine has been started anew since: another machine's boot says nothing."""
    machine, booted, _ = (*boot.split("/"), _UNKNOWN, _UNKNOWN)[:3]
    our_machine, our_boot, _ = here.split("/")
    return bool(machine and booted and our_boot) and machine == our_machine and booted != our_boot


def _first_line(path: Path) -> str:
    try:
        return path.read_text("ascii").strip().partition("\n")[0].replace("/", "")
    except (OSError, UnicodeDecodeError):
        return _UNKNOWN
