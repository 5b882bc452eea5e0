"""`haulwright event`: what happened, listed and followed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from haulwright.cli.kit.options import page_options
from haulwright.cli.kit.params import DURATION, EVENT_NAME, JOB_ID
from haulwright.cli.kit.times import utc_seconds
from haulwright.cli.kit.verbs import NounGroup
from haulwright.operations.views.events import EVENT_COLUMNS, event_author, event_view, event_words, events_view
from haulwright.stores.paging import PAGE_LIMIT

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site
    from haulwright.events import Event

LOOK_EVERY_SECONDS = 0.5

command = NounGroup("event", help="What happened, in the order of commits.", makes_database=())


@command.command("list")
@click.option("--name", type=EVENT_NAME, metavar="EVENT", help="Only events of this name.")
@click.option("--tenant", help="Only events of this tenant.")
@click.option("--job", "job_id", type=JOB_ID, metavar="ID", help="The timeline of one job, from its first moment.")
@page_options(default=50)
@click.pass_obj
def list_(  # noqa: PLR0913 - the options of the command, each with a name
    site: Site, /, name: str | None, tenant: str | None, job_id: str | None, *, limit: int, after: str | None
) -> None:
    """List the newest events, the oldest of them first; the next page is the one before them.

    A job that succeeds in its first attempt writes no events: its three are read from its row, with --job.
    """
    if job_id is None:
        page = site.operations().events.page(name=name, tenant=tenant, after=after, limit=limit)
    else:
        page = site.operations().jobs.timeline(job_id, name=name, tenant=tenant, after=after, limit=limit)
    site.show_page(events_view(page), EVENT_COLUMNS, page.rows, page.next, empty="No events.")


@command.command("tail")
@click.option("--name", type=EVENT_NAME, metavar="EVENT", help="Only events of this name.")
@click.option("--tenant", help="Only events of this tenant.")
@click.option("--last", default=10, show_default=True, help="Begin with the newest so many.")
@click.option("--after", metavar="SEQ", help="Begin after this event instead: none since then is missed.")
@click.option("--for", "length", type=DURATION, metavar="TIME", help="Stop after this time, instead of at Ctrl-C.")
@click.pass_obj
def tail(  # noqa: PLR0913 - the options of the command, each with a name
    site: Site, /, name: str | None, tenant: str | None, last: int, *, after: str | None, length: float | None
) -> None:
    """Follow the events as they are committed; with --json one object a line.

    Each comes once, and none is missed: one that is committed late is waited for, with those behind it.
    """
    events = site.operations().events
    until = None if length is None else time.monotonic() + length
    page = events.follow(name=name, tenant=tenant, last=last, after=after)
    while True:
        for event in page.rows:
            _print(site, event)
        if until is not None and time.monotonic() >= until:
            return
        if len(page.rows) < PAGE_LIMIT:
            time.sleep(LOOK_EVERY_SECONDS)
        page = events.follow(name=name, tenant=tenant, after=page.next)


def _print(site: Site, event: Event) -> None:
    job = f" job={event.job_id}" if event.job_id else ""
    by = event_author(event) or "-"
    text = f"{utc_seconds(event.at or 0)} {event.name} tenant={event.tenant}{job} by={by} {event_words(event)}"
    site.out.line(event_view(event), text.rstrip())
