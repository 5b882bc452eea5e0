"""What is common to the backups of both databases: a file that is there whole or not at all, for its owner alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from haulwright.errors import Conflict, Refused

Progress = Callable[[int, int], None]
"""Called with how much is done, and of how much."""


@dataclass(frozen=True, slots=True)
class BackupFile:
    """A backup that was made and looked through."""

    path: Path
    format: str
    """`sqlite`: a database file. `pg_dump`: the custom format of that program."""
    size_bytes: int
    contents: dict[str, int]
    """How much of what is in it."""
    restore: tuple[str, ...]
    """The lines to type to put it back."""


@contextmanager
def whole_file(target: Path, *, force: bool) -> Iterator[Path]:
    """A name to write to. What is there at the end has the target's name, on disk; after a failure nothing is left."""
    require_target(target, force=force)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        yield part
        _sync(part)
        if force:
            part.replace(target)
        else:
            os.link(part, target)  # refuses where somebody made that file meanwhile
        _sync(target.parent)
    except FileExistsError:
        raise _exists(target) from None
    except OSError as error:
        message = f"The backup {target} could not be written: {error.strerror or error}."
        raise Refused(message, hint="Nothing of it was kept. Name a place that can be written and has room.") from error
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def require_target(target: Path, *, force: bool) -> None:
    """Refuse a place for a backup before anything is done."""
    if target.is_dir() or not target.parent.is_dir():
        what = "is a folder" if target.is_dir() else f"cannot be made: there is no folder {target.parent}"
        raise Refused(f"The backup {target} {what}.", hint="Name a file in a folder that exists.")
    if target.exists() and not force:
        raise _exists(target)


def _exists(target: Path) -> Conflict:
    return Conflict(f"There is a file {target} already.", hint="Name another, or write over it with --force.")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
