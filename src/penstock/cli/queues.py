"""`penstock queue`: what waits and runs, pause and resume."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from penstock.cli.output import Table
from penstock.cli.times import iso
from penstock.cli.verbs import Noun
from penstock.engine.task import check_name

if TYPE_CHECKING:
    from penstock.cli.site import Site

HEADERS = ("queue", "due", "parked", "running", "oldest due", "workers", "paused")

command = Noun("queue", help="Queues: what waits, pause, resume.")


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
