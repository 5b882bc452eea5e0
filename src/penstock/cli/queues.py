"""`penstock queue`: what waits and runs, pause and resume."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

import click

from penstock.cli.exits import Exit
from penstock.cli.output import LINE_EVERY_SECONDS, Table
from penstock.cli.params import DURATION
from penstock.cli.times import iso
from penstock.cli.verbs import Noun
from penstock.clock import SECOND
from penstock.engine.task import check_name
from penstock.engine.words import spell

if TYPE_CHECKING:
    from penstock.cli.site import Site
    from penstock.cli.top_pace import Standing

HEADERS = ("queue", "due", "parked", "running", "oldest due", "workers", "paused")

LOOK_SECONDS = 0.5

command = Noun("queue", help="Queues: what waits, pause, resume, drain.")


@command.command("list")
@click.option("--tenant", help="Count only jobs of this tenant.")
@click.pass_obj
def list_(site: Site, tenant: str | None) -> None:
    """List the queues: jobs that are due, parked for later and running, and the live workers that serve them."""
    store, out = site.store, site.out
    counts, now = store.queues.counts(tenant), store.now()
    serving = Counter(queue for worker in store.workers.list() for queue in worker.queues)
    document = []
    rows = []
    for one in counts:
        _, by, reason = store.queues.paused(one.name) or (None, None, None)
        document.append(
            {
                "name": one.name,
                "due": one.due,
                "parked": one.parked,
                "running": one.running,
                "oldest_due_at": iso(one.oldest),
                "workers": serving[one.name],
                "paused_at": iso(one.paused_at),
                "paused_by": by,
                "reason": reason,
            }
        )
        paused = f"{out.when(one.paused_at, now)} by {by}: {reason}" if one.paused_at else ""
        oldest = out.when(one.oldest, now)
        rows.append((one.name, one.due, one.parked, one.running, oldest, serving[one.name], paused))
    out.show({"queues": document}, Table(HEADERS, rows, "No queue has waiting or running jobs."))


@command.command("pause")
@click.argument("name")
@click.option("--reason", default="", help="Why; it is recorded and shown.")
@click.pass_obj
def pause(site: Site, name: str, reason: str) -> None:
    """Stop claims from a queue. What runs goes on; what waits keeps its place and its deadline."""
    changed = site.store.queues.pause(check_name("queue", name), actor=site.principal().actor, reason=reason)
    told = "is paused" if changed else "was paused already"
    site.out.show({"name": name, "paused": True, "changed": changed}, f"The queue {name} {told}.")


@command.command("resume")
@click.argument("name")
@click.pass_obj
def resume(site: Site, name: str) -> None:
    """Let claims go on. Deadlines of what waited move by the length of the pause."""
    changed = site.store.queues.resume(check_name("queue", name), actor=site.principal().actor)
    told = "goes on" if changed else "was not paused"
    site.out.show({"name": name, "paused": False, "changed": changed}, f"The queue {name} {told}.")


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
    check_name("queue", name)
    if pause_first:
        site.store.queues.pause(name, actor=site.principal().actor, reason="drain")
    elif not site.out.as_json:
        _warn(site, name)
    began = time.monotonic()
    what = "running" if pause_first else "everything" if include_scheduled else "due"
    standing = _wait(site, name, what, None if timeout is None else began + timeout)
    rest = _rest(standing, what)
    document = {
        "name": name,
        "drained": not rest,
        "due": standing.due,
        "running": standing.running,
        "parked": standing.parked,
        "seconds": round(time.monotonic() - began, 3),
    }
    site.out.show(
        document, f"{name}: {_in_words(standing, site.store.now())}" if rest else f"The queue {name} is drained."
    )
    if rest:
        click.get_current_context().exit(Exit.STILL_RUNNING)


def _wait(site: Site, name: str, what: str, until: float | None) -> Standing:
    """Look until nothing of what is waited for is left, or the time is up, and tell now and then how far it is."""
    from penstock.cli.top_line import ON_TERMINAL_SECONDS, StatusLine  # noqa: PLC0415 - only where one waits
    from penstock.cli.top_pace import Tally  # noqa: PLC0415 - as above

    line, tally = StatusLine(), Tally(site.store, {name})
    on_terminal = sys.stderr.isatty()
    every = ON_TERMINAL_SECONDS if on_terminal else LINE_EVERY_SECONDS
    next_line = time.monotonic() if on_terminal else time.monotonic() + every
    while True:
        now = time.monotonic()
        is_over = until is not None and now >= until
        standing = tally.look(at_last=is_over)
        if is_over or (standing.counted and not _rest(standing, what)):
            line.end()
            return standing
        if now >= next_line:
            next_line = now + every
            told = f"{name}: {_in_words(standing, site.store.now())}"
            (line.draw if on_terminal else site.out.note)(told)
        time.sleep(LOOK_SECONDS if until is None else max(0.0, min(LOOK_SECONDS, until - now)))


def _rest(standing: Standing, what: str) -> int:
    """How many jobs are still waited for."""
    return {
        "running": standing.running,
        "due": standing.left,
        "everything": standing.left + standing.parked,
    }[what]


def _in_words(standing: Standing, now: int) -> str:
    parts = [f"{standing.left} left ({standing.running} running)", f"{standing.rate:.1f}/s"]
    if standing.oldest is not None:
        parts.append(f"the oldest waits for {spell(max(0, now - standing.oldest) // SECOND)}")
    if standing.parked:
        parts.append(f"{standing.parked} for later")
    return ", ".join(parts)


def _warn(site: Site, name: str) -> None:
    """Say what would make the wait long."""
    if site.store.queues.paused(name) is not None:
        site.out.note(f"The queue {name} is paused: what is due waits until somebody resumes it.")
        site.out.next_step(f"penstock queue resume {name}")
    elif not any(name in worker.queues for worker in site.store.workers.list()):
        site.out.note(f"No live worker serves the queue {name}.")
        site.out.next_step(f"penstock worker --queues {name}")
