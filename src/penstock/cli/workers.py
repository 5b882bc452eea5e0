"""`penstock workers`: who works here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from penstock.cli import shapes
from penstock.cli.output import Table
from penstock.cli.verbs import Verb

if TYPE_CHECKING:
    from penstock.cli.site import Site

HEADERS = ("name", "host", "pid", "version", "queues", "started", "seen", "refused writes", "stopped")


@click.command("workers", cls=Verb)
@click.option("--all", "everyone", is_flag=True, help="Also those that stopped or were not seen lately.")
@click.pass_obj
def command(site: Site, *, everyone: bool) -> None:
    """List the workers that were seen in the last two minutes."""
    found, now, when = site.store.workers.list(everyone=everyone), site.store.now(), site.out.when
    rows = [
        (w.name, w.host, w.pid, w.version, ",".join(w.queues), when(w.started_at, now), when(w.seen_at, now), w.refused,
         when(w.stopped_at, now))
        for w in found
    ]  # fmt: skip
    site.out.show({"workers": [shapes.worker(w) for w in found]}, Table(HEADERS, rows, "No live workers."))
