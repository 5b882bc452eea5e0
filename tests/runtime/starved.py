"""An app for a worker process of its own, and tasks that take from it what it needs to start further runs."""

from __future__ import annotations

import ctypes
import os
import resource
from pathlib import Path

from haulwright import Haulwright

MAY_STARVE_VARIABLE = "MAY_STARVE"
"""Tells the process to give up the right of root to as many processes as it likes."""
_CAPABILITIES_VERSION = 0x20080522
_SYS_ADMIN, _SYS_RESOURCE = 21, 24
_NOBODY = 54321

app = Haulwright()
_handles: list[int] = []


@app.task()
async def on_the_loop() -> None:
    """A job that needs no thread."""


@app.task()
async def take_handles() -> None:
    """Leave no file handle to this process."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_highest_handle() + 1, most))
    try:
        while True:
            _handles.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        return


def _highest_handle() -> int:
    return max(int(handle.name) for handle in Path("/proc/self/fd").iterdir())


@app.task()
async def take_processes() -> None:
    """Leave neither process nor thread to this process."""
    if os.geteuid() == 0:
        os.setresuid(_NOBODY, 0, 0)  # the processes of root are not counted
    _, most = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, most))


@app.task(isolation="process")
def in_a_child() -> int:
    return os.getpid()


@app.task()
def on_a_thread() -> int:
    return os.getpid()


def _drop_rights() -> None:
    """Be subject to limits. The threads that this one starts inherit it."""

    class Header(ctypes.Structure):
        _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))

    class Rights(ctypes.Structure):
        _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))

    libc = ctypes.CDLL(None, use_errno=True)
    header, rights = Header(_CAPABILITIES_VERSION, 0), (Rights * 2)()
    libc.capget(ctypes.byref(header), rights)
    rights[0].effective &= ~(1 << _SYS_ADMIN | 1 << _SYS_RESOURCE)
    rights[0].permitted &= rights[0].effective
    if libc.capset(ctypes.byref(header), rights) != 0:
        raise OSError(ctypes.get_errno(), "capset")


if os.environ.get(MAY_STARVE_VARIABLE) and os.geteuid() == 0:
    _drop_rights()
