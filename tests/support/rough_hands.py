"""What people do to the file of a database that others have open."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

PAGE_BYTES = 4096


def log_of(path: Path) -> Path:
    """The write-ahead log of a file."""
    return path.with_name(f"{path.name}-wal")


def backup(path: Path) -> Path:
    """A copy as SQLite makes it, beside the file."""
    copy = path.with_name("earlier.db")
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy


def replace(path: Path) -> None:
    """Put a copy of the file in its place, under a name that another file had."""
    backup(path).replace(path)


def empty(path: Path) -> None:
    """Put an empty file in its place."""
    other = path.with_name("empty.db")
    other.touch()
    other.replace(path)


def delete(path: Path) -> None:
    """Delete the file alone."""
    path.unlink()


def move_away(path: Path) -> None:
    """Put it somewhere else."""
    path.rename(path.with_name("elsewhere.db"))


def delete_log(path: Path) -> None:
    """Take what looks like a left-over for one."""
    log_of(path).unlink()


def replace_log(path: Path) -> None:
    """Put another in its place, at once: nobody can see it missing in between."""
    other = path.with_name("other-log")
    other.touch()
    other.replace(log_of(path))


def copy_over(earlier: Path, path: Path) -> None:
    """Copy an earlier file into this one: the inode stays. In another process, or this one would lose its locks."""
    subprocess.run(["/bin/cp", str(earlier), str(path)], check=True)


def damage(path: Path) -> None:
    """Fill all pages but the first few with noise, in the file and in its log."""
    for file in (path, log_of(path)):
        with file.open("r+b") as target:
            target.seek(2 * PAGE_BYTES)
            target.write(b"\xa5" * max(0, file.stat().st_size - 2 * PAGE_BYTES))


HANDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "replaced": (replace, "was replaced by another file"),
    "emptied": (empty, "was replaced by an empty file"),
    "deleted": (delete, "was deleted or moved away"),
    "moved away": (move_away, "was deleted or moved away"),
    "its log deleted": (delete_log, "lost its write-ahead log (deleted)"),
    "its log replaced": (replace_log, "lost its write-ahead log (another one is there)"),
}
"""What is done, and what is said of it."""
