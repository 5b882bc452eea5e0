"""`penstock job`: look at jobs, ask why one does not run, retry and cancel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import shapes
from penstock.cli.filters import filter_options, job_filter
from penstock.cli.output import Fields, Table
from penstock.cli.params import JOB_ID
from penstock.cli.verbs import Noun
from penstock.engine.transitions import State
from penstock.stores.listing import PAGE_LIMIT, JobFilter, Page

if TYPE_CHECKING:
    from penstock.cli.output import Out
    from penstock.cli.site import Site
    from penstock.client.desk import Desk
    from penstock.engine.job import Job
    from penstock.events import Event
    from penstock.stores.effects import EffectRow

LATEST = 20
ERROR_CHARS = 60
"""How much of an error a table shows; `job show` has the rest."""
HEADERS = (
    "id",
    "state",
    "task",
    "tenant",
    "queue",
    "attempts",
    "created",
    "due",
    "finished",
    "holder",
    "heartbeat",
    "error",
)
SPARE = ("heartbeat", "queue", "created", "tenant", "holder", "finished", "attempts", "due")
EVENT_HEADERS = ("event", "when", "attempt", "fence", "by", "what")
EFFECT_HEADERS = ("effect", "kind", "state", "tries", "begun", "settled", "key")

command = Noun("job", help="Look at jobs, and ask why one does not run.")


@command.command("list")
@click.option("--state", type=click.Choice([str(state) for state in State]), help="Only those in this state.")
@filter_options
@click.option("--stuck", is_flag=True, help="Only running jobs whose lease has run out, the longest silent first.")
@click.option("--limit", default=LATEST, show_default=True, help=f"At most so many, up to {PAGE_LIMIT}.")
@click.option("--after", type=JOB_ID, metavar="ID", help="Those after this job: what `next` of the page before says.")
@click.pass_obj
def list_(site: Site, /, where: tuple[str, ...], *, stuck: bool, limit: int, after: str | None, **said: Any) -> None:
    """List jobs, the newest first, with holder, heartbeat, times and error."""
    wanted = job_filter(where, **said)
    desk, now = site.desk(), site.store.now()
    page = stuck_jobs(desk, wanted, now, limit) if stuck else desk.page(wanted, after=after, limit=limit)
    rows = [table_row(site.out, job, now) for job in page.jobs]
    site.out.show(shapes.jobs(page), Table(HEADERS, rows, "No jobs.", SPARE))
    if page.next and not site.out.as_json:
        site.out.note(f"There are more: add --after {page.next}")


@command.command("show")
@click.argument("job_id", type=JOB_ID, metavar="ID")
@click.pass_obj
def show(site: Site, job_id: str) -> None:
    """Show one job with every attempt, every effect, and where it stands."""
    desk = site.desk()
    job, told = desk.get(job_id), desk.why(job_id)
    timeline, effects = desk.timeline(job_id), desk.effects(job_id)
    document = shapes.job(job) | {
        "events": [shapes.event(event) for event in timeline],
        "effects": [shapes.effect(effect) for effect in effects],
        "why": shapes.why(told),
    }
    now = site.store.now()
    parts: list[Table | Fields | str] = [
        Fields(_described(site.out, job, now)),
        f"\n{told.sentence}\n",
        Table(EVENT_HEADERS, [_event_row(site.out, one, now) for one in timeline], spare=("fence", "by")),
    ]
    if effects:
        parts += ["", Table(EFFECT_HEADERS, [effect_row(site.out, one, now) for one in effects])]
    site.out.show(document, *parts)
    site.out.next_step(told.next_step)


@command.command("why")
@click.argument("job_id", type=JOB_ID, metavar="ID")
@click.pass_obj
def why(site: Site, job_id: str) -> None:
    """Say in one sentence why a job does not run, or where it stands, and what to do next."""
    told = site.desk().why(job_id)
    site.out.show({"id": job_id, **shapes.why(told)}, told.sentence)
    site.out.next_step(told.next_step)


@command.command("retry")
@click.argument("job_id", type=JOB_ID, metavar="ID")
@click.option("--reason", default="", help="Why; it is recorded.")
@click.pass_obj
def retry(site: Site, job_id: str, reason: str) -> None:
    """Run a job again now: one that waits is due at once, a dead one gets another life.

    What it waited for does not matter: a retry, a snooze, a later time. Its attempts and its deadline stay as they are.
    For a dead letter this is the same as `dead requeue ID`, and prints the id of the new job.
    """
    desk = site.desk(site.principal(reason))
    if desk.get(job_id).state is State.DEAD:
        made = desk.requeue(job_id)
        site.out.show({"id": made.id, "requeued_from": job_id, "changed": True}, made.id)
        return
    changed = desk.retry(job_id)
    told = "It is due now." if changed else "It is due already: the next free worker takes it."
    site.out.show({"id": job_id, "requeued_from": None, "changed": changed}, told)


@command.command("cancel")
@click.argument("job_id", type=JOB_ID, metavar="ID")
@click.option("--reason", default="cancelled on request", show_default=True, help="Why; it is recorded.")
@click.pass_obj
def cancel(site: Site, job_id: str, reason: str) -> None:
    """Cancel a job: at once where it waits, by a signal to its run where it runs."""
    state = site.desk().cancel(job_id, reason)
    told = (
        "It was cancelled."
        if state is State.CANCELLED
        else "It runs, and was asked to stop: it hears so when its lease is renewed."
    )
    site.out.show({"id": job_id, "state": str(state)}, told)


def table_row(out: Out, job: Job, now: int) -> tuple[str, ...]:
    """A job as a line of a table."""
    due = out.when(job.run_at, now) if job.state is State.QUEUED else ""
    error = " ".join((job.error_message or job.reason or "").split())
    return (
        job.id,
        state_word(job),
        job.task,
        job.tenant,
        job.queue,
        f"{job.attempts}/{job.max_attempts}",
        out.when(job.created_at, now),
        due,
        out.when(job.finished_at, now),
        job.lease_owner or job.worker_id or "",
        out.when(job.heartbeat_at, now),
        error if len(error) <= ERROR_CHARS else f"{error[:ERROR_CHARS]}…",
    )


def effect_row(out: Out, row: EffectRow, now: int) -> tuple[object, ...]:
    """An effect as a line of a table."""
    return (
        row.name,
        row.kind,
        row.state,
        row.tries,
        out.when(row.started_at, now),
        out.when(row.settled_at, now),
        row.key,
    )


def state_word(job: Job) -> str:
    """The state as people see it: a queued job that ran before is retrying."""
    return "retrying" if job.state is State.QUEUED and job.attempts else str(job.state)


def stuck_jobs(desk: Desk, wanted: JobFilter, now: int, limit: int) -> Page:
    """Running jobs whose lease has run out, those without a sign of life for longest first."""
    found: list[Job] = []
    after: str | None = None
    while True:
        page = desk.page(replace(wanted, state=State.RUNNING), after=after, limit=PAGE_LIMIT)
        found += [job for job in page.jobs if job.lease_expires_at is not None and job.lease_expires_at < now]
        after = page.next
        if after is None:
            return Page(sorted(found, key=lambda job: job.heartbeat_at or 0)[:limit], None)


def _described(out: Out, job: Job, now: int) -> list[tuple[str, object]]:
    document = shapes.job(job)
    moments = {name: out.when(getattr(job, name), now) for name in document if name.endswith("_at")}
    said = {
        **document,
        **moments,
        "state": state_word(job),
        "tags": ", ".join(document["tags"]),
        "error": f"{job.error_class} ({job.error_code}): {job.error_message}" if document["error"] else None,
    }
    return list(said.items())


def _event_row(out: Out, event: Event, now: int) -> tuple[object, ...]:
    told = {name: value for name, value in event.data.items() if name not in {"job_id", "attempt", "worker"}}
    what = " ".join(f"{name}={value}" for name, value in told.items() if value is not None)
    by = event.actor or event.worker or ""
    return (event.name, out.when(event.at, now), event.attempt or "", event.fence or "", by, what)
