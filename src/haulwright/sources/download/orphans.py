"""Parts that nobody goes on with: jobs that were cancelled, requeued or died for good leave them behind."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from haulwright.sources.download.parts import PARTS, Record, fence_of, forget, record_path


@dataclass(frozen=True, slots=True)
class Orphan:
    """A part, and for how long nothing was written to it."""

    path: Path
    job_id: str
    """Whose it was; empty where its record cannot be read."""
    fence: int
    url: str
    bytes: int
    idle_seconds: float


def orphans(folder: str | Path, *, idle_seconds: float, now: float | None = None) -> list[Orphan]:
    """The parts that nothing was written to for so long, the longest first."""
    moment = time.time() if now is None else now
    orphans = (_read(path, moment) for path in _parts(Path(folder)))
    idle = [orphan for orphan in orphans if orphan is not None and orphan.idle_seconds >= idle_seconds]
    return sorted(idle, key=lambda orphan: orphan.idle_seconds, reverse=True)


def remove_orphans(
    folder: str | Path,
    *,
    idle_seconds: float,
    is_active: Callable[[Orphan], bool],
    now: float | None = None,
) -> list[Orphan]:
    """Remove idle parts and return them.

    A slow download looks idle too: `is_active` is asked about each, and what it says yes to stays.
    """
    removed = [orphan for orphan in orphans(folder, idle_seconds=idle_seconds, now=now) if not is_active(orphan)]
    for orphan in removed:
        forget(orphan.path)
    return removed


def _parts(folder: Path) -> Iterator[Path]:
    """Each part once, also where only its record is left."""
    names = {path.with_suffix(".part") for kind in ("part", "json") for path in (folder / PARTS).glob(f"*.{kind}")}
    yield from sorted(names)


def _read(part: Path, now: float) -> Orphan | None:
    """A part as it stands; None where its job took it away between two looks."""
    body, head = _stat(part), _stat(record_path(part))
    written = [status.st_mtime for status in (body, head) if status is not None]
    if not written:
        return None
    record = Record.read(record_path(part))
    return Orphan(
        path=part,
        job_id=record.job_id if record else "",
        fence=fence_of(part) or 0,
        url=record.url if record else "",
        bytes=body.st_size if body else 0,
        idle_seconds=now - max(written),
    )


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None
