"""`penstock event`: what happened, listed and followed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from penstock.cli import shapes
from penstock.cli.output import Table
from penstock.cli.params import DURATION, JOB_ID
from penstock.cli.times import utc_seconds
from penstock.cli.verbs import Noun
from penstock.errors import InvalidValue
from penstock.events import FIELDS

if TYPE_CHECKING:
    from penstock.cli.site import Site
    from penstock.events import Event

HEADERS = ("when", "event", "tenant", "job", "by", "what")
LIMIT = 1000
LOOK_EVERY_SECONDS = 0.5

command = Noun("event", help="What happened, in the order of commits.")


@command.command("list")
@click.option("--name", type=click.Choice([*FIELDS]), metavar="EVENT", help="Only events of this name.")
@click.option("--tenant", help="Only events of this tenant.")
@click.option(
    "--job", "job_id", type=JOB_ID, metavar="ID", help="The whole timeline of one job, from its first moment."
)
@click.option("--limit", default=50, show_default=True, help=f"The newest so many, up to {LIMIT}.")
@click.pass_obj
def list_(site: Site, name: str | None, tenant: str | None, job_id: str | None, limit: int) -> None:
    """List the newest events, the oldest of them first.

    A job that succeeds in its first attempt writes no events: its three are read from its row, with --job.
    """
    if not 1 <= limit <= LIMIT:
        raise InvalidValue("--limit", limit, f"is not between 1 and {LIMIT}")
    if job_id is None:
        found = site.store.events.latest(tenant=tenant, name=name, limit=limit)
    else:
        found = [e for e in site.desk().timeline(job_id) if name in {None, e.name} and tenant in {None, e.tenant}][
            -limit:
        ]
    now = site.store.now()
    rows = [(site.out.when(e.at, now), e.name, e.tenant, e.job_id or "", _by(e), _what(e)) for e in found]
    site.out.show(
        {"events": [shapes.event(e) for e in found]}, Table(HEADERS, rows, "No events.", spare=("by", "tenant", "job"))
    )


@command.command("tail")
@click.option("--name", type=click.Choice([*FIELDS]), metavar="EVENT", help="Only events of this name.")
@click.option("--tenant", help="Only events of this tenant.")
@click.option("--last", default=10, show_default=True, help="Begin with the newest so many.")
@click.option("--for", "length", type=DURATION, metavar="TIME", help="Stop after this time, instead of at Ctrl-C.")
@click.pass_obj
def tail(site: Site, name: str | None, tenant: str | None, last: int, length: float | None) -> None:
    """Follow the events as they are committed; with --json one object a line."""
    if not 0 <= last <= LIMIT:
        raise InvalidValue("--last", last, f"is not between 0 and {LIMIT}")
    record = site.store.events
    newest = record.latest(limit=1)
    after = newest[-1].seq or 0 if newest else 0
    for event in record.latest(tenant=tenant, name=name, limit=last) if last else []:
        _tell(site, event)
    until = None if length is None else time.monotonic() + length
    while until is None or time.monotonic() < until:
        found = record.since(after, tenant=tenant, name=name, limit=LIMIT)
        for event in found:
            _tell(site, event)
        after = found[-1].seq or after if found else after
        if len(found) < LIMIT:
            time.sleep(LOOK_EVERY_SECONDS)


def _tell(site: Site, event: Event) -> None:
    job = f" job={event.job_id}" if event.job_id else ""
    text = f"{utc_seconds(event.at or 0)} {event.name} tenant={event.tenant}{job} by={_by(event) or '-'} {_what(event)}"
    site.out.line(shapes.event(event), text.rstrip())


def _by(event: Event) -> str:
    return event.actor or event.worker or ""


def _what(event: Event) -> str:
    told = {name: value for name, value in event.data.items() if name != "job_id" and value is not None}
    return " ".join(f"{name}={value}" for name, value in told.items())
