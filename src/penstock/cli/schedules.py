"""`penstock schedule`: schedules and their slots."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import click

from penstock.cli import shapes
from penstock.cli.output import Fields, Table
from penstock.cli.params import INSTANT
from penstock.cli.times import iso, utc_seconds
from penstock.cli.verbs import Noun
from penstock.clock import SECOND
from penstock.engine.schedule import ScheduleSpec, next_slot, slots_between
from penstock.errors import InvalidValue, NotFound

if TYPE_CHECKING:
    from penstock.cli.site import Site
    from penstock.stores.schedule_rows import ScheduleRow
    from penstock.stores.slots import Slot

BATCH = 200
BACKFILL_LIMIT = 10_000
COUNT_LIMIT = 1000
SLOT_HEADERS = ("slot", "became", "job", "by")

command = Noun("schedule", help="Schedules and their slots.")


@command.command("list")
@click.option("--tenant", help="Only those of this tenant.")
@click.pass_obj
def list_(site: Site, tenant: str | None) -> None:
    """List the schedules that the database knows, and those of the app that no worker has declared yet."""
    found, now, when = _known(site, tenant), site.store.now(), site.out.when
    rows = [
        (spec.name, spec.cron, spec.tz, spec.task, spec.tenant, when(next_slot(spec, now), now), _status(row))
        for spec, row in found
    ]
    headers = ("schedule", "cron", "zone", "task", "tenant", "next", "status")
    site.out.show({"schedules": [shapes.schedule(*one) for one in found]}, Table(headers, rows, "No schedules."))


@command.command("show")
@click.argument("name")
@click.option("--limit", default=20, show_default=True, help="The newest so many slots.")
@click.pass_obj
def show(site: Site, name: str, limit: int) -> None:
    """Show one schedule and what became of its newest slots."""
    _check_count("--limit", limit)
    spec, row = _one(site, name)
    slots = site.store.schedules.slots(name, limit=limit)
    document = shapes.schedule(spec, row) | {"slots": [shapes.slot(slot) for slot in slots]}
    fields = [(key, value) for key, value in document.items() if key != "slots"]
    site.out.show(
        document, Fields(fields), "", Table(SLOT_HEADERS, [_slot_row(slot) for slot in slots], "No slots yet.")
    )


@command.command("next")
@click.argument("name", required=False)
@click.option("-n", "--count", default=5, show_default=True, help="So many slots of each.")
@click.pass_obj
def next_(site: Site, name: str | None, count: int) -> None:
    """Print the next slots of one schedule or of all, in its own zone and in UTC. Nothing is opened."""
    _check_count("--count", count)
    chosen = [_one(site, name)] if name else _known(site, None)
    now = site.store.now()
    found = [(slot, spec) for spec, _ in chosen for slot in _next_slots(spec, now, count)]
    found.sort(key=lambda one: (one[0], one[1].name))
    document = [{"schedule": spec.name, "local": _local(slot, spec), "utc": iso(slot)} for slot, spec in found]
    rows = [(spec.name, _local(slot, spec), utc_seconds(slot)) for slot, spec in found]
    site.out.show({"slots": document}, Table(("schedule", "local", "UTC"), rows, "No schedules."))


@command.command("trigger")
@click.argument("name")
@click.option(
    "--scheduled-for", type=INSTANT, metavar="TIME", help="The slot to claim, with its zone; now if not given."
)
@click.pass_obj
def trigger(site: Site, name: str, scheduled_for: int | None) -> None:
    """Open one slot by hand, by the same rules as the clock does. A taken slot is refused, naming its job."""
    _declare(site, name)
    job_id = site.store.schedules.trigger(name, scheduled_for, tenant=None, actor=site.principal().actor)
    site.out.show({"schedule": name, "scheduled_for": iso(scheduled_for), "job_id": job_id}, job_id)


@command.command("backfill")
@click.argument("name")
@click.option("--from", "first", type=INSTANT, required=True, metavar="TIME", help="The first moment, with its zone.")
@click.option("--to", "last", type=INSTANT, required=True, metavar="TIME", help="The last moment, not in the future.")
@click.option("--limit", default=BACKFILL_LIMIT, show_default=True, help="Refuse a range with more slots.")
@click.option("--dry-run", is_flag=True, help="Say which slots the range has, and change nothing.")
@click.pass_obj
def backfill(site: Site, /, name: str, *, first: int, last: int, limit: int, dry_run: bool) -> None:  # noqa: PLR0913
    """Open the slots of a past range that have no disposition yet, each with its job. Taken ones are left alone."""
    spec, _ = _one(site, name)
    _check_range(site, first, last)
    batches = list(_batches(spec, first, last, limit))
    if dry_run:
        slots = [iso(slot) for batch in batches for slot in batch]
        told = f"{len(slots)} slots; those without a disposition would be opened. Nothing was changed."
        site.out.show({"slots": slots}, *map(str, slots), told)
        return
    _declare(site, name)
    opened: list[Slot] = []
    for batch in site.out.progress(batches, "backfill", len(batches)):
        opened += site.store.schedules.backfill(name, batch[0], batch[-1], tenant=None, actor=site.principal().actor)
    rows = [_slot_row(slot) for slot in opened]
    table = Table(SLOT_HEADERS, rows, "Nothing to open: every slot of the range is taken.")
    site.out.show({"opened": [shapes.slot(slot) for slot in opened]}, table)


@command.command("pause")
@click.argument("name")
@click.pass_obj
def pause(site: Site, name: str) -> None:
    """Stop firing. Slots that come due are recorded as skipped."""
    _declare(site, name)
    changed = site.store.schedules.pause(name, tenant=None, actor=site.principal().actor)
    told = "is paused" if changed else "was paused already"
    site.out.show({"name": name, "paused": True, "changed": changed}, f"The schedule {name!r} {told}.")


@command.command("resume")
@click.argument("name")
@click.pass_obj
def resume(site: Site, name: str) -> None:
    """Fire again, from now on. The slots of the pause stay skipped."""
    _declare(site, name)
    changed = site.store.schedules.resume(name, tenant=None, actor=site.principal().actor)
    told = "goes on" if changed else "was not paused"
    site.out.show({"name": name, "paused": False, "changed": changed}, f"The schedule {name!r} {told}.")


def _known(site: Site, tenant: str | None) -> list[tuple[ScheduleSpec, ScheduleRow | None]]:
    """What the database knows, and what only the code says so far, by name."""
    known: dict[str, tuple[ScheduleSpec, ScheduleRow | None]] = {
        name: (spec, None) for name, (spec, _) in site.penstock.schedules.items() if tenant in {None, spec.tenant}
    }
    known |= {row.spec.name: (row.spec, row) for row in site.store.schedules.list(tenant)}
    return [known[name] for name in sorted(known)]


def _one(site: Site, name: str) -> tuple[ScheduleSpec, ScheduleRow | None]:
    for spec, row in _known(site, None):
        if spec.name == name:
            return spec, row
    raise NotFound("schedule", repr(name), hint="See them with: penstock schedule list")


def _declare(site: Site, name: str) -> None:
    """Make a schedule of the app known, as a worker would at its start."""
    if name in site.penstock.schedules:
        site.store.schedules.declare(*site.penstock.schedules[name])


def _next_slots(spec: ScheduleSpec, after: int, count: int) -> Iterator[int]:
    slot: int | None = after
    for _ in range(count):
        slot = next_slot(spec, slot) if slot is not None else None
        if slot is not None:
            yield slot


def _batches(spec: ScheduleSpec, first: int, last: int, limit: int) -> Iterator[list[int]]:
    """The slots of a range, a transaction's worth at a time; more than the limit is refused."""
    count, after = 0, first - 1
    while batch := slots_between(spec, after, last, BATCH):
        count += len(batch)
        if count > limit:
            why = f"has more than {limit} slots of schedule {spec.name!r}"
            raise InvalidValue("the range", f"{iso(first)} to {iso(last)}", why, hint="Narrow it, or raise --limit.")
        yield batch
        after = batch[-1]


def _check_range(site: Site, first: int, last: int) -> None:
    if first > last:
        raise InvalidValue("--from", iso(first), f"is after --to, {iso(last)}")
    if last > site.store.now():
        raise InvalidValue("--to", iso(last), "is in the future", hint="Future slots are opened by the clock.")


def _check_count(what: str, count: int) -> None:
    if not 1 <= count <= COUNT_LIMIT:
        raise InvalidValue(what, count, f"is not between 1 and {COUNT_LIMIT}")


def _local(slot: int, spec: ScheduleSpec) -> str:
    return datetime.fromtimestamp(slot // SECOND, UTC).astimezone(ZoneInfo(spec.tz)).isoformat()


def _status(row: ScheduleRow | None) -> str:
    if row is None:
        return "not declared yet: start a worker"
    return f"paused by {row.paused_by}" if row.paused_at else "on"


def _slot_row(slot: Slot) -> tuple[Any, ...]:
    return (utc_seconds(slot.scheduled_for), slot.disposition, slot.job_id or "", slot.actor)
