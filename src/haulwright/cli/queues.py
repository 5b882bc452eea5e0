"""`haulwright queue`: what waits and runs, pause, resume, drain."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from haulwright.cli.kit.exits import Exit
from haulwright.cli.kit.options import page_options, tell_pause
from haulwright.cli.kit.output import LINE_EVERY_SECONDS
from haulwright.cli.kit.params import DURATION
from haulwright.cli.kit.verbs import NounGroup
from haulwright.operations.views.queues import QUEUE_COLUMNS, drain_view, drain_words, queues_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from haulwright.cli.kit.site import Site
    from haulwright.operations import Operations
    from haulwright.operations.queues import DrainProgress, DrainScope

command = NounGroup("queue", help="Queues: what waits, pause, resume, drain.", makes_database=())


@command.command("list")
@click.option("--tenant", help="Count only jobs of this tenant.")
@page_options(metavar="NAME")
@click.pass_obj
def list_(site: Site, tenant: str | None, limit: int, after: str | None) -> None:
    """List the queues: jobs that are due, parked for later and running, and the live workers that serve them."""
    page = site.operations().queues.page(tenant=tenant, after=after, limit=limit)
    site.show_page(queues_view(page), QUEUE_COLUMNS, page.rows, page.next, empty="No queue has jobs that wait or run.")


@command.command("pause")
@click.argument("name")
@click.option("--reason", default="", help="Why; it is recorded and shown.")
@click.pass_obj
def pause(site: Site, name: str, reason: str) -> None:
    """Stop claims from a queue. What runs goes on; what waits keeps its place and its deadline."""
    changed = site.operations(site.principal(reason)).queues.pause(name)
    tell_pause(site, "queue", name, paused=True, changed=changed)


@command.command("resume")
@click.argument("name")
@click.pass_obj
def resume(site: Site, name: str) -> None:
    """Let claims go on, at once. Deadlines of what waited are later by the length of the pause."""
    tell_pause(site, "queue", name, paused=False, changed=site.operations().queues.resume(name))


@command.command("drain")
@click.argument("name")
@click.option("--timeout", type=DURATION, metavar="TIME", help="Wait no longer than this.")
@click.option("--include-scheduled", is_flag=True, help="Wait for what is parked for later as well.")
@click.option("--pause", "pause_first", is_flag=True, help="Pause the queue, and wait only for what runs.")
@click.pass_obj
def drain(site: Site, name: str, *, timeout: float | None, include_scheduled: bool, pause_first: bool) -> None:
    """Wait until nothing of a queue is due or running. Workers go on as before; nobody is kept from enqueuing.

    Jobs that are parked for later are counted and not waited for, unless that is asked for. With --pause the queue is
    paused first and stays so: what runs ends, what waits keeps its place until `queue resume`.
    """
    if pause_first and include_scheduled:
        raise click.UsageError("--pause waits only for what runs: --include-scheduled does not go with it.")
    operations = site.operations(site.principal("drain"))
    if pause_first:
        operations.queues.pause(name)
    elif not site.out.as_json:
        _warn(site, operations, name)
    began = time.monotonic()
    scope: DrainScope = "running" if pause_first else "everything" if include_scheduled else "due"
    last = _watch(site, name, operations.queues.drain(name, scope, timeout=timeout))
    sentence = f"{name}: {drain_words(last)}" if last.left else f"The queue {name} is drained."
    site.out.show(drain_view(name, last, time.monotonic() - began), sentence)
    if last.left:
        click.get_current_context().exit(Exit.STILL_RUNNING)


def _watch(site: Site, name: str, looks: Iterator[DrainProgress]) -> DrainProgress:
    """Tell now and then how far a drain is, until its last look."""
    from haulwright.cli.kit.status_line import ON_TERMINAL_SECONDS, StatusLine  # noqa: PLC0415 - only where one waits

    line, on_terminal = StatusLine(), sys.stderr.isatty()
    every = ON_TERMINAL_SECONDS if on_terminal else LINE_EVERY_SECONDS
    next_line = time.monotonic() + (0 if on_terminal else every)
    for progress in looks:
        if progress.is_last:
            break
        if time.monotonic() >= next_line:
            next_line = time.monotonic() + every
            (line.draw if on_terminal else site.out.note)(f"{name}: {drain_words(progress)}")
    line.end()
    return progress


def _warn(site: Site, operations: Operations, name: str) -> None:
    """Say what would make the wait long."""
    queue = operations.queues.get(name)
    if queue.paused_at is not None:
        site.out.note(f"The queue {name} is paused: what is due waits until somebody resumes it.")
        site.out.next_step(f"haulwright queue resume {name}")
    elif not queue.workers:
        site.out.note(f"No live worker serves the queue {name}.")
        site.out.next_step(f"haulwright worker --queues {name}")
