"""`haulwright db`: the schema of the database, and its backups."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from haulwright.cli.doctor import show_findings
from haulwright.cli.kit.output import Table
from haulwright.cli.kit.verbs import NounGroup
from haulwright.operations.installation import encoding_trouble
from haulwright.operations.views.growth import growth_tables
from haulwright.operations.views.health import (
    backup_view,
    chain_words,
    holder_words,
    migration_run_view,
    schema_script_view,
    schema_view,
    view_names_view,
)

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site

DIALECTS = ("sqlite", "postgres")
PROGRESS_SECONDS = 1.0

command = NounGroup("db", help="The schema of the database, and its backups.", makes_database=())


@command.command("migrate")
@click.argument("applications", nargs=-1, metavar="[APPLICATIONS]...")
@click.option("--sql", is_flag=True, help="Print the whole schema as SQL that psql can run, and connect to nothing.")
@click.option("--dialect", type=click.Choice(DIALECTS), help="With --sql: for this database instead of the one in use.")
@click.pass_obj
def migrate(site: Site, applications: tuple[str, ...], *, sql: bool, dialect: str | None) -> None:
    """Apply the migrations that are missing, each chain in one transaction and under a lock.

    The engine's, those of the APPLICATIONS named, and those that the app needs, where one is named.
    """
    schema = site.operations(open_database=False).schema
    if sql:
        dialect = dialect or ("sqlite" if urlsplit(site.database_url).scheme.startswith("sqlite") else "postgres")
        text = schema.script(dialect, applications)
        site.out.show(schema_script_view(dialect, text), text.rstrip("\n"))
        return
    run = schema.migrate(applications)
    lines = [f"applied {migration.schema} {migration.number:04} {migration.name}" for migration in run.applied]
    last = f"The schema is at version {run.version}." if lines else "The schema is current already."
    left = [f"{row.name} is a {row.kind} that is not ours, and was left alone: {row.instead}" for row in run.left_alone]
    site.out.show(migration_run_view(run), *lines, last, *left)
    if trouble := encoding_trouble(run.encoding):
        site.out.note(f"Note: {trouble}.")


@command.command("views")
@click.argument("names", nargs=-1, metavar="[NAMES]...")
@click.option("--take", is_flag=True, help="Put our views under these names, or under all that are free.")
@click.option("--drop", is_flag=True, help="Give these names up, or all that our views have.")
@click.pass_obj
def views(site: Site, names: tuple[str, ...], *, take: bool, drop: bool) -> None:
    """Show the views of applications in the words of their documents, and who has each name.

    A view is always there under its own name, haulwright_v_NAME. The document's name is put beside it where that is
    free; a table or view of somebody else's is never touched.
    """
    if take and drop:
        raise click.UsageError("--take and --drop are opposites: name one of them.")
    schema = site.operations(open_database=False).schema
    if take or drop:
        rows = schema.take_view_names(names) if take else schema.drop_view_names(names)
    else:
        rows = [row for row in schema.view_names() if not names or row.held.name in names]
    lines = [(row.application, row.held.name, row.held.view, holder_words(row.held)) for row in rows]
    site.out.show(view_names_view(rows), Table(("application", "name", "view", "the name is"), lines))


@command.command("status")
@click.pass_obj
def status(site: Site) -> None:
    """Say how far the schema is, how large the database is, and what retention will remove. Nothing is changed."""
    schema = site.operations(open_database=False).schema
    chains, growth = schema.status(), schema.growth(site.settings)
    rows = [(chain.schema, chain.applied, chain.known, chain_words(chain)) for chain in chains]
    tables = [site.out.table(columns, items, now=now) for columns, items, now in growth_tables(growth)]
    site.out.show(schema_view(chains, growth), Table(("schema", "applied", "known", "status"), rows), *tables)
    if not all(chain.current for chain in chains):
        site.out.next_step("haulwright db migrate")


@command.command("verify")
@click.pass_obj
def verify(site: Site) -> None:
    """Check that what the database holds is sound. Nothing is changed; exit code 5 where something is wrong."""
    stuck_seconds = float(site.settings["stuck_effect_seconds"])
    show_findings(site, site.operations(open_database=False).health.verify(stuck_effect_seconds=stuck_seconds))


@command.command("backup")
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@click.pass_obj
def backup(site: Site, target: Path, *, force: bool) -> None:
    """Copy the database into the file TARGET while others work, look through the copy, and say how to put it back.

    SQLite copies its file page by page; PostgreSQL's own pg_dump writes the schema that the tables are in. The file is
    there whole or not at all, for its owner alone.
    """
    backups = site.operations(open_database=False).backups
    result = backups.create(target, force=force, progress=_Progress(site))
    contents = ", ".join(f"{count} {name}" for name, count in result.file.contents.items())
    size = result.file.size_bytes / 1024**2
    first = f"{result.file.path}: {size:.1f} MiB in {result.seconds:.1f} s; looked through, and sound: {contents}."
    lines = [f"  {line}" for line in result.file.restore]
    how = "To put it back, stop what uses the database, and:" if result.file.format == "sqlite" else "To put it back:"
    site.out.show(backup_view(result), first, how, *lines)


class _Progress:
    """A line on stderr now and then, for a copy that takes its time."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._line_at = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        """Say how far it is, if nobody did for a while."""
        if time.monotonic() - self._line_at >= PROGRESS_SECONDS:
            self._line_at = time.monotonic()
            self._site.out.note(f"backup: {100 * done // max(1, total)} %")
