"""Disks without room, in two ways: a small file system that is filled up, and a limit that the system sets on files."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

MEBIBYTE = 1 << 20


class Disk(ABC):
    """Where a database lies, and how its room is taken away and given back."""

    words: str
    """How a worker tells of it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "haulwright.db"

    @property
    def log_bytes(self) -> int:
        """How large the write-ahead log is."""
        path = self.file.with_name(f"{self.file.name}-wal")
        return path.stat().st_size if path.exists() else 0

    @contextmanager
    def growing_log(self) -> Iterator[None]:
        """A reader that stays: behind it the log is not written over from its beginning, but only ever grows."""
        reader = sqlite3.connect(self.file, isolation_level=None)
        try:
            reader.execute("begin")
            reader.execute("select count(*) from haulwright_jobs").fetchall()
            yield
        finally:
            reader.close()

    def close(self) -> None:  # noqa: B027 - most have nothing to give up
        """Give up what it took to make it."""

    @abstractmethod
    def fill(self, pids: Sequence[int]) -> None:
        """Leave these processes no room to write."""

    @abstractmethod
    def free(self, pids: Sequence[int]) -> None:
        """Give the room back."""


class SmallDisk(Disk):
    """A file system of its own in memory. Mounting it takes a privileged user."""

    words = "has no room left on its disk"

    def __init__(self, folder: Path, mebibytes: int = 64) -> None:
        super().__init__(folder)
        self._folder = folder
        size = f"size={mebibytes}m"
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "haulwright-proof", folder], check=True)  # noqa: S607 - where it is differs by system

    def fill(self, pids: Sequence[int]) -> None:  # noqa: ARG002 - it is full for everybody
        """Lay down ballast until nothing more fits."""
        with self._ballast.open("wb", buffering=0) as ballast, suppress(OSError):
            while ballast.write(bytes(MEBIBYTE)):
                pass

    def free(self, pids: Sequence[int]) -> None:  # noqa: ARG002 - as above
        """Throw the ballast away."""
        self._ballast.unlink()

    def close(self) -> None:
        """Unmount it, with everything on it, even while somebody has a file open."""
        subprocess.run(["umount", "--lazy", self._folder], check=True)  # noqa: S607

    @property
    def _ballast(self) -> Path:
        return self._folder / "ballast"


class LimitedFiles(Disk):
    """An ordinary folder, where the system lets no file of a process grow: what an ordinary user can do."""

    words = "met an input/output error"

    def fill(self, pids: Sequence[int]) -> None:
        """Let no file grow past the log as it is now."""
        for pid in pids:
            _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (self.log_bytes, hard))

    def free(self, pids: Sequence[int]) -> None:
        """Take the limit away."""
        for pid in pids:
            _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))


def may_mount() -> bool:
    """Whether this user may mount a file system: a container may refuse it even to root."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["mount", "-t", "tmpfs", "-o", "size=1m", "haulwright-proof", folder]
        if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
            return False
        subprocess.run(["umount", folder], check=True)  # noqa: S607 - as above
    return True
