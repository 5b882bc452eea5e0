"""Is this a place where SQLite can keep the promise? Asked before a file is made or opened."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from haulwright.errors import DatabaseUnavailable, DatabaseUnsuitable

NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "fuse.sshfs", "fuse.glusterfs", "lustre", "davfs"}
)
"""Where the locks and the shared memory of WAL do not work between hosts."""


def require_suitable(path: Path) -> None:
    """Refuse a folder that is missing or not writable, which may pass, and a network file system, which will not."""
    folder = path.parent
    if not folder.is_dir():
        message = f"The folder {folder} of the database {path} does not exist."
        raise DatabaseUnavailable(message, hint=f"Create it: mkdir -p {folder}")
    if path.is_dir():
        raise DatabaseUnsuitable(f"The database {path} is a folder.", hint="Name a file.")
    if not os.access(path if path.exists() else folder, os.W_OK):
        message = f"The database {path} cannot be written by this user."
        raise DatabaseUnavailable(message, hint="Give this user write permission on the file and its folder.")
    kind = file_system_of(folder)
    if kind in NETWORK_FILE_SYSTEMS:
        message = f"The database {path} is on a network file system ({kind}), where SQLite's locks cannot be trusted."
        raise DatabaseUnsuitable(message, hint="Move it to a local disk, or use PostgreSQL for several hosts.")


def make_private(path: Path) -> None:
    """Make a file that is not there yet, for its owner alone, for it holds what jobs are given; its logs follow."""
    with suppress(OSError):  # it is there already; or it cannot be made, and SQLite says so in its own words
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))


def file_system_of(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> str | None:
    """The type of the file system that holds a folder, where the system tells."""
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    place = str(folder.resolve())
    best = ("", "")
    for line in lines:
        _device, mount, kind, *_rest = [*line.split(" "), "", "", ""]
        point = mount.replace("\\040", " ")
        inside = point.startswith("/") and (place == point or place.startswith(point.rstrip("/") + "/"))
        if inside and len(point) >= len(best[0]):
            best = (point, kind)
    return best[1] or None


def in_temporary_folder(path: Path) -> bool:
    """Whether the system may clean this database away: fit for tests and demonstrations only."""
    return path.resolve().is_relative_to(Path(tempfile.gettempdir()).resolve())
