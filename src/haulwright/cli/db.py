"""`haulwright db`: the schema of the database."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from haulwright.cli.doctor import show_findings
from haulwright.cli.kit.output import Table
from haulwright.cli.kit.verbs import NounGroup
from haulwright.operations.views.health import migration_run_view, schema_script_view, schema_view

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site
    from haulwright.operations.schema import ChainStatus

DIALECTS = ("sqlite", "postgres")

command = NounGroup("db", help="The schema of the database.")


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
    site.out.show(migration_run_view(run), *lines, last)


@command.command("status")
@click.pass_obj
def status(site: Site) -> None:
    """Say how far the schema has come. Nothing is changed."""
    chains = site.operations(open_database=False).schema.status()
    rows = [(chain.schema, chain.applied, chain.known, _in_words(chain)) for chain in chains]
    site.out.show(schema_view(chains), Table(("schema", "applied", "known", "status"), rows))
    if not all(chain.current for chain in chains):
        site.out.next_step("haulwright db migrate")


@command.command("verify")
@click.pass_obj
def verify(site: Site) -> None:
    """Check that what the database holds is sound. Nothing is changed; exit code 5 where something is wrong."""
    stuck_seconds = float(site.settings["stuck_effect_seconds"])
    show_findings(site, site.operations(open_database=False).health.verify(stuck_effect_seconds=stuck_seconds))


def _in_words(chain: ChainStatus) -> str:
    return "current" if chain.current else "not there yet" if chain.applied == 0 else "behind"
