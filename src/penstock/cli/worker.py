"""`penstock worker`: run jobs."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.exits import Exit
from penstock.cli.output import Table
from penstock.cli.params import DURATION
from penstock.cli.times import iso
from penstock.cli.verbs import Verb
from penstock.errors import InvalidValue, Refused

if TYPE_CHECKING:
    from penstock.cli.site import Site
    from penstock.cli.top_line import StatusLine
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
@click.option(
    "--processes", type=click.IntRange(1, 1000), metavar="N", help="So many workers; one that dies is replaced."
)
@click.option(
    "--progress/--no-progress",
    default=None,
    help="Tell on stderr how far it is: every second on a terminal, where it is the default with --until-empty; "
    "else every ten seconds in the log.",
)
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
    processes: int | None,
    progress: bool | None,
    verbose: bool,
    **said: Any,
) -> None:
    """Run the jobs of an app until told to stop.

    SIGTERM and SIGINT drain: nothing more is claimed, what runs may finish within the grace, the rest is given back at
    once without burning an attempt. A second signal does not wait for the grace.

    With --processes a supervisor starts the workers, passes signals on to them, and starts a worker that dies again
    after a pause that grows from half a second to 30 seconds. They do not outlive it.
    """
    from penstock.runtime.supervisor import die_with_supervisor  # noqa: PLC0415 - it pulls the engine in

    die_with_supervisor()
    settings = site.settings
    for flag, figure in FLAGS.items():
        settings = settings.with_flag(figure, said[flag], f"--{flag.replace('_', '-')}")
    if processes is not None:
        _refuse_with_processes(
            {"--once": once, "--max-jobs": max_jobs > 0, "--dry-run": dry_run, "--exclusive": exclusive}
        )
    if dry_run:
        ran = _peek(site, settings, 1 if once else max(0, max_jobs))
    else:
        shown = until_empty and sys.stderr.isatty() if progress is None else progress
        with _telling(site, settings, verbose=verbose, progress=shown):
            if processes is not None:
                _supervise(site, settings, processes, {**said, "verbose": verbose, "until_empty": until_empty})
                return
            ran = site.app.run_worker(
                settings=settings,
                signals=True,
                once=once,
                max_jobs=max_jobs,
                until_empty=until_empty,
                exclusive=exclusive,
            )
        site.out.show({"runs": ran})
    if once and not ran:
        click.get_current_context().exit(Exit.NOTHING_TO_DO)


def queues_of(settings: Settings) -> list[str]:
    """The queues that a worker with these settings serves, the first first."""
    return [name.strip() for name in str(settings["queues"]).split(",") if name.strip()]


@contextmanager
def _telling(site: Site, settings: Settings, *, verbose: bool, progress: bool) -> Iterator[None]:
    """Lines about the work on stderr while it lasts, and how far it is where that is wanted."""
    from penstock.cli import top_line  # noqa: PLC0415 - only a worker at work needs it

    line = top_line.StatusLine()
    start_logging(settings, verbose=verbose, line=line)
    if not progress:
        yield
        return
    _ = site.app.store  # the schema is in place, or that is refused, before anybody looks
    with top_line.progress(site.app.database_url, queues_of(settings), line):
        yield


def _refuse_with_processes(said: dict[str, bool]) -> None:
    """Refuse what means one worker."""
    why = {
        "--once": "each of the workers would run one",
        "--max-jobs": "each of the workers would count for itself",
        "--dry-run": "it tells what one worker would claim",
        "--exclusive": "the workers would refuse each other",
    }
    for flag, is_said in said.items():
        if is_said:
            hint = f"Leave --processes out, or {flag}. To stop when nothing is due, use --until-empty."
            raise Refused(f"{flag} does not go with --processes: {why[flag]}.", hint=hint)


def _supervise(site: Site, settings: Settings, count: int, flags: dict[str, Any]) -> None:
    """Keep so many workers running, each a process of its own with the same flags."""
    from penstock.runtime.supervisor import Supervisor  # noqa: PLC0415 - as above

    spec, name = settings.setting("app"), settings["worker_name"]
    typed = {"app": spec.value if spec.origin == "--app" else None, "database": site.said_database, **flags}

    def command_line(number: int) -> list[str]:
        own = typed | {"name": f"{name}-{number}" if name else None}
        # -P: as with `penstock` itself, a folder of this name where we stand is not the package.
        return [sys.executable, "-P", "-m", "penstock", "worker", "--no-progress", *_words(own)]

    supervisor = Supervisor(command_line, count, until_empty=flags["until_empty"])
    code = supervisor.run()
    site.out.show({"processes": count, "restarts": supervisor.restarts})
    click.get_current_context().exit(code)


def _words(flags: dict[str, Any]) -> list[str]:
    """Flags as they are typed; those that say nothing are left out."""
    words: list[str] = []
    for name, value in flags.items():
        if value is not None and value is not False:
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return words


def start_logging(settings: Settings, *, verbose: bool, line: StatusLine) -> None:
    """Lines about the work on stderr, in the format of the settings, above the status line."""
    from penstock.cli.top_line import LineHandler  # noqa: PLC0415 - only a worker at work needs it
    from penstock.runtime.report import JsonFormatter, TextFormatter  # noqa: PLC0415 - it pulls the engine in

    chosen = settings["log_format"]
    if chosen not in FORMATS:
        raise InvalidValue("log_format", chosen, f"is neither {' nor '.join(FORMATS)}")
    handler = LineHandler(line)
    handler.setFormatter(JsonFormatter() if chosen == "json" else TextFormatter())
    log = logging.getLogger("penstock")
    log.handlers = [handler]
    log.propagate = False
    log.setLevel(logging.DEBUG if verbose else logging.INFO)


def _peek(site: Site, settings: Settings, limit: int) -> int:
    """Say what a worker would claim first, and return how many that are."""
    from penstock.cli.peek import would_claim  # noqa: PLC0415 - as above

    app, store = site.app, site.untouched
    jobs = would_claim(store, queues_of(settings), limit or settings["concurrency"]) if store is not None else []
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
