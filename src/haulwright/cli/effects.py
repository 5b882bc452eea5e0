"""`haulwright effect`: what runs did through the ledger, and what a person found out about an unknown one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from haulwright.cli.kit.options import page_options
from haulwright.cli.kit.params import JOB_ID, JSON
from haulwright.cli.kit.verbs import NounGroup
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.operations.views.effects import (
    EFFECT_COLUMNS,
    UNRESOLVED_COLUMNS,
    effects_view,
    resolved_view,
    unresolved_page_view,
)

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site

command = NounGroup("effect", help="What runs did through the ledger.", makes_database=())


@command.command("list")
@click.argument("job_id", type=JOB_ID, metavar="JOB")
@page_options(default=500)
@click.pass_obj
def list_(site: Site, job_id: str, limit: int, after: str | None) -> None:
    """List the effects of a job, in the order of their beginning, with those that it inherited from a dead letter."""
    page = site.operations().effects.of_job(job_id, after=after, limit=limit)
    site.show_page(effects_view(page), EFFECT_COLUMNS, page.rows, page.next, empty="No effects.")


@command.command("unresolved")
@click.option("--tenant", help="Only those of this tenant.")
@page_options(default=50)
@click.pass_obj
def unresolved(site: Site, tenant: str | None, limit: int, after: str | None) -> None:
    """List effects of which nobody knows whether they happened.

    An unknown one waits for a person, who says so with `effect resolve`. One in doubt was begun by a job that is gone:
    a requeue of that job finds out.
    """
    age, empty = float(site.settings["stuck_effect_seconds"]), "Every effect is settled."
    page = site.operations().effects.unresolved(tenant, age=age, after=after, limit=limit)
    site.show_page(unresolved_page_view(page), UNRESOLVED_COLUMNS, page.rows, page.next, empty=empty)


@command.command("resolve")
@click.argument("key")
@click.option("--happened/--not", "happened", default=None, help="It happened, or it did not.")
@click.option("--result", type=JSON, metavar="JSON", help="With --happened: what it returned.")
@click.option("--tenant", default=DEFAULT_TENANT, show_default=True, help="The tenant of its job.")
@click.option("--reason", required=True, help="How you know; it is recorded.")
@click.pass_obj
def resolve(  # noqa: PLR0913 - the options of the command, each with a name
    site: Site, /, key: str, *, happened: bool | None, result: str | None, tenant: str, reason: str
) -> None:
    """Say what became of an unknown effect, after you found out.

    Its job is a dead letter: requeue it afterwards, and it goes on from there.
    """
    if happened is None:
        raise click.UsageError("Say whether it happened: --happened or --not.")
    effects = site.operations(site.principal(reason)).effects
    value = None if result is None else json.loads(result)
    effect = effects.resolve(key, happened=happened, result=value, tenant=tenant)
    sentence = "It is recorded as done." if happened else "It is recorded as not done, and may run again."
    site.out.show(resolved_view(effect), sentence)
    site.out.next_step("haulwright dead requeue JOB")
