"""`haulwright bulk`: one act on all jobs of a filter, as a durable job with progress that can be stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from haulwright.cli.filters import filter_options, job_query
from haulwright.cli.kit.options import confirm, page_options
from haulwright.cli.kit.output import Fields
from haulwright.cli.kit.params import JOB_ID
from haulwright.cli.kit.verbs import NounGroup
from haulwright.operations.bulk_order import ACTS
from haulwright.operations.views import bulk as views
from haulwright.operations.views.jobs import JOB_COLUMNS

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site

command = NounGroup("bulk", help="One act on many jobs, as a durable job.", makes_database=())


@command.command("start")
@click.argument("act", type=click.Choice(ACTS))
@filter_options
@click.option("--dry-run", is_flag=True, help="Say how many, with the newest of them, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask first.")
@click.option("--fresh", is_flag=True, help="Of a requeue: what was recorded as done may be done again.")
@click.option("--reason", default="", help="Why; it is recorded.")
@click.pass_obj
def start(site: Site, /, act: str, where: tuple[str, ...], **options: Any) -> None:
    """Requeue, cancel or retry all jobs that a filter finds up to now. A worker does it; this prints the id."""
    dry_run, yes, fresh, reason = (options.pop(name) for name in ("dry_run", "yes", "fresh", "reason"))
    bulk, text = site.operations(site.principal(reason)).bulk, str(job_query(where, **options))
    preview = bulk.preview(act, text, fresh=fresh)
    what = f"{act} {preview.count}{'+' if preview.more else ''} job{'' if preview.count == 1 else 's'}"
    if preview.problem and not site.out.as_json:
        site.out.note(f"Nobody would run it now: {preview.problem}.")
    if dry_run:
        table = site.out.table(JOB_COLUMNS, preview.sample, now=site.now(), empty="No jobs.")
        site.out.show(views.bulk_preview_view(preview), table, f"This would {what}. Nothing was changed.")
        return
    if not yes:
        confirm(what, f"{what.capitalize()}?", hint="Add --yes, or look first with --dry-run.")
    action = bulk.start(act, text, fresh=fresh)
    site.out.show(views.bulk_action_view(action), action.job.id)
    site.out.next_step(f"haulwright bulk show {action.job.id}")


@command.command("list")
@page_options(default=20)
@click.pass_obj
def list_(site: Site, limit: int, after: str | None) -> None:
    """List bulk actions, the newest first, and how far they are."""
    page = site.operations().bulk.page(after=after, limit=limit)
    site.show_page(views.bulk_page_view(page), views.BULK_COLUMNS, page.rows, page.next, empty="No bulk actions.")


@command.command("show")
@click.argument("job_id", type=JOB_ID, metavar="ID")
@click.pass_obj
def show(site: Site, job_id: str) -> None:
    """Show one: how many jobs are done, how many it found, and which it left as they are."""
    document = views.bulk_action_view(site.operations().bulk.get(job_id))
    site.out.show(document, Fields([*document.items()]))


@command.command("stop")
@click.argument("job_id", type=JOB_ID, metavar="ID")
@click.option("--reason", default="stopped on request", show_default=True, help="Why; it is recorded.")
@click.pass_obj
def stop(site: Site, job_id: str, reason: str) -> None:
    """Have no further page of jobs begin. What was done stays done."""
    action = site.operations().bulk.stop(job_id, reason)
    site.out.show(views.bulk_action_view(action), f"It is stopped after {views.far(action)}.")
