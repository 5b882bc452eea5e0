"""`penstock worker`: run jobs."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.exits import Exit
from penstock.cli.output import Table
from penstock.cli.params import DURATION
from penstock.cli.times import iso
from penstock.cli.verbs import Verb
from penstock.errors import InvalidValue

if TYPE_CHECKING:
    from penstock.cli.site import Site
    from penstock.settings import Settings

FORMATS = ("text", "json")
FLAGS = {
    "queues": "queues",
    "concurrency": "concurrency",
    "poll_interval": "poll_interval_seconds",
    "stale_check_interval": "stale_check_interval_seconds",
    "grace": "grace_seconds",
    "name": "worker_name",
    "log_format": "log_format",
}
"""The flags that stand above a setting, and which."""


@click.command("worker", cls=Verb)
@click.option("--queues", metavar="NAMES", help="The queues to serve, comma separated, the first first.")
@click.option("--concurrency", type=int, metavar="N", help="Runs at once in this process.")
@click.option("--poll-interval", type=DURATION, metavar="TIME", help="The longest sleep of an idle worker.")
@click.option("--stale-check-interval", type=DURATION, metavar="TIME", help="Between two sweeps for lost leases.")
@click.option("--grace", type=DURATION, metavar="TIME", help="What runs get to finish when the worker is told to stop.")
@click.option(
    "--once", is_flag=True, help=f"At most one job, then stop; exit code {Exit.NOTHING_TO_DO} where none is due."
)
@click.option("--max-jobs", type=int, default=0, metavar="N", help="Stop after so many; 0 or less is no limit.")
@click.option("--until-empty", is_flag=True, help="Stop when nothing is due and nothing runs here.")
@click.option("--dry-run", is_flag=True, help="Say what would be claimed, and write nothing at all.")
@click.option("--exclusive", is_flag=True, help="Refuse to start beside another live worker.")
@click.option("--name", help="The name to go by; nothing is decided by it.")
@click.option("--log-format", type=click.Choice(FORMATS), help="How the lines on stderr look.")
@click.option("-v", "--verbose", is_flag=True, help="Also tell of each start of a run, and the tracebacks of failures.")
@click.pass_obj
def command(  # noqa: PLR0913 - the options of the command, each with a name
    site: Site,
    /,
    *,
    once: bool,
    max_jobs: int,
    until_empty: bool,
    dry_run: bool,
    exclusive: bool,
    verbose: bool,
    **said: Any,
) -> None:
    """Run the jobs of an app until told to stop.

    SIGTERM and SIGINT drain: nothing more is claimed, what runs may finish within the grace, the rest is given back at
    once without burning an attempt. A second signal does not wait for the grace.
    """
    settings = site.settings
    for flag, figure in FLAGS.items():
        settings = settings.with_flag(figure, said[flag], f"--{flag.replace('_', '-')}")
    if dry_run:
        ran = _peek(site, settings, 1 if once else max(0, max_jobs))
    else:
        start_logging(settings, verbose=verbose)
        ran = site.app.run_worker(
            settings=settings, signals=True, once=once, max_jobs=max_jobs, until_empty=until_empty, exclusive=exclusive
        )
        site.out.show({"runs": ran})
    if once and not ran:
        click.get_current_context().exit(Exit.NOTHING_TO_DO)


def start_logging(settings: Settings, *, verbose: bool) -> None:
    """Lines about the work on stderr, in the format of the settings."""
    from penstock.runtime.report import JsonFormatter, TextFormatter  # noqa: PLC0415 - it pulls the engine in

    chosen = settings["log_format"]
    if chosen not in FORMATS:
        raise InvalidValue("log_format", chosen, f"is neither {' nor '.join(FORMATS)}")
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if chosen == "json" else TextFormatter())
    log = logging.getLogger("penstock")
    log.handlers = [handler]
    log.propagate = False
    log.setLevel(logging.DEBUG if verbose else logging.INFO)


def _peek(site: Site, settings: Settings, limit: int) -> int:
    """Say what a worker would claim first, and return how many that are."""
    from penstock.cli.peek import would_claim  # noqa: PLC0415 - as above
    from penstock.runtime.worker import PREFETCH  # noqa: PLC0415 - as above

    app, store = site.app, site.untouched
    queues = [name.strip() for name in str(settings["queues"]).split(",") if name.strip()]
    jobs = would_claim(store, queues, limit or settings["concurrency"] * PREFETCH) if store is not None else []
    document = [
        {
            "id": job.id,
            "task": job.task,
            "known": job.task in app.tasks,
            "tenant": job.tenant,
            "queue": job.queue,
            "priority": job.priority,
            "run_at": iso(job.run_at),
        }
        for job in jobs
    ]
    now = store.now() if store is not None else 0
    rows = [
        (job.id, job.task, "yes" if job.task in app.tasks else "no", job.tenant, job.queue, job.priority,
         site.out.when(job.run_at, now))
        for job in jobs
    ]  # fmt: skip
    headers = ("id", "task", "known here", "tenant", "queue", "priority", "due")
    site.out.show({"would_claim": document}, Table(headers, rows, "Nothing is due."))
    return len(jobs)
