"""`haulwright job`: look at jobs, ask why one does not run, retry and cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from haulwright.cli.filters import filter_options, job_query
from haulwright.cli.kit.options import page_options
from haulwright.cli.kit.output import Fields, Table
from haulwright.cli.kit.params import JOB_ID
from haulwright.cli.kit.verbs import NounGroup
from haulwright.engine.outcome import frame_lines, read_frames
from haulwright.engine.transitions import STATE_WORDS, State
from haulwright.operations.views.effects import EFFECT_COLUMNS
from haulwright.operations.views.events import TIMELINE_COLUMNS
from haulwright.operations.views.jobs import (
    JOB_COLUMNS,
    cancelled_view,
    job_detail_view,
    job_view,
    job_why_view,
    jobs_view,
    retried_view,
    state_word,
)
from haulwright.visible import visible_line

if TYPE_CHECKING:
    from haulwright.cli.kit.output import Out
    from haulwright.cli.kit.site import Site
    from haulwright.engine.job import Job

LATEST = 20

command = NounGroup("job", help="Look at jobs, and ask why one does not run.", makes_database=())


@command.command("list")
@click.option("--state", type=click.Choice(STATE_WORDS), help="Only those in this state.")
@filter_options
@click.option("--stuck", is_flag=True, help="Only running jobs whose lease has run out, the first that ran out first.")
@page_options(default=LATEST)
@click.pass_obj
def list_(site: Site, /, where: tuple[str, ...], *, stuck: bool, limit: int, after: str | None, **options: Any) -> None:
    """List jobs, the newest first, with holder, heartbeat, times and error."""
    query = job_query(where, **options)
    jobs = site.operations().jobs
    page = (jobs.stuck if stuck else jobs.page)(query, after=after, limit=limit)
    site.show_page(jobs_view(page), JOB_COLUMNS, page.jobs, page.next, empty="No jobs.")


@command.command("show")
@click.argument("job_id", type=JOB_ID, metavar="ID")
@click.pass_obj
def show(site: Site, job_id: str) -> None:
    """Show one job with every attempt, every effect, and where it stands."""
    operations = site.operations()
    jobs, now = operations.jobs, operations.now()
    job, why = jobs.get(job_id), jobs.why(job_id)
    events, effects = jobs.timeline(job_id), operations.effects.of_job(job_id)
    parts: list[Table | Fields | str] = [
        Fields(_described(site.out, job, now)),
        *_traced(job),
        f"\n{why.sentence}\n",
        site.out.table(TIMELINE_COLUMNS, events.rows, now=now),
    ]
    if effects.rows:
        parts += ["", site.out.table(EFFECT_COLUMNS, effects.rows, now=now)]
    site.out.show(job_detail_view(job, events, effects, why), *parts)
    for listing, cursor in (("event list --job", events.next), ("effect list", effects.next)):
        if cursor and not site.out.as_json:
            site.out.note(site.typable(f"There are more: haulwright {listing} {job_id} --after {cursor}"))
    site.out.next_step(why.next_step)


@command.command("why")
@click.argument("job_id", type=JOB_ID, metavar="ID")
@click.pass_obj
def why_(site: Site, job_id: str) -> None:
    """Say in one sentence why a job does not run, or where it stands, and what to do next."""
    why = site.operations().jobs.why(job_id)
    site.out.show(job_why_view(job_id, why), why.sentence)
    site.out.next_step(why.next_step)


@command.command("retry")
@click.argument("job_id", type=JOB_ID, metavar="ID")
@click.option("--reason", default="", help="Why; it is recorded.")
@click.pass_obj
def retry(site: Site, job_id: str, reason: str) -> None:
    """Run a job again now: one that waits is due at once, a dead one gets another life.

    What it waited for does not matter: a retry, a snooze, a later time. Its attempts and its deadline stay as they are.
    For a dead letter this is the same as `dead requeue ID`, and prints the id of the new job.
    """
    outcome = site.operations(site.principal(reason)).jobs.retry(job_id)
    sentence = "It is due now." if outcome.changed else "It is due already: the next free worker takes it."
    site.out.show(retried_view(outcome), outcome.id if outcome.requeued_from else sentence)


@command.command("cancel")
@click.argument("job_id", type=JOB_ID, metavar="ID")
@click.option("--reason", default="cancelled on request", show_default=True, help="Why; it is recorded.")
@click.pass_obj
def cancel(site: Site, job_id: str, reason: str) -> None:
    """Cancel a job: at once where it waits, by a signal to its run where it runs."""
    state = site.operations().jobs.cancel(job_id, reason)
    sentence = (
        "It was cancelled."
        if state is State.CANCELLED
        else "It runs, and was asked to stop: it hears so when its lease is renewed."
    )
    site.out.show(cancelled_view(job_id, state), sentence)


def _traced(job: Job) -> list[str]:
    """The lines of code behind the last error, where they are known."""
    lines = frame_lines(read_frames(job.error_frames))
    return ["", "The last error came through:", *(f"  {visible_line(line)}" for line in lines)] if lines else []


def _described(out: Out, job: Job, now: int) -> list[tuple[str, object]]:
    document = job_view(job)
    moments = {name: out.when(getattr(job, name), now) for name in document if name.endswith("_at")}
    fields = {
        **document,
        **moments,
        "state": state_word(job),
        "tags": ", ".join(document["tags"]),
        "headers": ", ".join(f"{name}={value}" for name, value in document["headers"].items()),
        "error": f"{job.error_class} ({job.error_code}): {job.error_message}" if document["error"] else None,
    }
    return list(fields.items())
