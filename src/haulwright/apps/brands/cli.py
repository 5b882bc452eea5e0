"""`haulwright brand`: brands, their sources, what a compile would buy, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from haulwright.apps.brands import views
from haulwright.cli.kit.options import confirm
from haulwright.cli.kit.output import Fields, Table
from haulwright.cli.kit.params import DURATION, pairs
from haulwright.cli.kit.verbs import NounGroup
from haulwright.cli.run import warn
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.errors import InvalidValue

if TYPE_CHECKING:
    from haulwright import Principal
    from haulwright.apps.brands.application import Brands
    from haulwright.cli.kit.site import Site

Function = TypeVar("Function", bound=Callable[..., Any])
PROMPT_VERSION = "v1"
READY_APP = "haulwright.apps.brands.worker:app"

command = NounGroup(
    "brand", help="Brands: compile what their sources say; each paid run is bought once.", makes_database=("add",)
)


def for_tenant(function: Function) -> Function:
    """The option that says whose brands are meant."""
    option = click.option("--tenant", default=DEFAULT_TENANT, show_default=True, help="Whose brand it is.")
    return option(function)


@command.command("add")
@click.argument("name")
@click.option("--answer", "texts", multiple=True, metavar="QUESTION=ANSWER", help="An onboarding answer; repeatable.")
@click.option("--answers", "file", type=click.File("rb"), help="A JSON file of answers by question; - is stdin.")
@for_tenant
@click.pass_obj
def add(site: Site, name: str, texts: tuple[str, ...], file: IO[bytes] | None, tenant: str) -> None:
    """Add a brand called NAME with its onboarding answers, and print its id."""
    brand = _brands(site).add(_principal(site, tenant), name, _answers(file) | pairs(texts, what="--answer"))
    site.out.show(views.brand(brand), brand.id)
    _next(site, f"haulwright brand connect {brand.id} instagram.posts HANDLE", tenant)


@command.command("update")
@click.argument("brand")
@click.option("--name", help="Call it this from now on.")
@click.option(
    "--answer", "texts", multiple=True, metavar="QUESTION=ANSWER", help="A new or changed answer; repeatable."
)
@click.option("--answers", "file", type=click.File("rb"), help="A JSON file of answers by question; - is stdin.")
@click.option("--forget", "forgotten", multiple=True, metavar="QUESTION", help="An answer that goes; repeatable.")
@for_tenant
@click.pass_obj
def update(  # noqa: PLR0913 - the options of the command, each with a name
    site: Site, /, brand: str, *, name: str | None, texts: tuple[str, ...], file: IO[bytes] | None,
    forgotten: tuple[str, ...], tenant: str,
) -> None:  # fmt: skip
    """Change the name or the answers of a BRAND; those that are not named stay. The next compile works with them."""
    answers = _answers(file) | pairs(texts, what="--answer") | dict.fromkeys(forgotten)
    changed = _brands(site).update(_principal(site, tenant), brand, name=name, answers=answers)
    site.out.show(views.brand(changed), f"{changed.name} has {len(changed.answers)} answers.")
    _next(site, f"haulwright brand compile {changed.id}", tenant)


@command.command("list")
@for_tenant
@click.pass_obj
def list_(site: Site, tenant: str) -> None:
    """List the brands of a tenant."""
    brands, now = _brands(site).list(_principal(site, tenant)), site.now()
    rows = [(brand.id, brand.name, len(brand.answers), site.out.when(brand.created_at, now)) for brand in brands]
    document = {"brands": [views.brand(brand) for brand in brands]}
    site.out.show(document, Table(("id", "name", "answers", "added"), rows, "No brand is there yet."))


@command.command("connect")
@click.argument("brand")
@click.argument("source", metavar="PLATFORM.CAPABILITY")
@click.argument("identifier")
@click.option("--set", "texts", multiple=True, metavar="NAME=VALUE", help="A setting of the source, such as cap=20.")
@click.option("--disabled", is_flag=True, help="Connected, but left out of compiles.")
@for_tenant
@click.pass_obj
def connect(  # noqa: PLR0913 - the options of the command, each with a name
    site: Site, /, brand: str, source: str, identifier: str, *, texts: tuple[str, ...], tenant: str, disabled: bool
) -> None:
    """Connect a BRAND to a source: a handle on a platform, or the address of a site.

    Connecting the same source again changes its settings, and switches it on or off.
    """
    platform, _, capability = source.partition(".")
    settings = {name: _json_or_text(text) for name, text in pairs(texts, what="--set").items()}
    connection = _brands(site).connect(
        _principal(site, tenant), brand, platform, capability, identifier, settings, enabled=not disabled
    )
    site.out.show(views.connection(connection), f"{connection.source} {connection.identifier}: {connection.id}")
    _next(site, f"haulwright brand compile {brand} --plan", tenant)


@command.command("disconnect")
@click.argument("connection")
@click.option("--yes", is_flag=True, help="Do not ask.")
@for_tenant
@click.pass_obj
def disconnect(site: Site, connection: str, tenant: str, *, yes: bool) -> None:
    """Remove a source by its id, with everything that was found through it; snapshots and events stay."""
    brands, principal = _brands(site), _principal(site, tenant)
    row = brands.connection(principal, connection)
    if not yes:
        confirm(
            f"remove {row.source} {row.identifier}", f"Remove {row.source} {row.identifier} with all that it found?"
        )
    rows = brands.disconnect(principal, connection)
    site.out.show({"connection": row.id, "rows": rows}, f"{row.source} {row.identifier} is removed, with {rows} rows.")


@command.command("compile")
@click.argument("brand")
@click.option("--plan", is_flag=True, help="Say what would be bought, reused or skipped, and why. Nothing is changed.")
@click.option("--force-refresh", is_flag=True, help="Buy every source anew, once, whatever is fresh.")
@click.option("--prompt-version", default=PROMPT_VERSION, show_default=True, help="The rules that a model is given.")
@click.option("--model", help="Let this model write the statements; without it nobody is asked.")
@click.option("--request-id", metavar="ID", help="Ask once: a second compile under this id is not made.")
@click.option("--wait", is_flag=True, help="Wait until it is over, and show what became of each source.")
@click.option("--timeout", type=DURATION, metavar="TIME", help="With --wait: not longer than this; it goes on.")
@for_tenant
@click.pass_obj
def compile_(  # noqa: PLR0913 - as above
    site: Site, /, brand: str, tenant: str, *, plan: bool, wait: bool, timeout: float | None, **options: Any
) -> None:
    """Compile a BRAND: refresh what is stale, then make a new snapshot. Prints the id of the compile."""
    brands, principal = _brands(site), _principal(site, tenant)
    if plan:
        planned = brands.plan(principal, brand, force_refresh=options["force_refresh"])
        site.out.show(views.plan(brand, planned), views.plan_table(planned))
        return
    run = brands.compile(principal, brand, **options)
    if run.job_id and not run.is_over:
        warn(site, run.job_id, ready_app=READY_APP)
    if not wait:
        site.out.show(views.run(run), run.id)
        _next(site, f"haulwright brand status {run.id}", tenant)
        return
    from haulwright.apps.brands.waiting import require_success, wait_for_compile  # noqa: PLC0415 - only to wait

    ended = wait_for_compile(site.out, brands, principal, run, timeout)
    site.out.show(views.status(ended), views.source_table(ended))
    require_success(ended)
    _next(site, f"haulwright brand show {brand}", tenant)


@command.command("status")
@click.argument("target", metavar="COMPILE|BRAND")
@for_tenant
@click.pass_obj
def status(site: Site, target: str, tenant: str) -> None:
    """Say how far a compile is and what became of each source; of a brand, its newest compile."""
    compile_status = _brands(site).status(_principal(site, tenant), target)
    run, now = compile_status.run, site.now()
    fields = Fields(
        [
            ("compile", run.id),
            ("brand", run.brand_id),
            ("status", run.status),
            ("asked", site.out.when(run.created_at, now)),
            ("finished", site.out.when(run.finished_at, now)),
            ("snapshot", compile_status.snapshot),
            ("error", run.error),
        ]
    )
    site.out.show(views.status(compile_status), fields, "", views.source_table(compile_status))
    if not run.is_over and run.job_id:
        site.out.next_step(f"haulwright job why {run.job_id}")


@command.command("show")
@click.argument("brand")
@click.option("--number", type=click.IntRange(min=1), help="This snapshot instead of the newest.")
@for_tenant
@click.pass_obj
def show(site: Site, brand: str, number: int | None, tenant: str) -> None:
    """Show a snapshot of a BRAND: every statement, and how many items it rests on. With --json, all of them."""
    document = _brands(site).snapshot(_principal(site, tenant), brand, number)
    site.out.show(document, *views.snapshot_lines(document))


@command.command("diff")
@click.argument("brand")
@click.argument("old", type=click.IntRange(min=1), required=False)
@click.argument("new", type=click.IntRange(min=1), required=False)
@for_tenant
@click.pass_obj
def diff_(site: Site, brand: str, old: int | None, new: int | None, tenant: str) -> None:
    """Compare two snapshots of a BRAND: the last two, or the OLD one with the NEW one or the newest, by number."""
    compared = _brands(site).compare(_principal(site, tenant), brand, old, new)
    changes = compared.changes
    items = f"{len(changes.evidence_added)} items came, {len(changes.evidence_removed)} went."
    summary = f"Snapshot {compared.old} and snapshot {compared.new}: {items}"
    site.out.show(views.comparison(compared), views.change_table(changes), summary)


@command.command("remove")
@click.argument("brand")
@click.option("--yes", is_flag=True, help="Do not ask.")
@for_tenant
@click.pass_obj
def remove(site: Site, brand: str, tenant: str, *, yes: bool) -> None:
    """Remove a BRAND with everything that was found for it; running work is cancelled, its events stay."""
    brands, principal = _brands(site), _principal(site, tenant)
    name = next((each.name for each in brands.list(principal) if each.id == brand), brand)
    if not yes:
        confirm(f"remove {name}", f"Remove {name} with everything that was found for it?")
    rows = brands.remove(principal, brand)
    site.out.show({"brand": brand, "rows": rows}, f"{name} is removed, with {rows} rows.")


@command.command("prune")
@click.option("--dry-run", is_flag=True, help="Only say how much would go.")
@click.pass_obj
def prune(site: Site, *, dry_run: bool) -> None:
    """Remove the raw items of runs that ended long ago, of all tenants; what was made of them stays.

    A worker does it every hour. How long they are kept is the setting brands_keep_raw_seconds.
    """
    pruned = _brands(site).prune(site.principal(), dry_run=dry_run)
    verb = "would go" if dry_run else "are gone"
    site.out.show(asdict(pruned) | {"dry_run": dry_run}, f"{pruned.items} raw items of {pruned.runs} runs {verb}.")


def _brands(site: Site) -> Brands:
    brands: Brands = site.application("brands")
    return brands


def _principal(site: Site, tenant: str) -> Principal:
    """Who types, for the tenant that is meant."""
    return site.principal().for_tenant(tenant)


def _next(site: Site, command: str, tenant: str) -> None:
    """What to type next, for the same tenant."""
    site.out.next_step(command if tenant == DEFAULT_TENANT else f"{command} --tenant {tenant}")


def _answers(file: IO[bytes] | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        answers = json.load(file)
    except (ValueError, RecursionError) as error:
        raise InvalidValue("--answers", file.name, f"is no JSON: {error}") from None
    if not isinstance(answers, dict):
        raise InvalidValue("--answers", file.name, "is no JSON object of answers by question")
    return answers


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
