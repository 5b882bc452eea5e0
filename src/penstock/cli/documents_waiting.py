"""Waiting for documents, with a bar for each file that is fetched and one for all of them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from penstock.cli.output import LINE_EVERY_SECONDS
from penstock.errors import ResultTimeout

if TYPE_CHECKING:
    from rich.console import Console

    from penstock.apps.documents import Documents
    from penstock.cli.output import Out

LOOK_EVERY_SECONDS = 0.25
MOST_BARS = 16


@dataclass(frozen=True, slots=True)
class Fetching:
    """A file on its way."""

    key: str
    name: str
    done: float
    of: float


class Bars(Protocol):
    """Shows how far it is."""

    def show(self, done: int, fetching: list[Fetching]) -> None:
        """So many have ended, and these are on their way."""


def wait_for(out: Out, documents: Documents, tenant: str, keys: list[str], timeout: float | None) -> None:
    """Wait until documents have ended. They go on where the time is not enough."""
    until = None if timeout is None else time.monotonic() + timeout
    with _bars(out, len(keys)) as bars:
        while left := documents.artifacts.under_way(tenant, keys):
            bars.show(len(keys) - len(left), _fetching(documents, tenant, left))
            wait = LOOK_EVERY_SECONDS if until is None else min(LOOK_EVERY_SECONDS, until - time.monotonic())
            if wait <= 0:
                job_id, state = next(iter(left.values()))
                raise ResultTimeout(job_id, state, timeout or 0)
            time.sleep(wait)
        bars.show(len(keys), [])


def _fetching(documents: Documents, tenant: str, left: dict[str, tuple[str, str]]) -> list[Fetching]:
    """Those that a worker is at, as far as they say how far they are."""
    begun = [(key, job_id) for key, (job_id, state) in left.items() if state != "PLANNED"][:MOST_BARS]
    found = []
    for key, job_id in begun:
        job = documents.app.store.listing.find(job_id, tenant)
        if job is not None and job.progress:
            said = json.loads(job.progress)
            found.append(Fetching(key, said["note"], said["done"], said["of"]))
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

        def show(self, done: int, fetching: list[Fetching]) -> None:
            if time.monotonic() - self.told >= LINE_EVERY_SECONDS:
                self.told = time.monotonic()
                out.note(f"documents: {done} of {total}, {len(fetching)} on their way")

    yield Lines()


@contextmanager
def drawn(console: Console, total: int) -> Iterator[Bars]:
    """A bar for all, and below it one for each file on its way."""
    from rich.progress import Progress, TaskID  # noqa: PLC0415 - only where something is drawn

    with Progress(console=console, transient=True) as drawing:
        whole = drawing.add_task("documents", total=total)
        bars: dict[str, TaskID] = {}

        class Drawn:
            def show(self, done: int, fetching: list[Fetching]) -> None:
                drawing.update(whole, completed=done)
                for gone in bars.keys() - {one.key for one in fetching}:
                    drawing.remove_task(bars.pop(gone))
                for one in fetching:
                    if one.key not in bars:
                        bars[one.key] = drawing.add_task(one.name[:40])
                    drawing.update(bars[one.key], completed=one.done, total=one.of)

        yield Drawn()
