"""`penstock db`: the schema of the database."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from penstock.cli.exits import Exit
from penstock.cli.findings import leave_by, show
from penstock.cli.output import Table
from penstock.cli.verbs import Noun
from penstock.stores import migrations
from penstock.stores.opening import open_database

if TYPE_CHECKING:
    from penstock.cli.site import Site

DIALECTS = ("sqlite", "postgres")

command = Noun("db", help="The schema of the database.")


@command.command("migrate")
@click.option("--sql", is_flag=True, help="Print the whole schema as SQL that psql can run, and connect to nothing.")
@click.option("--dialect", type=click.Choice(DIALECTS), help="With --sql: for this database instead of the one in use.")
@click.pass_obj
def migrate(site: Site, *, sql: bool, dialect: str | None) -> None:
    """Apply the migrations that are missing, in one transaction and under a lock."""
    if sql:
        chosen = dialect or ("sqlite" if urlsplit(site.database_url).scheme.startswith("sqlite") else "postgres")
        text = migrations.printed(chosen)
        site.out.show({"dialect": chosen, "sql": text}, text.rstrip("\n"))
        return
    database = open_database(site.database_url)
    try:
        count = migrations.migrate(database)
    finally:
        database.close()
    chain = migrations.chain_of(migrations.ENGINE, database.dialect)
    applied = chain[len(chain) - count :]
    document = {"version": len(chain), "applied": [{"number": one.number, "name": one.name} for one in applied]}
    told = [f"applied {one.number:04} {one.name}" for one in applied]
    site.out.show(
        document, *told, f"The schema is at version {len(chain)}." if told else "The schema is current already."
    )


@command.command("status")
@click.pass_obj
def status(site: Site) -> None:
    """Say how far the schema has come. Nothing is changed."""
    store = site.untouched
    if store is None:
        known = len(migrations.chain_of(migrations.ENGINE, "sqlite"))
        applied = 0
    else:
        state = migrations.status(store.database)
        applied, known = state.applied, state.known
    current = applied == known
    told = "current" if current else "not there yet" if applied == 0 else "behind"
    site.out.show(
        {"applied": applied, "known": known, "current": current},
        Table(("schema", "applied", "known", "status"), [("engine", applied, known, told)]),
    )
    if not current:
        site.out.next_step("penstock db migrate")


@command.command("verify")
@click.pass_obj
def verify(site: Site) -> None:
    """Check that what the database holds is sound. Nothing is changed; exit code 5 where something is wrong."""
    from penstock.cli.integrity import verify as examine  # noqa: PLC0415 - only this verb needs it

    found = examine(site)
    show(site.out, found)
    leave_by(found, Exit.PROBLEMS)
