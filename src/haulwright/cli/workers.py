"""`haulwright workers`: who works here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from haulwright.cli.kit.options import page_options
from haulwright.cli.kit.verbs import Verb
from haulwright.operations.views.workers import WORKER_COLUMNS, workers_view

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site


@click.command("workers", cls=Verb)
@click.option("--all", "everyone", is_flag=True, help="Also those that stopped or were not seen lately.")
@page_options(metavar="ID")
@click.pass_obj
def command(site: Site, *, everyone: bool, limit: int, after: str | None) -> None:
    """List the workers that were seen in the last two minutes, the last started first."""
    page = site.operations().workers.page(everyone=everyone, after=after, limit=limit)
    site.show_page(workers_view(page), WORKER_COLUMNS, page.rows, page.next, empty="No live workers.")
