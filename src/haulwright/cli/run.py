"""`haulwright run`: enqueue a job from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from haulwright.cli.kit.params import DURATION, pairs, task_names
from haulwright.cli.kit.verbs import Verb
from haulwright.errors import JobFailed
from haulwright.operations.views.jobs import enqueued_view, job_view

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site
    from haulwright.operations.jobs import JobOperations

WORTH_SAYING = frozenset({"no_worker", "queue_paused", "unknown_task"})
"""Reasons for which a fresh job would wait without anybody noticing."""
HEADER_HELP = (
    "A header, such as traceparent=..., that the job and the jobs it enqueues carry; may be given several times."
)


class _Run(Verb):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say how an argument of the task is given, where one was given as an option."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            message = f"{error.message} What the task takes is given without dashes, as name=value."
            raise click.NoSuchOption(error.option_name, message, error.possibilities, error.ctx) from None


@click.command("run", cls=_Run)
@click.argument("task", shell_complete=task_names)
@click.argument("arguments", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--wait", is_flag=True, help="Wait for the job and print its result.")
@click.option("--timeout", type=DURATION, metavar="TIME", help="With --wait: not longer than this; the job goes on.")
@click.option("--tenant", help="The tenant that the job belongs to.")
@click.option("--queue", help="Another queue than the task's.")
@click.option("--priority", type=int, help="From -100 to 100, higher first.")
@click.option("--delay", type=DURATION, metavar="TIME", help="Not before this time has passed.")
@click.option("--key", "job_key", help="Plan it once: a second job under this key is not made.")
@click.option("--correlation-id", metavar="ID", help="The ticket or trace that the job carries.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be given several times.")
@click.option("--header", "headers", multiple=True, metavar="NAME=VALUE", help=HEADER_HELP)
@click.pass_obj
def command(  # noqa: PLR0913 - the options of the command, each with a name
    site: Site,
    /,
    task: str,
    arguments: tuple[str, ...],
    *,
    headers: tuple[str, ...],
    wait: bool,
    timeout: float | None,
    **options: Any,
) -> None:
    """Enqueue a job of TASK with these arguments and print its id.

    A value that is JSON is taken as such (n=3, on=true, sku='["A1"]'), everything else as text; where the task asks
    for text, n=3 is the text 3. Arguments are checked against the task's signature before anything is written.
    """
    jobs = site.app.operations(site.principal()).jobs
    signature = site.app.find(task).signature
    names = signature.names[1:] if signature.takes_context else signature.names
    hint = f"Write its name before it, as in {names[0]}=3." if names else "The task takes none."
    values = jobs.arguments(task, pairs(arguments, what="argument", hint=hint))
    header_texts = pairs(headers, what="--header", conceal=True)
    with site.mention_new_file():
        enqueued = jobs.enqueue(task, values, headers=header_texts, **options)
    if not enqueued.created:
        site.out.note("It was planned before: this is the job that stands for it.")
    warn(site, enqueued.id)
    if wait:
        _wait(site, jobs, enqueued.id, timeout)
    else:
        site.out.show(enqueued_view(enqueued), enqueued.id)


def warn(site: Site, job_id: str, *, ready_app: str = "") -> None:
    """Say so where a fresh job would wait without anybody noticing: nobody works on its queue, or knows its task.

    `ready_app` has its task, and is named where the command was given no app.
    """
    why = site.operations().jobs.why(job_id)
    if why.code in WORTH_SAYING and not site.out.as_json:
        site.out.note(f"It waits: {why.sentence}.")
        app = f" -A {ready_app}" if ready_app and not site.names_app else ""
        site.out.next_step(why.next_step.replace("haulwright worker", f"haulwright worker{app}"))


def _wait(site: Site, jobs: JobOperations, job_id: str, timeout: float | None) -> None:
    try:
        job = jobs.wait(job_id, timeout)
    except JobFailed:
        site.out.show(job_view(jobs.get(job_id)))
        raise
    except KeyboardInterrupt:
        site.out.note(f"The job {job_id} goes on.")
        site.out.next_step(f"haulwright job show {job_id}")
        raise
    site.out.show(job_view(job), job.result or "null")
