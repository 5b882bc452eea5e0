"""`penstock brand`: brands, their sources, what a compile would buy, and what came of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from penstock.cli import brands_shapes as shapes
from penstock.cli.output import Fields, Table
from penstock.cli.params import DURATION, pairs
from penstock.cli.run import warn
from penstock.cli.verbs import Noun
from penstock.engine.job import DEFAULT_TENANT
from penstock.engine.task import check_name
from penstock.errors import InvalidValue, Refused

if TYPE_CHECKING:
    from penstock.apps.brands.application import Brands
    from penstock.apps.brands.rows import CompileRun
    from penstock.cli.site import Site

Function = TypeVar("Function", bound=Callable[..., Any])
PROMPT_VERSION = "v1"

command = Noun("brand", help="Brands: compile what their sources say; each paid run is bought once.")


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
    made = _brands(site, tenant).add(tenant, name, _answers(file) | pairs(texts, what="--answer"))
    site.out.show(shapes.brand(made), made.id)
    _next(site, f"penstock brand connect {made.id} instagram.posts HANDLE", tenant)


@command.command("list")
@for_tenant
@click.pass_obj
def list_(site: Site, tenant: str) -> None:
    """List the brands of a tenant."""
    found, now = _brands(site, tenant).list(tenant), site.store.now()
    rows = [(one.id, one.name, len(one.answers), site.out.when(one.created_at, now)) for one in found]
    document = {"brands": [shapes.brand(one) for one in found]}
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
    made = _brands(site, tenant).connect(
        tenant, brand, platform, capability, identifier, settings, enabled=not disabled
    )
    site.out.show(shapes.connection(made), f"{made.source} {made.identifier}: {made.id}")
    _next(site, f"penstock brand compile {brand} --plan", tenant)


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
    site: Site, /, brand: str, tenant: str, *, plan: bool, wait: bool, timeout: float | None, **said: Any
) -> None:
    """Compile a BRAND: refresh what is stale, then make a new snapshot. Prints the id of the compile."""
    brands = _brands(site, tenant)
    if plan:
        planned = brands.plan(tenant, brand, force_refresh=said["force_refresh"])
        document = {"brand": brand, "sources": [asdict(one) for one in planned]}
        site.out.show(document, shapes.plan_table(planned))
        return
    run = brands.compile(tenant, brand, **said)
    if run.job_id and not run.is_over:
        warn(site, run.job_id)
    if not wait:
        site.out.show(shapes.run(run), run.id)
        _next(site, f"penstock brand status {run.id}", tenant)
        return
    from penstock.cli.brands_waiting import require_success, wait_for_compile  # noqa: PLC0415 - only to wait

    ended = wait_for_compile(site.out, brands, run, timeout)
    site.out.show(shapes.status(ended, _snapshot_number(site, run)), shapes.source_table(ended))
    require_success(ended)
    _next(site, f"penstock brand show {brand}", tenant)


@command.command("status")
@click.argument("target", metavar="COMPILE|BRAND")
@for_tenant
@click.pass_obj
def status(site: Site, target: str, tenant: str) -> None:
    """Say how far a compile is and what became of each source; of a brand, its newest compile."""
    told = _brands(site, tenant).status(tenant, target)
    run, now = told.run, site.store.now()
    fields = Fields(
        [
            ("compile", run.id),
            ("brand", run.brand_id),
            ("status", run.status),
            ("asked", site.out.when(run.created_at, now)),
            ("finished", site.out.when(run.finished_at, now)),
            ("snapshot", number := _snapshot_number(site, run)),
            ("error", run.error),
        ]
    )
    site.out.show(shapes.status(told, number), fields, "", shapes.source_table(told))
    if not run.is_over and run.job_id:
        site.out.next_step(f"penstock job why {run.job_id}")


@command.command("show")
@click.argument("brand")
@click.option("--number", type=click.IntRange(min=1), help="This snapshot instead of the newest.")
@for_tenant
@click.pass_obj
def show(site: Site, brand: str, number: int | None, tenant: str) -> None:
    """Show a snapshot of a BRAND: every statement, and how many items it rests on. With --json, all of them."""
    document = _brands(site, tenant).snapshot(tenant, brand, number)
    site.out.show(document, *shapes.snapshot_lines(document))


@command.command("diff")
@click.argument("brand")
@click.argument("old", type=click.IntRange(min=1), required=False)
@click.argument("new", type=click.IntRange(min=1), required=False)
@for_tenant
@click.pass_obj
def diff_(site: Site, brand: str, old: int | None, new: int | None, tenant: str) -> None:
    """Compare two snapshots of a BRAND: the last two, or the OLD one with the NEW one or the newest, by number."""
    from penstock.apps.brands.diff import diff  # noqa: PLC0415 - only this command needs it

    brands = _brands(site, tenant)
    later = brands.snapshot(tenant, brand, new)
    if old is None and later["number"] == 1:
        hint = f"Compile it again: penstock brand compile {brand}"
        raise Refused("The brand has one snapshot, and nothing to compare it with.", hint=hint)
    earlier = brands.snapshot(tenant, brand, old or later["number"] - 1)
    found = diff(earlier, later)
    items = f"{len(found.evidence_added)} items came, {len(found.evidence_removed)} went."
    numbers = {"old": earlier["number"], "new": later["number"]}
    told = f"Snapshot {numbers['old']} and snapshot {numbers['new']}: {items}"
    site.out.show(numbers | found.document(), shapes.change_table(found), told)


@command.command("remove")
@click.argument("brand")
@click.option("--yes", is_flag=True, help="Do not ask.")
@for_tenant
@click.pass_obj
def remove(site: Site, brand: str, tenant: str, *, yes: bool) -> None:
    """Remove a BRAND with everything that was found for it; running work is cancelled, its events stay."""
    brands = _brands(site, tenant)
    name = next((one.name for one in brands.list(tenant) if one.id == brand), brand)
    if not yes:
        _confirm(name)
    rows = brands.remove(tenant, brand)
    site.out.show({"brand": brand, "rows": rows}, f"{name} is removed, with {rows} rows.")


@command.command("prune")
@click.option("--dry-run", is_flag=True, help="Only say how much would go.")
@click.pass_obj
def prune(site: Site, *, dry_run: bool) -> None:
    """Remove the raw items of runs that ended long ago, of all tenants; what was made of them stays.

    A worker does it every hour. How long they are kept is the setting brands_keep_raw_seconds.
    """
    gone = _brands(site, DEFAULT_TENANT).upkeep.prune(dry_run=dry_run)
    verb = "would go" if dry_run else "are gone"
    site.out.show(asdict(gone) | {"dry_run": dry_run}, f"{gone.items} raw items of {gone.runs} runs {verb}.")


def _brands(site: Site, tenant: str) -> Brands:
    """The application; a new database is said to be made, and a tenant that cannot be one is refused."""
    check_name("tenant", tenant)
    brands: Brands = site.application("brands")
    _ = site.store  # opened here, so that a new file is told of
    return brands


def _next(site: Site, command: str, tenant: str) -> None:
    """What to type next, for the same tenant."""
    site.out.next_step(command if tenant == DEFAULT_TENANT else f"{command} --tenant {tenant}")


def _snapshot_number(site: Site, run: CompileRun) -> int | None:
    """The number of the snapshot that a compile made: the result of its job."""
    job = site.store.listing.find(run.job_id or "", run.tenant)
    result = json.loads(job.result) if job is not None and job.result else {}
    number: int | None = result.get("snapshot")
    return number


def _answers(file: IO[bytes] | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        said = json.load(file)
    except (ValueError, RecursionError) as error:
        raise InvalidValue("--answers", file.name, f"is no JSON: {error}") from None
    if not isinstance(said, dict):
        raise InvalidValue("--answers", file.name, "is no JSON object of answers by question")
    return said


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _confirm(name: str) -> None:
    if not sys.stdin.isatty():
        raise Refused(f"This would remove {name}, and nobody is here to be asked.", hint="Add --yes.")
    if not click.confirm(f"Remove {name} with everything that was found for it?", err=True):
        raise Refused("Nothing was changed.")
