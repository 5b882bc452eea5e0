"""`haulwright weather`: the commands of the weather."""

from __future__ import annotations

import click

from haulwright.cli.kit.output import Table
from haulwright.cli.kit.verbs import NounGroup
from weather import SPEC

HEADERS = ("tenant", "station", "degrees", "unit")

command = NounGroup("weather", help=SPEC.summary)
for_tenant = click.option("--tenant", default="default", show_default=True, help="Whose readings they are.")


@command.command("record")
@click.argument("station")
@click.argument("degrees", type=float)
@for_tenant
@click.pass_obj
def record(site, station, degrees, tenant):
    """Have a reading of a STATION written."""
    job_id = site.application("weather").record(site.principal().for_tenant(tenant), station, degrees)
    site.out.show({"job_id": job_id}, f"The job {job_id} writes it.")
    site.out.next_step("python -m weather --until-empty")


@command.command("list")
@for_tenant
@click.pass_obj
def list_(site, tenant):
    """List the readings of a tenant."""
    rows = site.application("weather").readings(site.principal().for_tenant(tenant))
    document = {"readings": [dict(zip(HEADERS, row, strict=True)) for row in rows]}
    site.out.show(document, Table(HEADERS, rows, "No readings yet."))
