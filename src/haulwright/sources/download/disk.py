"""Files that are where they belong or not at all, also after the power went."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

from haulwright.errors import InvalidValue

T = TypeVar("T")

BLOCK_BYTES: Final = 1024 * 1024
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


def content_path(folder: Path, sha256: str) -> Path:
    """Where a file with this content lives: `ab/cd/<sha256>`."""
    if not _SHA256.fullmatch(sha256):
        raise InvalidValue("sha256", sha256, "is not 64 hexadecimal digits in lower case")
    return folder / sha256[:2] / sha256[2:4] / sha256


def holds(path: Path, sha256: str) -> bool:
    """Whether the file is there with this content, read from its first byte to its last."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except FileNotFoundError:
        return False


def move_into_place(part: Path, place: Path) -> None:
    """Give a finished file its name. It is there whole or not at all, and stays there."""
    make_folder(place.parent)
    part.replace(place)
    sync_folder(place.parent)
    sync_folder(part.parent)


def write_whole(path: Path, body: bytes) -> None:
    """Replace a small file in one step: readers see the old one or the new one."""
    draft = draft_path(path)
    with draft.open("wb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def write_into_place(part: Path, place: Path, body: bytes, check: Callable[[Path], T]) -> T:
    """Write a small file under the name of a part, have it checked there, and move it: whole or not at all, for good.

    What is refused is not kept. A file that is in the place already is replaced in the same step.
    """
    make_folder(part.parent)
    make_folder(place.parent)
    try:
        with part.open("wb") as file:
            file.write(body)
            file.flush()
            verdict = check(part)
            os.fsync(file.fileno())
        part.replace(place)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(place.parent)
    return verdict


def draft_path(path: Path) -> Path:
    """Where a file is written before it gets its name."""
    return path.with_name(f"{path.name}.new")


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, so that they are still there after the power went."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    with suppress(FileExistsError):
        folder.mkdir()
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@cache
def boot_id() -> str:
    """Since when this machine is up: what was written since then is still there, synced or not. Empty if unknown."""
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except OSError:
        return ""
