"""`haulwright brief`: feeds, the events that their articles are about, and the brief of the day."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from haulwright.apps.brief import SPEC
from haulwright.apps.brief.cli_cluster import cluster
from haulwright.cli.kit.output import Table
from haulwright.cli.kit.verbs import NounGroup
from haulwright.errors import InvalidValue, Refused

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site

FORMATS = ("markdown", "html", "json", "atom")
JOBS = ("rss_ingestion", "event_clustering", "retention_cleanup", "daily_brief")
MOST_LISTED = 1_000
MOST_SHOWN_FAILURES = 20

command = NounGroup("brief", help=SPEC.summary, makes_database=("add", "import-opml"))
command.add_command(cluster)
for_tenant = click.option("--tenant", default="default", show_default=True, help="Whose feeds and briefs they are.")


@command.command("add")
@click.argument("url")
@click.option("--name", help="What to call the feed; else its host.")
@click.option("--weight", type=float, default=1.0, show_default=True, help="How much its reports count.")
@click.option("--disabled", is_flag=True, help="Know it, and leave it alone for now.")
@for_tenant
@click.pass_obj
def add(  # noqa: PLR0913 - the options of the command, each with a name
    site: Site, url: str, *, name: str | None, weight: float, disabled: bool, tenant: str
) -> None:
    """Have a feed read from now on: RSS, Atom or JSON Feed."""
    from haulwright.apps.brief.cli_now import brief_of  # noqa: PLC0415 - most of a short command's time are imports
    from haulwright.apps.brief.views import feed_document  # noqa: PLC0415 - as above

    options: dict[str, Any] = {"name": name, "weight": weight, "enabled": not disabled}
    feed = brief_of(site).add(site.principal().for_tenant(tenant), url, **options)
    site.out.show(feed_document(feed), f"The feed {feed.id} is read from now on.")
    site.out.next_step(_on("haulwright brief ingest", tenant))


@command.command("import-opml")
@click.argument("file", type=click.File("rb"))
@for_tenant
@click.pass_obj
def import_opml(site: Site, file: IO[bytes], tenant: str) -> None:
    """Add the feeds of an OPML FILE; - is stdin. One that is refused keeps no other from being added."""
    from haulwright.apps.brief.cli_now import brief_of  # noqa: PLC0415 - as above

    answers = brief_of(site).import_opml(site.principal().for_tenant(tenant), file.read())
    added = [feed.id for _, feed in answers if not isinstance(feed, str)]
    refused = [{"url": url, "why": why} for url, why in answers if isinstance(why, str)]
    sentence = f"{len(added)} feeds were added, {len(refused)} were not."
    site.out.show({"added": added, "refused": refused}, sentence, *(f"  {refusal['why']}" for refusal in refused))
    site.out.next_step(_on("haulwright brief ingest", tenant) if added else "")


@command.command("list")
@click.option("--briefs", is_flag=True, help="The briefs that were published instead of the feeds.")
@click.option("--failing", is_flag=True, help="Only feeds that failed the last time.")
@click.option("--limit", default=100, show_default=True, help=f"At most so many, up to {MOST_LISTED}.")
@for_tenant
@click.pass_obj
def list_(site: Site, *, briefs: bool, failing: bool, limit: int, tenant: str) -> None:
    """List the feeds of a tenant with how they have been lately, or with --briefs what was published."""
    from haulwright.apps.brief import views as shapes  # noqa: PLC0415 - as above
    from haulwright.apps.brief.cli_now import brief_of  # noqa: PLC0415 - as above

    _check_limit(limit)
    brief, principal, now, out = brief_of(site), site.principal().for_tenant(tenant), site.now(), site.out
    if briefs:
        listed = brief.list_briefs(principal, limit)
        table = Table(shapes.BRIEF_HEADERS, [shapes.brief_row(out, item, now) for item in listed], "No briefs yet.")
        out.show({"briefs": [shapes.brief_document(item) for item in listed]}, table)
        return
    matching = (feed for feed in brief.list_feeds(principal) if feed.failures or not failing)
    feeds = list(islice(matching, limit))
    rows = [shapes.feed_row(out, feed, now) for feed in feeds]
    document = {"feeds": [shapes.feed_document(feed) for feed in feeds]}
    out.show(document, Table(shapes.FEED_HEADERS, rows, "No feeds.", ("weight", "enabled", "url")))


@command.command("set")
@click.argument("feed")
@click.option("--name", help="What to call it.")
@click.option("--weight", type=float, help="How much its reports count.")
@click.option("--on/--off", "enabled", default=None, help="Read it, or leave it alone.")
@for_tenant
@click.pass_obj
def set_(  # noqa: PLR0913 - as above
    site: Site, feed: str, *, name: str | None, weight: float | None, enabled: bool | None, tenant: str
) -> None:
    """Change the name or weight of a FEED, or switch it on or off. It may be asked again at once."""
    from haulwright.apps.brief.cli_now import brief_of  # noqa: PLC0415 - as above
    from haulwright.apps.brief.views import feed_document  # noqa: PLC0415 - as above

    if name is None and weight is None and enabled is None:
        raise click.UsageError("Nothing is to be changed: add --name, --weight, --on or --off.")
    options: dict[str, Any] = {"name": name, "weight": weight, "enabled": enabled}
    changed = brief_of(site).change_feed(site.principal().for_tenant(tenant), feed, **options)
    site.out.show(feed_document(changed), f"The feed {changed.id} is changed.")


@command.command("remove")
@click.argument("feed")
@for_tenant
@click.pass_obj
def remove(site: Site, feed: str, tenant: str) -> None:
    """Read a FEED no more, and forget it. Its articles stay, and its address may be added again."""
    from haulwright.apps.brief.cli_now import brief_of  # noqa: PLC0415 - as above

    brief_of(site).remove_feed(site.principal().for_tenant(tenant), feed)
    site.out.show({"tenant": tenant, "id": feed}, f"The feed {feed} is removed.")


@command.command("ingest")
@click.option("--no-wait", is_flag=True, help="Leave the reading to a worker.")
@for_tenant
@click.pass_obj
def ingest(site: Site, *, no_wait: bool, tenant: str) -> None:
    """Read all feeds of a tenant now, whether they are due or not."""
    from haulwright.apps.brief.cli_now import WORKER, brief_of, count_outcomes, troubles, work  # noqa: PLC0415 - as above

    brief = brief_of(site)
    jobs = brief.ingest(site.principal().for_tenant(tenant))
    if not jobs:
        raise Refused(f"{tenant} has no feeds.", hint=f"Add one with: {_on('haulwright brief add URL', tenant)}")
    if no_wait:
        site.out.show({"jobs": jobs}, f"{len(jobs)} feeds wait to be read.")
        site.out.next_step(WORKER)
        return
    endings = work(site, jobs)
    counts = count_outcomes(endings)
    sentence = ", ".join(f"{count} {word}" for word, count in counts.items())
    site.out.show(counts, sentence, *troubles(site, endings)[:MOST_SHOWN_FAILURES])
    site.out.next_step("haulwright brief cluster" if counts["new"] else "")


@command.command("publish")
@click.option("--day", metavar="DATE", help="The day of the brief; else today.")
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path), help="Write it there in all formats, too.")
@for_tenant
@click.pass_obj
def publish(site: Site, *, day: str | None, folder: Path | None, tenant: str) -> None:
    """Publish the brief of a day from what came in since the last one. A day has one brief, unless it is withdrawn."""
    from haulwright.apps.brief.cli_now import brief_of, work  # noqa: PLC0415 - as above

    brief, principal = brief_of(site), site.principal().for_tenant(tenant)
    handle = brief.publish(principal, day)
    (ending,) = work(site, [handle.id])
    if ending.result is None and ending.job.reason is None:
        raise Refused(f"The brief is not published: {ending.trouble}.", hint=f"Ask: haulwright job why {handle.id}")
    newest = brief.newest_day(principal)
    if newest is None:
        raise Refused("There is no news.", hint=f"First: {_on('haulwright brief ingest', tenant)}, then cluster")
    files = _write(brief.get_brief(principal, newest), folder) if folder else []
    document = {"day": newest, "published": ending.result is not None, "files": files}
    sentence = f"The brief of {newest} is published." if ending.result else f"Nothing new: {ending.job.reason}."
    site.out.show(document, sentence, *files)
    site.out.next_step(_on("haulwright brief show", tenant))


@command.command("withdraw")
@click.argument("day", metavar="DAY")
@click.option("--reason", required=True, help="Why; it is recorded.")
@for_tenant
@click.pass_obj
def withdraw(site: Site, day: str, *, reason: str, tenant: str) -> None:
    """Take the newest brief back, that of DAY. It is kept and does not count; its articles are news again."""
    from haulwright.apps.brief.cli_now import brief_of  # noqa: PLC0415 - as above

    taken_back = brief_of(site).withdraw(site.principal(reason).for_tenant(tenant), day)
    document = {"day": taken_back.day, "edition": taken_back.edition, "articles": taken_back.articles}
    sentence = f"The brief of {taken_back.day} is withdrawn; {taken_back.articles} articles are news again."
    site.out.show(document, sentence)
    site.out.next_step(_on(f"haulwright brief publish --day {taken_back.day}", tenant))


@command.command("show")
@click.argument("day", required=False)
@click.option("--format", "form", type=click.Choice(FORMATS), default="markdown", show_default=True, help="Which one.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="A file instead of stdout.")
@for_tenant
@click.pass_obj
def show(site: Site, day: str | None, *, form: str, output: Path | None, tenant: str) -> None:
    """Show the brief of a DAY, or the newest, in any of its formats."""
    from haulwright.apps.brief.cli_now import brief_of  # noqa: PLC0415 - as above
    from haulwright.apps.brief.formats import FORMATS as WRITTEN  # noqa: PLC0415 - as above

    document = brief_of(site).get_brief(site.principal().for_tenant(tenant), day)
    if output is None:
        site.out.show(document, WRITTEN[form][0](document).rstrip("\n"))
        return
    _save(output, WRITTEN[form][0](document))
    site.out.show({"day": document["day"], "file": str(output)}, f"The brief of {document['day']} is in {output}.")


@command.command("retention")
@click.option("--dry-run", is_flag=True, help="Only count what would be removed.")
@click.pass_obj
def retention(site: Site, *, dry_run: bool) -> None:
    """Remove articles that are old and that no brief cites, of all tenants. What was seen is remembered."""
    from dataclasses import asdict  # noqa: PLC0415 - as above

    from haulwright.apps.brief.cli_now import brief_of, work  # noqa: PLC0415 - as above

    brief = brief_of(site)
    if dry_run:
        counts = asdict(brief.would_remove(site.principal()))
        site.out.show(counts | {"dry_run": True}, f"{_describe_counts(counts)} would be removed.")
        return
    (ending,) = work(site, [brief.retain(site.principal()).id])
    if ending.result is None:
        raise Refused(
            f"Nothing is known to be removed: {ending.trouble}.", hint=f"See: haulwright job show {ending.job.id}"
        )
    site.out.show(ending.result | {"dry_run": False}, f"{_describe_counts(ending.result)} were removed.")


@command.command("runs")
@click.option("--job", type=click.Choice(JOBS), help="Only runs of this job.")
@click.option("--limit", default=20, show_default=True, help=f"At most so many, up to {MOST_LISTED}.")
@click.pass_obj
def runs(site: Site, *, job: str | None, limit: int) -> None:
    """List the newest runs of the scheduled jobs, in the words of job_runs."""
    from haulwright.apps.brief import views as shapes  # noqa: PLC0415 - as above
    from haulwright.apps.brief.cli_now import brief_of  # noqa: PLC0415 - as above

    _check_limit(limit)
    rows = brief_of(site).list_runs(site.principal(), job, limit)
    table = Table(shapes.RUN_HEADERS, [shapes.run_row(row) for row in rows], "No runs yet.", ("worker", "finished"))
    site.out.show({"job_runs": [shapes.run_document(row) for row in rows]}, table)


def _write(document: dict[str, Any], folder: Path) -> list[str]:
    """Every format of a brief as a file, and their names."""
    from haulwright.apps.brief.formats import FORMATS as WRITTEN  # noqa: PLC0415 - as above

    files = []
    for write, ending in WRITTEN.values():
        path = folder / f"brief-{document['day']}.{ending}"
        _save(path, write(document))
        files.append(str(path))
    return files


def _save(path: Path, text: str) -> None:
    """Write a file whole, or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, "utf-8")
        part.replace(path)
    except OSError as error:
        raise InvalidValue("file", str(path), f"cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def _describe_counts(removed: dict[str, int]) -> str:
    return f"{removed['brief_articles']} articles and {removed['brief_links']} links"


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MOST_LISTED:
        raise InvalidValue("--limit", limit, f"is not between 1 and {MOST_LISTED}")


def _on(command_line: str, tenant: str) -> str:
    return command_line if tenant == "default" else f"{command_line} --tenant {tenant}"
