"""Whether a file is still the one that this process opened: by device and inode, its own and those of its log.

Whoever replaces or deletes a file leaves the processes that have it open with the old one, and SQLite goes on writing
there without a word. So a commit is acknowledged only after a look at what its path names.

No file of SQLite is opened and closed here: the system drops all locks that a process has on a file with the first
descriptor of it that is closed. What is read of it is read through a descriptor that is open already.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from haulwright.errors import DatabaseReplaced
from haulwright.stores.sqlite.file_marks import Mark, mark_of, mark_without_times

HEADER_BYTES = 100
MAGIC = b"SQLite format 3\0"
SECOND_LOOK_SECONDS = 0.05
"""Before a header is believed to be older: it may be read while it is written."""
COUNT_SECONDS = 10.0
"""How often the header is made to count."""
_COUNTER = slice(24, 28)
"""Where the header counts changes: it grows, and is never put back by SQLite itself."""
_DESCRIPTORS = "/dev/fd"


class FileIdentity:
    """What one process knows of the file it has open. After the first refusal there are only refusals."""

    def __init__(self, path: Path) -> None:
        self._shown = path
        self._path = os.path.abspath(path)  # noqa: PTH100 - symbolic links stay: they may be turned to another file
        self._log_path = b""
        self._file: Mark = None
        self._log: Mark = None
        self._open = 0
        self._pid = os.getpid()
        self._counter = -1
        self._counted_at = float("-inf")
        self._refusal: DatabaseReplaced | None = None
        self._lock = threading.Lock()

    @property
    def is_known(self) -> bool:
        """Whether it was opened before."""
        return self._file is not None

    def opened(self) -> None:
        """Another connection is open: the log stays the same file from the first one on until the last is closed."""
        with self._lock:
            if self._pid != os.getpid():  # the connections of the parent are not ours
                self._pid, self._open = os.getpid(), 0
            if self._open == 0:
                self._log_path = os.fsencode(f"{os.path.realpath(self._path)}-wal")
                self._log = mark_without_times(self._log_path)
            self._file = self._file or mark_of(self._path)
            self._open += 1
        self.require()

    def closed(self) -> None:
        """One connection less."""
        with self._lock:
            self._open -= 1

    def require(self) -> None:
        """Refuse where the path names another file than the one that is open, or the log is another."""
        if self._refusal is not None:
            raise self._refusal
        if mark_of(self._path) != self._file or (self._open and mark_without_times(self._log_path) != self._log):
            raise self._refuse()

    def require_if_known(self) -> None:
        """The same, where it was opened before: asked before it is opened again, lest a log is made in its place."""
        if self.is_known:
            self.require()

    def require_header(self) -> None:
        """Refuse where the file was written over in its place: it is no database any more, or an earlier one."""
        self.require()
        for seconds in (SECOND_LOOK_SECONDS, 0.0):
            header = read_header(Path(self._path))
            counter = int.from_bytes(header[_COUNTER], "big")
            if header.startswith(MAGIC) and counter >= self._counter:
                self._counter = counter
                return
            time.sleep(seconds)
        raise self._refuse("was written over from outside")

    def is_count_due(self) -> bool:
        """Whether the header was not made to count for a while; asking says that it will be now."""
        now = time.monotonic()
        is_due = now - self._counted_at >= COUNT_SECONDS
        self._counted_at = now if is_due else self._counted_at
        return is_due

    def _refuse(self, what: str = "") -> DatabaseReplaced:
        if self._refusal is None:
            self._refusal = DatabaseReplaced(str(self._shown), what or self._what_happened())
        return self._refusal

    def _what_happened(self) -> str:
        file, log = mark_of(self._path), mark_without_times(self._log_path)
        if file is None:
            return "was deleted or moved away"
        if file != self._file:
            is_empty = os.stat(self._path).st_size == 0  # noqa: PTH116 - as everywhere here, by its text
            return "was replaced by an empty file" if is_empty else "was replaced by another file"
        return f"lost its write-ahead log ({'deleted' if log is None else 'another one is there'})"


def read_header(path: Path) -> bytes:
    """The first bytes of a file, without losing the locks that this process has on it."""
    for descriptor in _open_descriptors(path):
        with suppress(OSError):
            return os.pread(descriptor, HEADER_BYTES, 0)
    with path.open("rb") as file:
        return file.read(HEADER_BYTES)


def _open_descriptors(path: Path) -> Iterator[int]:
    mark = mark_of(str(path))
    names = os.listdir(_DESCRIPTORS) if os.path.isdir(_DESCRIPTORS) else []  # noqa: PTH112, PTH208 - as above
    for name in names:
        with suppress(OSError, ValueError):
            status = os.fstat(int(name))
            if stat.S_ISREG(status.st_mode) and (status.st_dev, status.st_ino) == mark:
                yield int(name)
