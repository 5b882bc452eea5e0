"""`haulwright schedule`: schedules and their slots."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from haulwright.cli.kit.options import page_options, tell_pause
from haulwright.cli.kit.output import Fields
from haulwright.cli.kit.params import INSTANT
from haulwright.cli.kit.verbs import NounGroup
from haulwright.operations.views.schedules import (
    SCHEDULE_COLUMNS,
    SLOT_COLUMNS,
    UPCOMING_COLUMNS,
    backfill_preview_view,
    backfill_view,
    schedule_view,
    schedule_with_slots_view,
    schedules_view,
    triggered_view,
    upcoming_slots_view,
)

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site

BACKFILL_LIMIT = 10_000

command = NounGroup("schedule", help="Schedules and their slots.", makes_database=())


@command.command("list")
@click.option("--tenant", help="Only those of this tenant.")
@page_options(metavar="NAME")
@click.pass_obj
def list_(site: Site, tenant: str | None, limit: int, after: str | None) -> None:
    """List the schedules that the database knows, and those of the app that no worker has declared yet."""
    page = site.operations().schedules.page(tenant=tenant, after=after, limit=limit)
    site.show_page(schedules_view(page), SCHEDULE_COLUMNS, page.rows, page.next, empty="No schedules.")


@command.command("show")
@click.argument("name")
@page_options(default=20, metavar="TIME")
@click.pass_obj
def show(site: Site, name: str, limit: int, after: str | None) -> None:
    """Show one schedule and what became of its slots, the newest first."""
    operations = site.operations()
    schedule, slots = operations.schedules.get(name), operations.schedules.slots(name, after=after, limit=limit)
    table = site.out.table(SLOT_COLUMNS, slots.rows, now=operations.now(), empty="No slots yet.")
    fields = Fields(list(schedule_view(schedule).items()))
    site.out.show(schedule_with_slots_view(schedule, slots), fields, "", table)
    site.out.more(slots.next)


@command.command("next")
@click.argument("name", required=False)
@click.option("-n", "--count", default=5, show_default=True, help="So many slots of each.")
@click.pass_obj
def next_(site: Site, name: str | None, count: int) -> None:
    """Print the next slots of one schedule or of all, in its own zone and in UTC. Nothing is opened."""
    operations = site.operations()
    document = upcoming_slots_view(operations.schedules.upcoming(name, count=count))
    table = site.out.table(UPCOMING_COLUMNS, document["slots"], now=operations.now(), empty="No schedules.")
    site.out.show(document, table)


@command.command("trigger")
@click.argument("name")
@click.option("--scheduled-for", type=INSTANT, required=True, metavar="TIME", help="The slot to claim, with its zone.")
@click.pass_obj
def trigger(site: Site, name: str, scheduled_for: int) -> None:
    """Open one slot by hand, by the same rules as the clock does, also one that was missed or skipped.

    A taken slot is refused, naming its job, and so is one in the future.
    """
    job_id = site.operations().schedules.trigger(name, scheduled_for)
    site.out.show(triggered_view(name, scheduled_for, job_id), job_id)


@command.command("backfill")
@click.argument("name")
@click.option("--from", "first", type=INSTANT, required=True, metavar="TIME", help="The first moment, with its zone.")
@click.option("--to", "last", type=INSTANT, required=True, metavar="TIME", help="The last moment, not in the future.")
@click.option("--limit", default=BACKFILL_LIMIT, show_default=True, help="Refuse a range with more slots.")
@click.option("--dry-run", is_flag=True, help="Say which slots the range has, and change nothing.")
@click.pass_obj
def backfill(site: Site, /, name: str, *, first: int, last: int, limit: int, dry_run: bool) -> None:  # noqa: PLR0913
    """Open the slots of a past range that made no job, each with its job. Taken ones are left alone."""
    from haulwright.operations.schedules import BATCH  # noqa: PLC0415 - most of a short command's time are imports

    operations = site.operations()
    slots = operations.schedules.backfill_preview(name, first, last, limit=limit)
    if dry_run:
        preview = backfill_preview_view(slots)
        sentence = f"{len(slots)} slots; those that made no job would be opened. Nothing was changed."
        site.out.show(preview, *preview["slots"], sentence)
        return
    batches = operations.schedules.backfill(name, first, last, limit=limit)
    new_slots = [
        slot for batch in site.out.progress(batches, "backfill", math.ceil(len(slots) / BATCH)) for slot in batch
    ]
    empty = "Nothing to open: every slot of the range is taken."
    table = site.out.table(SLOT_COLUMNS, new_slots, now=operations.now(), empty=empty)
    site.out.show(backfill_view(new_slots), table)


@command.command("pause")
@click.argument("name")
@click.pass_obj
def pause(site: Site, name: str) -> None:
    """Stop firing. Slots that come due are recorded as skipped."""
    tell_pause(site, "schedule", name, paused=True, changed=site.operations().schedules.pause(name))


@command.command("resume")
@click.argument("name")
@click.pass_obj
def resume(site: Site, name: str) -> None:
    """Fire again, from now on. The slots of the pause stay skipped."""
    tell_pause(site, "schedule", name, paused=False, changed=site.operations().schedules.resume(name))
