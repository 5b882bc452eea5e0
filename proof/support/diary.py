"""A diary outside the database: what was meant and what was done, in the order in which it was written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: who wrote it, what happened, to which job, under which fence, and whatever else was said."""

    event: str
    pid: int
    job: str | None
    fence: int | None
    more: dict[str, Any]


class Diary:
    """A file that many processes append to. A line is one write, so no death can tear it or mix two of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, event: str, job: str | None = None, fence: int | None = None, **more: Any) -> None:
        """Add a line; when this returns it will survive the death of this process."""
        line = json.dumps({"event": event, "pid": os.getpid(), "job": job, "fence": fence, **more})
        os.write(self._file, line.encode() + b"\n")

    def read(self) -> list[Entry]:
        """Everything written so far, in order."""
        return list(self._entries())

    def of(self, event: str) -> list[Entry]:
        """The lines of one kind."""
        return [entry for entry in self._entries() if entry.event == event]

    def _entries(self) -> Iterator[Entry]:
        whole, _, _ = self.path.read_text("utf-8").rpartition("\n")  # the last line may be seen while it is written
        for line in whole.splitlines():
            values = json.loads(line)
            event, pid, job, fence = (values.pop(name) for name in ("event", "pid", "job", "fence"))
            yield Entry(event, pid, job, fence, values)

    def close(self) -> None:
        """Let the file go."""
        os.close(self._file)
