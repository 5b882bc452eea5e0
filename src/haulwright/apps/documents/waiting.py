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

    from haulwright.apps.documents import Documents
    from haulwright.cli.kit.output import Out
    from haulwright.operations.principal import Principal

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
        for left, is_last in looks(under_way, timeout, every=LOOK_EVERY_SECONDS):
            bars.show(len(keys) - len(left), _fetching(documents, principal.acting_tenant, left))
            if not left:
                return
            if is_last:
                job_id, state = next(iter(left.values()))
                raise ResultTimeout(job_id, state, timeout or 0)


def _fetching(documents: Documents, tenant: str, left: dict[str, tuple[str, str]]) -> list[FileInFlight]:
    """Those that a worker is at, as far as they say how far they are."""
    begun = [(key, job_id) for key, (job_id, state) in left.items() if state != "PLANNED"][:MOST_BARS]
    found = []
    for key, job_id in begun:
        job = documents.app.store.listing.find(job_id, tenant)
        if job is not None and job.progress:
            said = json.loads(job.progress)
            found.append(FileInFlight(key, said["note"], said["done"], said["of"]))
    return found


def _bars(out: Out, total: int) -> AbstractContextManager[Bars]:
    if out.as_json or not sys.stderr.isatty():
        return _lines(out, total)
    from rich.console import Console  # noqa: PLC0415 - only where something is drawn

    return drawn(Console(stderr=True), total)


@contextmanager
def _lines(out: Out, total: int) -> Iterator[Bars]:
    """A line now and then, where no bar can be drawn."""

    class Lines:
        told = time.monotonic()

        def show(self, done: int, fetching: list[FileInFlight]) -> None:
            if time.monotonic() - self.told >= LINE_EVERY_SECONDS:
                self.told = time.monotonic()
                out.note(f"documents: {done} of {total}, {len(fetching)} on their way")

    yield Lines()


@contextmanager
def drawn(console: Console, total: int) -> Iterator[Bars]:
    """A bar for all, and below it one for each file on its way."""
    from rich.markup import escape  # noqa: PLC0415 - only where something is drawn
    from rich.progress import Progress, TaskID  # noqa: PLC0415 - as above

    with Progress(console=console, transient=True) as drawing:
        whole = drawing.add_task("documents", total=total)
        bars: dict[str, TaskID] = {}

        class Drawn:
            def show(self, done: int, fetching: list[FileInFlight]) -> None:
                drawing.update(whole, completed=done)
                for gone in bars.keys() - {one.key for one in fetching}:
                    drawing.remove_task(bars.pop(gone))
                for one in fetching:
                    if one.key not in bars:
                        bars[one.key] = drawing.add_task(escape(visible_line(one.name[:40])))
                    drawing.update(bars[one.key], completed=one.done, total=one.of)

        yield Drawn()
