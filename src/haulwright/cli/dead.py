"""`haulwright dead` (or `dlq`): dead letters, listed, counted and requeued."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from haulwright.cli.filters import filter_options, job_query
from haulwright.cli.jobs import LATEST
from haulwright.cli.kit.options import confirm, page_options
from haulwright.cli.kit.params import JOB_ID
from haulwright.cli.kit.verbs import NounGroup
from haulwright.errors import Refused
from haulwright.operations.dead_letters import BULK_LIMIT, DeadLetterIds, Requeued, RequeueRefused
from haulwright.operations.principal import Principal
from haulwright.operations.views.dead_letters import (
    DEAD_COUNT_COLUMNS,
    REQUEUED_COLUMNS,
    dead_counts_view,
    requeue_view,
    would_requeue_view,
)
from haulwright.operations.views.jobs import JOB_COLUMNS, jobs_view
from haulwright.stores.paging import PAGE_LIMIT

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site

FRESH_WARNING = (
    "With --fresh the new jobs have new keys: effects that were recorded are not reused, and may happen again."
)

command = NounGroup("dead", help="Dead letters: list, count, requeue.", makes_database=())


@command.command("list")
@filter_options
@click.option("--requeued", is_flag=True, help="Also those that were requeued already.")
@page_options(default=LATEST)
@click.pass_obj
def list_(
    site: Site, /, where: tuple[str, ...], *, requeued: bool, limit: int, after: str | None, **options: Any
) -> None:
    """List dead letters that nobody requeued yet, the newest first."""
    letters = site.operations().dead_letters
    page = letters.page(job_query(where, **options), requeued=requeued, after=after, limit=limit)
    site.show_page(jobs_view(page), JOB_COLUMNS, page.jobs, page.next, empty="No dead letters.")


@command.command("counts")
@click.option("--tenant", help="Only those of this tenant.")
@page_options(default=PAGE_LIMIT)
@click.pass_obj
def counts(site: Site, tenant: str | None, limit: int, after: str | None) -> None:
    """Count the dead letters that wait for somebody, by tenant and error code, the most first."""
    page = site.operations().dead_letters.counts(tenant, after=after, limit=limit)
    site.show_page(dead_counts_view(page), DEAD_COUNT_COLUMNS, page.rows, page.next, empty="No dead letters.")


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
    **options: Any,
) -> None:
    """Give dead letters another life, each as a new job that is linked to it. It can be done once for each."""
    if bool(ids) is everything:
        raise click.UsageError("Name the dead letters by their ids, or say --all.")
    if ids and (where or any(value for name, value in options.items() if name != "tenant")):
        raise click.UsageError("A filter goes with --all, not with ids.")
    letters = site.operations(_principal(site, as_support, options["tenant"], reason)).dead_letters
    selection = DeadLetterIds([*ids], more=False) if ids else letters.ids(job_query(where, **options))
    if selection.more:
        site.out.note(f"There are more than {len(selection.ids)}: these first, then say it again.")
    if dry_run:
        sentence = f"{len(selection.ids)} would be requeued. Nothing was changed."
        site.out.show(would_requeue_view(selection), *selection.ids, sentence)
        return
    if fresh:
        site.out.note(FRESH_WARNING)
    if everything and selection.ids and not yes:
        count = f"{len(selection.ids)} dead letter{'s' if len(selection.ids) > 1 else ''}"
        confirm(f"requeue {count}", f"Requeue {count}?", hint="Add --yes, or look first with --dry-run.")
    outcomes = letters.requeue_many(selection.ids, correlation_id=correlation_id, fresh=fresh)
    _show(site, [*site.out.progress(outcomes, "requeue", len(selection.ids))])


def _show(site: Site, outcomes: list[Requeued | RequeueRefused]) -> None:
    """What became of each: a single one that was refused is the error of the command, of several it is told."""
    successors = [outcome for outcome in outcomes if isinstance(outcome, Requeued)]
    refusals = [outcome for outcome in outcomes if isinstance(outcome, RequeueRefused)]
    if refusals and len(outcomes) == 1:
        raise refusals[0].error
    table = site.out.table(REQUEUED_COLUMNS, successors, empty="Nothing was requeued.")
    site.out.show(requeue_view(outcomes), table)
    for refusal in refusals:
        site.out.note(f"Left as it is: {refusal.error.message}")
    if refusals:
        click.get_current_context().exit(refusals[0].error.exit_code)


def _principal(site: Site, as_support: str | None, tenant: str | None, reason: str) -> Principal:
    if as_support is None:
        return site.principal(reason)
    if tenant is None:
        raise Refused("Support acts for one tenant, and none is named.", hint="Add --tenant.")
    return Principal.support(as_support, tenant=tenant, reason=reason)
