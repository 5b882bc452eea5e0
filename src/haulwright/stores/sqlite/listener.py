"""Hears when another process commits to a SQLite file.

Where the system offers it, a watch on the write-ahead log wakes us when it changes, and nothing is spent while nothing
happens, nor when other files of its folder are written. The log is there as long as anybody has the file open; before
that, and after it was deleted, the watch is on the folder. Elsewhere the file's `data_version` is asked every few
milliseconds.
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
from typing import NamedTuple

POLL_SECONDS = 0.005
"""Between two looks at `data_version`, where there is no watch."""
RING_SECONDS = 0.001
"""Between two rings. A commit writes the log in ten pieces, and each would ring: whoever is woken by the first would be
kept from its work by the others. What is written meanwhile rings afterwards, once."""
_IN_MODIFY = 0x2
_IN_CREATE = 0x100
_IN_DELETE_SELF = 0x400
_IN_IGNORED = 0x8000
_NO_TARGET = -1
_IN_NONBLOCK = os.O_NONBLOCK
_EVENT = struct.Struct("iIII")
_READ_BYTES = 64 * 1024


class _Notice(NamedTuple):
    """What happened to a file."""

    target: int
    mask: int
    name: bytes
    """Which one it is of a watched folder."""


class SqliteListener:
    """Rings when the file was written, by whomever. A ring may be false; a silence never lasts past the wait."""

    def __init__(self, path: Path) -> None:
        self._log = path.with_name(f"{path.name}-wal")
        self._watch = _new_watch()
        self._target = _NO_TARGET
        self._is_on_log = False
        self._rang = float("-inf")
        """When it rang last, on the monotonic clock."""
        if self._watch is not None:
            self._aim(self._watch)
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
        time.sleep(max(0.0, min(self._rang + RING_SECONDS, until) - time.monotonic()))
        while (left := until - time.monotonic()) > 0:
            watch = self._watch
            if watch is None:
                return False
            ready, _, _ = select.select([watch], [], [], left)
            if ready and self._concerns_log(watch, _notices(os.read(watch, _READ_BYTES))):
                self._rang = time.monotonic()
                return True
        return False

    def _concerns_log(self, watch: int, notices: list[_Notice]) -> bool:
        """Whether the log was written; where it came or went, the watch goes along."""
        current = [notice for notice in notices if notice.target == self._target]
        if self._is_on_log:
            if any(notice.mask & _IN_IGNORED for notice in current):
                self._aim(watch)
            return bool(current)
        if os.fsencode(self._log.name) not in {notice.name for notice in current}:
            return False
        self._aim(watch)
        return True

    def _aim(self, watch: int) -> None:
        """Watch the log, or its folder while there is none."""
        before = self._target
        self._target = _add_target(watch, self._log, _IN_MODIFY | _IN_DELETE_SELF)
        self._is_on_log = self._target != _NO_TARGET
        if not self._is_on_log:
            self._target = _add_target(watch, self._log.parent, _IN_MODIFY | _IN_CREATE)
        if before not in (_NO_TARGET, self._target):
            ctypes.CDLL(None).inotify_rm_watch(watch, before)

    def _data_version(self) -> int:
        if self._asked is None:
            return 0
        return int(self._asked.execute("pragma data_version").fetchone()[0])


def _new_watch() -> int | None:
    """A descriptor that becomes readable when a watched file is written; None where there is no such thing."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        descriptor = ctypes.CDLL(None, use_errno=True).inotify_init1(_IN_NONBLOCK | os.O_CLOEXEC)
    except AttributeError:
        return None
    return int(descriptor) if descriptor >= 0 else None


def _add_target(watch: int, path: Path, mask: int) -> int:
    """Watch a file or folder, and return its number; none where it is not there."""
    return int(ctypes.CDLL(None).inotify_add_watch(watch, os.fsencode(path), mask))


def _notices(raw: bytes) -> list[_Notice]:
    notices = []
    place = 0
    while place + _EVENT.size <= len(raw):
        target, mask, _, length = _EVENT.unpack_from(raw, place)
        place += _EVENT.size
        notices.append(_Notice(target, mask, raw[place : place + length].rstrip(b"\0")))
        place += length
    return notices
