"""`penstock db`: the schema of the database."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from penstock.apps import APPLICATIONS
from penstock.cli.exits import Exit
from penstock.cli.findings import leave_by, show
from penstock.cli.output import Table
from penstock.cli.verbs import Noun
from penstock.stores import migrations
from penstock.stores.opening import open_database

if TYPE_CHECKING:
    from penstock.cli.site import Site
    from penstock.stores.store import Store

DIALECTS = ("sqlite", "postgres")

command = Noun("db", help="The schema of the database.")


@command.command("migrate")
@click.argument("applications", nargs=-1, type=click.Choice(sorted(APPLICATIONS)))
@click.option("--sql", is_flag=True, help="Print the whole schema as SQL that psql can run, and connect to nothing.")
@click.option("--dialect", type=click.Choice(DIALECTS), help="With --sql: for this database instead of the one in use.")
@click.pass_obj
def migrate(site: Site, applications: tuple[str, ...], *, sql: bool, dialect: str | None) -> None:
    """Apply the migrations that are missing, each chain in one transaction and under a lock.

    The engine's, those of the APPLICATIONS named, and those that the app needs, where one is named.
    """
    packages = _packages(site, applications)
    if sql:
        chosen = dialect or ("sqlite" if urlsplit(site.database_url).scheme.startswith("sqlite") else "postgres")
        text = "\n".join(migrations.printed(chosen, package) for package in packages)
        site.out.show({"dialect": chosen, "sql": text}, text.rstrip("\n"))
        return
    database = open_database(site.database_url)
    try:
        counts = {package: migrations.migrate(database, package) for package in packages}
    finally:
        database.close()
    applied = [
        {"schema": _short(package), "number": one.number, "name": one.name}
        for package, count in counts.items()
        if count
        for one in migrations.chain_of(package, database.dialect)[-count:]
    ]
    version = len(migrations.chain_of(migrations.ENGINE, database.dialect))
    told = [f"applied {one['schema']} {one['number']:04} {one['name']}" for one in applied]
    last = f"The schema is at version {version}." if told else "The schema is current already."
    site.out.show({"version": version, "applied": applied}, *told, last)


@command.command("status")
@click.pass_obj
def status(site: Site) -> None:
    """Say how far the schema has come. Nothing is changed."""
    store = site.untouched
    chains = [_status(store, package) for package in _packages(site, ())]
    rows = [(_short(one.chain), one.applied, one.known, _told(one)) for one in chains]
    applied, known = sum(one.applied for one in chains), sum(one.known for one in chains)
    site.out.show(
        {"applied": applied, "known": known, "current": applied == known},
        Table(("schema", "applied", "known", "status"), rows),
    )
    if applied != known:
        site.out.next_step("penstock db migrate")


def _status(store: Store | None, package: str) -> migrations.Status:
    """How far a chain has come; where there is no database yet, nowhere."""
    if store is None:
        return migrations.Status(package, 0, len(migrations.chain_of(package, "sqlite")))
    return migrations.status(store.database, package)


def _told(chain: migrations.Status) -> str:
    return "current" if chain.current else "not there yet" if chain.applied == 0 else "behind"


def _packages(site: Site, applications: tuple[str, ...]) -> list[str]:
    """The chains in question, the engine's first."""
    named = [APPLICATIONS[name] for name in applications]
    return list(dict.fromkeys([migrations.ENGINE, *named, *site.penstock.tables]))


def _short(package: str) -> str:
    return "engine" if package == migrations.ENGINE else package.rpartition(".")[2]


@command.command("verify")
@click.pass_obj
def verify(site: Site) -> None:
    """Check that what the database holds is sound. Nothing is changed; exit code 5 where something is wrong."""
    from penstock.cli.integrity import verify as examine  # noqa: PLC0415 - only this verb needs it

    found = examine(site)
    show(site.out, found)
    leave_by(found, Exit.PROBLEMS)
