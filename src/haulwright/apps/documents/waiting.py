"""Waiting for documents, with a bar for each file that is fetched and one for all of them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from haulwright.cli.kit.output import LINE_EVERY_SECONDS
from haulwright.client.waiting import looks
from haulwright.errors import ResultTimeout
from haulwright.visible import visible_line

if TYPE_CHECKING:
    from rich.console import Console

    from haulwright import Principal
    from haulwright.apps.documents import Documents
    from haulwright.cli.kit.output import Out

LOOK_EVERY_SECONDS = 0.25
MOST_BARS = 16


@dataclass(frozen=True, slots=True)
class FileInFlight:
    """A file on its way."""

    key: str
    name: str
    done: float
    of: float


class Bars(Protocol):
    """Shows how far it is."""

    def show(self, done: int, fetching: list[FileInFlight]) -> None:
        """So many have ended, and these are on their way."""


def wait_for(out: Out, documents: Documents, principal: Principal, keys: list[str], timeout: float | None) -> None:
    """Wait until documents have ended. They go on where the time is not enough."""
    under_way = partial(documents.list_under_way, principal, keys)
    with _bars(out, len(keys)) as bars:
        for pending, is_last in looks(under_way, timeout, every=LOOK_EVERY_SECONDS):
            bars.show(len(keys) - len(pending), _fetching(documents, principal.acting_tenant, pending))
            if not pending:
                return
            if is_last:
                job_id, state = next(iter(pending.values()))
                raise ResultTimeout(job_id, state, timeout or 0)


def _fetching(documents: Documents, tenant: str, pending: dict[str, tuple[str, str]]) -> list[FileInFlight]:
    """Those that a worker is at, as far as they say how far they are."""
    running = [(key, job_id) for key, (job_id, state) in pending.items() if state != "PLANNED"][:MOST_BARS]
    files = []
    for key, job_id in running:
        job = documents.app.store.listing.find(job_id, tenant)
        if job is not None and job.progress:
            progress = json.loads(job.progress)
            files.append(FileInFlight(key, progress["note"], progress["done"], progress["of"]))
    return files


def _bars(out: Out, total: int) -> AbstractContextManager[Bars]:
    if out.as_json or not sys.stderr.isatty():
        return _lines(out, total)
    from rich.console import Console  # noqa: PLC0415 - only where something is drawn

    return draw_bars(Console(stderr=True), total)


@contextmanager
def _lines(out: Out, total: int) -> Iterator[Bars]:
    """A line now and then, where no bar can be drawn."""

    class ProgressLines:
        last_line_at = time.monotonic()

        def show(self, done: int, fetching: list[FileInFlight]) -> None:
            if time.monotonic() - self.last_line_at >= LINE_EVERY_SECONDS:
                self.last_line_at = time.monotonic()
                out.note(f"documents: {done} of {total}, {len(fetching)} on their way")

    yield ProgressLines()


@contextmanager
def draw_bars(console: Console, total: int) -> Iterator[Bars]:
    """A bar for all, and below it one for each file on its way."""
    from rich.markup import escape  # noqa: PLC0415 - only where something is drawn
    from rich.progress import Progress, TaskID  # noqa: PLC0415 - as above

    with Progress(console=console, transient=True) as drawing:
        whole = drawing.add_task("documents", total=total)
        bars: dict[str, TaskID] = {}

        class ProgressBars:
            def show(self, done: int, fetching: list[FileInFlight]) -> None:
                drawing.update(whole, completed=done)
                for key in bars.keys() - {file.key for file in fetching}:
                    drawing.remove_task(bars.pop(key))
                for file in fetching:
                    if file.key not in bars:
                        bars[file.key] = drawing.add_task(escape(visible_line(file.name[:40])))
                    drawing.update(bars[file.key], completed=file.done, total=file.of)

        yield ProgressBars()
