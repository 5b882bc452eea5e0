"""`haulwright top`: watch queues, workers, throughput and failures."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from haulwright.cli.kit.params import DURATION
from haulwright.cli.kit.verbs import Verb
from haulwright.errors import DatabaseProblem, InvalidValue
from haulwright.operations.views.overview import frame_view

if TYPE_CHECKING:
    from haulwright.cli.kit.output import Table
    from haulwright.cli.kit.site import Site
    from haulwright.operations.overview import Frame, FrameWatch

SHORTEST_SECONDS = 0.1
DUMB_TERMINALS = ("dumb", "unknown")
"""Terminals that cannot draw a frame in place of another."""
COST = 4
"""A view waits at least so many times as long as its look took: watching must not be what keeps a database busy."""


@click.command("top", cls=Verb)
@click.option("--interval", type=DURATION, default="2 s", show_default=True, metavar="TIME", help="Between two looks.")
@click.option("--once", is_flag=True, help="One look, then end.")
@click.option("--queue", help="Only this queue, its workers and its failures.")
@click.pass_obj
def command(site: Site, *, interval: float, once: bool, queue: str | None) -> None:
    """Watch queues, workers, throughput and the last failures, from the database alone. q or Ctrl-C ends it.

    Where stdout is no terminal, or a dumb one, each look is printed below the one before; with --json each is an object
    on a line of its own, and with --once --json the one look is a document. The first look tells the throughput of the
    last ten seconds, the others that since the look before; failures are jobs that died, and below, runs that failed.
    """
    if interval < SHORTEST_SECONDS:
        raise InvalidValue("--interval", interval, f"is below {SHORTEST_SECONDS:g} seconds")
    with suppress(KeyboardInterrupt), site.operations(open_database=False).overview.watch(queue) as watch:
        if once:
            frame = watch.look()
            site.out.show(frame_view(frame), *_parts(site, frame))
        elif sys.stdout.isatty() and os.environ.get("TERM") not in DUMB_TERMINALS and not site.out.as_json:
            _live(site, watch, interval)
        else:
            _lines(site, watch, interval)


def _lines(site: Site, watch: FrameWatch, interval: float) -> None:
    """Frame below frame, for logs and programs."""
    while True:
        began = time.monotonic()
        frame = watch.look()
        if site.out.as_json:
            site.out.line(frame_view(frame), "")
        else:
            site.out.show(None, *_parts(site, frame), "")
        sys.stdout.flush()
        time.sleep(_wait(interval, began))


def _live(site: Site, watch: FrameWatch, interval: float) -> None:
    """Frame in place of frame. A database that is away for a while is waited for."""
    from haulwright.cli.top_live import screen  # noqa: PLC0415 - only where something is drawn

    with screen(site.out) as (display, sleep):
        quit_pressed = False
        while not quit_pressed:
            began = time.monotonic()
            try:
                display.show(watch.look())
            except DatabaseProblem as trouble:
                display.trouble(f"{trouble.message} Trying again.")
            quit_pressed = sleep(_wait(interval, began))


def _wait(interval: float, began: float) -> float:
    return max(interval, COST * (time.monotonic() - began))


def _parts(site: Site, frame: Frame) -> list[Table | str]:
    from haulwright.cli.top_tables import frame_tables, headline  # noqa: PLC0415 - JSON needs none

    parts: list[Table | str] = [headline(frame)]
    for table in frame_tables(frame, site.out):
        parts += ["", table if table.rows else table.empty]
    return [*parts, "", "There are more queues: haulwright queue list"] if frame.more_queues else parts
