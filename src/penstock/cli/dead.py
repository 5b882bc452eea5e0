"""`penstock dead` (or `dlq`): dead letters, listed, counted and requeued."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import shapes
from penstock.cli.filters import filter_options, job_filter
from penstock.cli.jobs import HEADERS, LATEST, SPARE, table_row
from penstock.cli.output import Table
from penstock.cli.params import JOB_ID
from penstock.cli.verbs import Noun
from penstock.client.principal import Principal
from penstock.engine.transitions import State
from penstock.errors import PenstockError, Refused
from penstock.stores.listing import PAGE_LIMIT, JobFilter

if TYPE_CHECKING:
    from penstock.cli.site import Site
    from penstock.client.desk import Desk

BULK_LIMIT = 10_000
FRESH_WARNING = (
    "With --fresh the new jobs have new keys: effects that were recorded are not reused, and may happen again."
)

command = Noun("dead", help="Dead letters: list, count, requeue.")


@command.command("list")
@filter_options
@click.option("--requeued", is_flag=True, help="Also those that were requeued already.")
@click.option("--limit", default=LATEST, show_default=True, help=f"At most so many, up to {PAGE_LIMIT}.")
@click.option("--after", type=JOB_ID, metavar="ID", help="Those after this job: what `next` of the page before says.")
@click.pass_obj
def list_(site: Site, /, where: tuple[str, ...], *, requeued: bool, limit: int, after: str | None, **said: Any) -> None:
    """List dead letters that nobody requeued yet, the newest first."""
    page = site.desk().page(_letters(where, said, requeued=requeued), after=after, limit=limit)
    now = site.store.now()
    rows = [table_row(site.out, job, now) for job in page.jobs]
    site.out.show(shapes.jobs(page), Table(HEADERS, rows, "No dead letters.", SPARE))
    if page.next and not site.out.as_json:
        site.out.note(f"There are more: add --after {page.next}")


@command.command("counts")
@click.option("--tenant", help="Only those of this tenant.")
@click.pass_obj
def counts(site: Site, tenant: str | None) -> None:
    """Count the dead letters that wait for somebody, by tenant and error code."""
    found = site.store.listing.dead_counts(tenant)
    document = [{"tenant": owner, "error_code": code, "count": count} for owner, code, count in found]
    rows = [(owner, code or "-", count) for owner, code, count in found]
    site.out.show({"counts": document}, Table(("tenant", "error code", "count"), rows, "No dead letters."))


@command.command("requeue")
@click.argument("ids", nargs=-1, type=JOB_ID, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help=f"All that match the filter, up to {BULK_LIMIT}.")
@filter_options
@click.option("--dry-run", is_flag=True, help="Say which, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before --all.")
@click.option("--fresh", is_flag=True, help="Take new job keys: what was recorded as done may be done again.")
@click.option("--reason", default="", help="Why; it is recorded.")
@click.option("--correlation-id", metavar="ID", help="The ticket or trace that the new jobs carry.")
@click.option("--as-support", metavar="NAME", help="Act as support for --tenant, with --reason.")
@click.pass_obj
def requeue(  # noqa: PLR0913 - the options of the command, each with a name
    site: Site,
    /,
    ids: tuple[str, ...],
    where: tuple[str, ...],
    *,
    everything: bool,
    dry_run: bool,
    yes: bool,
    fresh: bool,
    reason: str,
    correlation_id: str | None,
    as_support: str | None,
    **said: Any,
) -> None:
    """Give dead letters another life, each as a new job that is linked to it. It can be done once for each."""
    if bool(ids) is everything:
        raise click.UsageError("Name the dead letters by their ids, or say --all.")
    if ids and (where or any(value for name, value in said.items() if name != "tenant")):
        raise click.UsageError("A filter goes with --all, not with ids.")
    wanted = _letters(where, said, requeued=False)
    desk = site.desk(_principal(site, as_support, said["tenant"], reason))
    chosen = list(ids) if ids else list(_ids(desk, wanted))
    if dry_run:
        told = f"{len(chosen)} would be requeued. Nothing was changed."
        site.out.show({"would_requeue": chosen}, *chosen, told)
        return
    if fresh:
        site.out.note(FRESH_WARNING)
    if everything and chosen and not yes:
        _confirm(len(chosen))
    _requeue(site, desk, chosen, correlation_id, fresh=fresh)


def _requeue(site: Site, desk: Desk, chosen: list[str], correlation_id: str | None, *, fresh: bool) -> None:
    """Requeue one by one: what cannot be is told, and the others go on."""
    done: list[dict[str, str]] = []
    refused: list[tuple[str, PenstockError]] = []
    for job_id in site.out.progress(chosen, "requeue", len(chosen)):
        try:
            made = desk.requeue(job_id, correlation_id=correlation_id, fresh=fresh)
        except PenstockError as error:
            if len(chosen) == 1:
                raise
            refused.append((job_id, error))
        else:
            done.append({"id": made.id, "requeued_from": job_id})
    problems = [{"id": job_id, "code": e.code, "message": e.message, "hint": e.hint} for job_id, e in refused]
    document = {"requeued": done, "refused": problems}
    site.out.show(
        document, Table(("new job", "dead letter"), [tuple(one.values()) for one in done], "Nothing was requeued.")
    )
    for one in problems:
        site.out.note(f"Left as it is: {one['message']}")
    if refused:
        click.get_current_context().exit(refused[0][1].exit_code)


def _letters(where: tuple[str, ...], said: dict[str, Any], *, requeued: bool) -> JobFilter:
    wanted = job_filter(where, **said)
    return replace(wanted, state=State.DEAD, not_requeued=not requeued)


def _ids(desk: Desk, wanted: JobFilter) -> Iterator[str]:
    """The ids of all that match, page by page, up to the bound."""
    after: str | None = None
    for _ in range(BULK_LIMIT // PAGE_LIMIT):
        page = desk.page(wanted, after=after, limit=PAGE_LIMIT)
        yield from (job.id for job in page.jobs)
        after = page.next
        if after is None:
            return


def _principal(site: Site, as_support: str | None, tenant: str | None, reason: str) -> Principal:
    if as_support is None:
        return site.principal(reason)
    if tenant is None:
        raise Refused("Support acts for one tenant, and none is named.", hint="Add --tenant.")
    return Principal.support(as_support, tenant=tenant, reason=reason)


def _confirm(count: int) -> None:
    if not sys.stdin.isatty():
        message = f"This would requeue {count} dead letters, and nobody is here to be asked."
        raise Refused(message, hint="Add --yes, or look first with --dry-run.")
    if not click.confirm(f"Requeue {count} dead letters?", err=True):
        raise Refused("Nothing was changed.")
