"""`haulwright source`: what sources allow, how they stand, pause, resume and change them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from haulwright.cli.kit.options import page_options
from haulwright.cli.kit.output import Fields
from haulwright.cli.kit.params import DURATION
from haulwright.cli.kit.verbs import NounGroup
from haulwright.engine.durations import spell
from haulwright.operations.views.pauses import pause_view
from haulwright.operations.views.sources import SOURCE_COLUMNS, source_paused_view, source_view, sources_view

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site

command = NounGroup("source", help="Sources: their rate, breaker and budget; pause, resume, set.", makes_database=())


@command.command("list")
@page_options(metavar="NAME")
@click.pass_obj
def list_(site: Site, limit: int, after: str | None) -> None:
    """List the sources, whether they take requests, and what went through in the last hour."""
    page = site.operations().sources.page(after=after, limit=limit)
    site.show_page(sources_view(page), SOURCE_COLUMNS, page.rows, page.next, empty="No source is declared.")


@command.command("show")
@click.argument("name")
@click.pass_obj
def show(site: Site, name: str) -> None:
    """Show one source: what it allows, who changed that, how it stands, and its traffic of the last hour."""
    source = site.operations().sources.get(name)
    document = source_view(source)
    site.out.show(document, Fields([(key, value) for key, value in document.items() if value != {}]))
    if source.row.closing is not None:
        site.out.next_step(f"haulwright source resume {name}")


@command.command("pause")
@click.argument("name")
@click.option("--for", "seconds", type=DURATION, metavar="TIME", help="Open again after this; else when resumed.")
@click.option("--reason", default="", help="Why; it is recorded and shown.")
@click.pass_obj
def pause(site: Site, name: str, seconds: float | None, reason: str) -> None:
    """Let no request through. Jobs wait without burning attempts; a resume moves their deadlines."""
    site.operations(site.principal(reason)).sources.pause(name, seconds=seconds)
    until = "until it is resumed" if seconds is None else f"for {spell(seconds)}"
    site.out.show(source_paused_view(name, seconds), f"The source {name} is paused {until}.")


@command.command("resume")
@click.argument("name")
@click.pass_obj
def resume(site: Site, name: str) -> None:
    """Open what a person, the breaker, a refused credential or the server closed, and wake the jobs that wait."""
    changed = site.operations().sources.resume(name)
    sentence = "takes requests again" if changed else "was open already"
    site.out.show(pause_view(name, paused=False, changed=changed), f"The source {name} {sentence}.")


@command.command("set")
@click.argument("name")
@click.option("--rate", metavar="RATE", help="Such as 30/min.")
@click.option("--burst", type=int, help="How many may pass at once after a quiet time; goes with --rate.")
@click.option("--min-interval", metavar="TIME", help="At least this between two requests.")
@click.option("--concurrency", type=int, help="Requests under way at once, in the whole fleet.")
@click.option("--budget", metavar="N", help="Requests in a day of UTC.")
@click.option("--breaker", metavar="WORDS", help="Such as '5 failures / 5 min', or none.")
@click.option("--enable/--disable", "enabled", default=None, help="Whether it may be asked at all.")
@click.option("--reset", is_flag=True, help="Take back what was set: the code decides again.")
@click.pass_obj
def set_(site: Site, /, name: str, *, reset: bool, **options: Any) -> None:
    """Change what a source allows. It holds over what the code says, until --reset."""
    change = {key: value for key, value in options.items() if value is not None}
    if reset == bool(change):
        raise click.UsageError("Say what to change, such as --rate 30/min; or --reset alone.")
    sources = site.operations().sources
    source = sources.reset(name) if reset else sources.override(name, **change)
    sentence = "is as its code says" if reset else "is changed"
    site.out.show(source_view(source), f"The source {name} {sentence}.")
