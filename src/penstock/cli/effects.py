"""`penstock effect`: what runs did through the ledger, and what a person found out about an unknown one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from penstock.cli import shapes
from penstock.cli.jobs import EFFECT_HEADERS, effect_row
from penstock.cli.output import Table
from penstock.cli.params import JOB_ID, JSON
from penstock.cli.verbs import Noun
from penstock.engine.job import DEFAULT_TENANT
from penstock.engine.payload import EFFECT_INLINE_LIMIT_BYTES, check
from penstock.errors import NotFound, Refused

if TYPE_CHECKING:
    from penstock.cli.site import Site

command = Noun("effect", help="What runs did through the ledger.")


@command.command("list")
@click.argument("job_id", type=JOB_ID, metavar="JOB")
@click.pass_obj
def list_(site: Site, job_id: str) -> None:
    """List the effects of a job, in the order of their beginning, with those that it inherited from a dead letter."""
    found = site.desk().effects(job_id)
    now = site.store.now()
    rows = [effect_row(site.out, row, now) for row in found]
    site.out.show({"effects": [shapes.effect(row) for row in found]}, Table(EFFECT_HEADERS, rows, "No effects."))


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
    if result is not None and not happened:
        raise Refused("What did not happen has no result.", hint="Leave --result out, or say --happened.")
    value = None if result is None else check(json.loads(result), root="result", limit_bytes=EFFECT_INLINE_LIMIT_BYTES)
    actor = site.principal().actor
    try:
        site.store.effects.resolve(tenant, key, happened=happened, result=value, actor=actor, reason=reason)
    except NotFound as error:
        error.hint = f"The tenant {tenant} has no unknown effect of this key. See them with: penstock effect list JOB"
        raise
    told = "It is recorded as done." if happened else "It is recorded as not done, and may run again."
    site.out.show({"key": key, "tenant": tenant, "resolution": "done" if happened else "intent"}, told)
    site.out.next_step("penstock dead requeue JOB")
