"""Hears when another process commits to a SQLite file.

Where the system offers it, a watch on the folder of the file wakes us when the write-ahead log changes, and nothing is
spent while nothing happens. Elsewhere the file's `data_version` is asked every few milliseconds.
"""

from __future__ import annotations

import ctypes
import os
import select
import sqlite3
import struct
import sys
import time
from pathlib import Path

POLL_SECONDS = 0.005
"""Between two looks at `data_version`, where there is no watch."""
_IN_MODIFY = 0x2
_IN_NONBLOCK = os.O_NONBLOCK
_EVENT = struct.Struct("iIII")
_READ_BYTES = 64 * 1024


class SqliteListener:
    """Rings when the file was written, by whomever. A ring may be false; a silence never lasts past the wait."""

    def __init__(self, path: Path) -> None:
        self._log_name = f"{path.name}-wal".encode()
        self._watch = _watch_folder(path.parent)
        self._asked = None if self._watch is not None else sqlite3.connect(path, check_same_thread=False, timeout=0)
        self._version = self._data_version()

    def wait(self, seconds: float) -> bool:
        """Wait for a ring, at most so long."""
        if self._watch is not None:
            return self._wait_for_watch(seconds)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            version = self._data_version()
            if version != self._version:
                self._version = version
                return True
            time.sleep(POLL_SECONDS)
        return False

    def close(self) -> None:
        """Stop listening."""
        if self._watch is not None:
            os.close(self._watch)
            self._watch = None
        if self._asked is not None:
            self._asked.close()

    def _wait_for_watch(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            watch = self._watch
            if watch is None:
                return False
            ready, _, _ = select.select([watch], [], [], left)
            if ready and self._log_name in _names(os.read(watch, _READ_BYTES)):
                return True
        return False

    def _data_version(self) -> int:
        if self._asked is None:
            return 0
        return int(self._asked.execute("pragma data_version").fetchone()[0])


def _watch_folder(folder: Path) -> int | None:
    """A descriptor that becomes readable when a file of the folder is written; None where there is no such thing."""
    if not sys.platform.startswith("linux"):
        return None
    system = ctypes.CDLL(None, use_errno=True)
    try:
        descriptor = system.inotify_init1(_IN_NONBLOCK | os.O_CLOEXEC)
    except AttributeError:
        return None
    if descriptor < 0:
        return None
    if system.inotify_add_watch(descriptor, os.fsencode(folder), _IN_MODIFY) < 0:
        os.close(descriptor)
        return None
    return int(descriptor)


def _names(raw: bytes) -> set[bytes]:
    """The names of the files that a batch of notices is about."""
    names = set()
    place = 0
    while place + _EVENT.size <= len(raw):
        _, _, _, length = _EVENT.unpack_from(raw, place)
        place += _EVENT.size
        names.add(raw[place : place + length].rstrip(b"\0"))
        place += length
    return names
