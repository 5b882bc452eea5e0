"""What the figures were measured on. No names of hosts, users or folders."""

from __future__ import annotations

import os
import platform
import sqlite3
from pathlib import Path

GIBIBYTE = 1024**3


def facts(scratch: Path) -> dict[str, str]:
    """The machine and what runs the code."""
    return {
        "cores": str(os.cpu_count()),
        "processor": _first_value(Path("/proc/cpuinfo"), "model name") or platform.machine(),
        "load before the run": f"{os.getloadavg()[0]:.1f}",
        "memory": f"{_memory_bytes() / GIBIBYTE:.0f} GiB",
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "file system": _file_system(scratch),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "SQLite": sqlite3.sqlite_version,
    }


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _file_system(folder: Path) -> str:
    """The kind of file system under a folder: on one that lives in memory durability costs nothing."""
    kind, longest = "unknown", -1
    try:
        mounts = Path("/proc/mounts").read_text().splitlines()
    except OSError:
        return kind
    for line in mounts:
        _, place, name, *_ = line.split()
        if folder.is_relative_to(place) and len(place) > longest:
            kind, longest = name, len(place)
    return kind


def _first_value(path: Path, name: str) -> str | None:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), None)
