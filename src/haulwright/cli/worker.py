"""`haulwright worker`: run jobs."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from haulwright.cli.kit.exits import Exit
from haulwright.cli.kit.params import DURATION
from haulwright.cli.kit.verbs import Verb
from haulwright.errors import InvalidValue, Refused
from haulwright.operations.app_slips import queue_slips, source_slips
from haulwright.operations.views.workers import CLAIM_COLUMNS, claim_preview_view, supervised_view, work_done_view

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site
    from haulwright.cli.kit.status_line import StatusLine
    from haulwright.settings import Settings

log = logging.getLogger("haulwright.cli")

FORMATS = ("text", "json")
DUMB_TERMINALS = ("dumb", "unknown")
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
@click.option("--stale-check-interval", type=DURATION, metavar="TIME", help="Between two whole sweeps.")
@click.option("--grace", type=DURATION, metavar="TIME", help="What runs get to finish when the worker is told to stop.")
@click.option(
    "--once",
    is_flag=True,
    help="Run one job to its end, with its retries and the jobs that it waits for, and no other. Exit code "
    f"{Exit.NOTHING_TO_DO} where none is due, {Exit.STILL_RUNNING} where it has to wait for more than a minute.",
)
@click.option(
    "--max-jobs",
    type=int,
    default=0,
    metavar="N",
    help="Stop when so many jobs have ended here; 0 or less is no limit. A job that is put off or tried again has not.",
)
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
    **flags: Any,
) -> None:
    """Run the jobs of an app until told to stop.

    SIGTERM and SIGINT drain: nothing more is claimed, what runs may finish within the grace, the rest is given back at
    once without burning an attempt. A second signal does not wait for the grace.

    With --processes a supervisor starts the workers, passes signals on to them, and starts a worker that dies again
    after a pause that grows from half a second to 30 seconds. They do not outlive it.
    """
    from haulwright.runtime.supervisor import die_with_supervisor  # noqa: PLC0415 - it pulls the engine in

    die_with_supervisor()
    settings = _settings(site, flags)
    if processes is not None:
        _refuse_with_processes(
            {"--once": once, "--max-jobs": max_jobs > 0, "--dry-run": dry_run, "--exclusive": exclusive}
        )
    if dry_run:
        runs = _peek(site, settings, 1 if once else max(0, max_jobs))
    else:
        show_progress = until_empty and sys.stderr.isatty() if progress is None else progress
        with _reporting(site, settings, verbose=verbose, progress=show_progress) as line:
            if processes is not None:
                _supervise(site, settings, processes, {**flags, "verbose": verbose, "until_empty": until_empty})
                return
            app = site.app  # imported first: it may set up logging of its own
            log_tasks_of(settings, verbose=verbose, line=line)
            _warn_of_slips(site, settings)
            ends = {"once": once, "max_jobs": max_jobs, "until_empty": until_empty}
            runs = app.run_worker(settings=settings, signals=True, exclusive=exclusive, **ends)
            if until_empty:
                _tell_what_is_left(site, settings)
        site.out.show(work_done_view(runs))
    if once and not runs:
        click.get_current_context().exit(Exit.NOTHING_TO_DO)


def _settings(site: Site, flags: dict[str, Any]) -> Settings:
    """The settings with the flags of this command above the rest."""
    settings = site.settings
    for flag, figure in FLAGS.items():
        settings = settings.with_flag(figure, flags[flag], f"--{flag.replace('_', '-')}")
    return settings


def queues_of(settings: Settings) -> list[str]:
    """The queues that a worker with these settings serves, the first first."""
    return [name.strip() for name in str(settings["queues"]).split(",") if name.strip()]


@contextmanager
def _reporting(site: Site, settings: Settings, *, verbose: bool, progress: bool) -> Iterator[StatusLine]:
    """Lines about the work on stderr while it lasts, and how far it is where that is wanted."""
    from haulwright.cli.kit import status_line  # noqa: PLC0415 - only a worker at work needs it

    line = status_line.StatusLine()
    start_logging(settings, verbose=verbose, line=line)
    if not progress:
        yield line
        return
    site.app.operations(site.principal()).now()  # the schema is in place, or that is refused, before anybody looks
    with status_line.progress(site.app.operations(site.principal()), queues_of(settings), line):
        yield line


def _warn_of_slips(site: Site, settings: Settings) -> None:
    """Say what this worker would wait for in vain, before it does."""
    chosen = settings.setting("queues").origin != "default"
    for sentence, hint in (*queue_slips(site.app, queues_of(settings), chosen=chosen), *source_slips(site.app)):
        log.warning("%s. %s", sentence, site.typable(hint))


def _tell_what_is_left(site: Site, settings: Settings) -> None:
    """Say what waits for later, so that nobody takes an end without a run for the end of the work."""
    queues = [site.app.operations(site.principal()).queues.get(name) for name in queues_of(settings)]
    if count := sum(queue.parked for queue in queues):
        number = f"{count}{' or more' if any(queue.more_parked for queue in queues) else ''} jobs are"
        command = site.typable("haulwright job list --state queued")
        log.info("%s left for later. See them: %s", "one job is" if count == 1 else number, command)


def _refuse_with_processes(flags: dict[str, bool]) -> None:
    """Refuse what means one worker."""
    why = {
        "--once": "each of the workers would run one",
        "--max-jobs": "each of the workers would count for itself",
        "--dry-run": "it tells what one worker would claim",
        "--exclusive": "the workers would refuse each other",
    }
    for flag, is_set in flags.items():
        if is_set:
            hint = f"Leave --processes out, or {flag}. To stop when nothing is due, use --until-empty."
            raise Refused(f"{flag} does not go with --processes: {why[flag]}.", hint=hint)


def _supervise(site: Site, settings: Settings, count: int, flags: dict[str, Any]) -> None:
    """Keep so many workers running, each a process of its own with the same flags."""
    from haulwright.runtime.supervisor import Supervisor  # noqa: PLC0415 - as above

    spec, name = settings.setting("app"), settings["worker_name"]
    worker_flags = {"app": spec.value if spec.origin == "--app" else None, "database": site.database_flag, **flags}

    def command_line(number: int) -> list[str]:
        own = worker_flags | {"name": f"{name}-{number}" if name else None}
        # -P: as with `haulwright` itself, a folder of this name where we stand is not the package.
        return [sys.executable, "-P", "-m", "haulwright", "worker", "--no-progress", *_words(own)]

    supervisor = Supervisor(command_line, count, until_empty=flags["until_empty"])
    code = supervisor.run()
    site.out.show(supervised_view(count, supervisor.restarts))
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
    log = logging.getLogger("haulwright")
    log.handlers = [_handler(settings, line)]
    log.propagate = False
    log.setLevel(logging.DEBUG if verbose else logging.INFO)
    for name, hint in settings.unknown_variables():
        log.warning("the environment sets %s, which is no setting: it has no effect. %s", name, hint)


def log_tasks_of(settings: Settings, *, verbose: bool, line: StatusLine) -> None:
    """Lines that the tasks log themselves, beside ours."""
    from haulwright.runtime.task_logging import log_tasks  # noqa: PLC0415 - it pulls the engine in

    log_tasks(_handler(settings, line), level=logging.DEBUG if verbose else logging.INFO)


def _handler(settings: Settings, line: StatusLine) -> logging.Handler:
    """Whoever writes lines: complete ones for programs and files, short ones in colour on a terminal."""
    from haulwright.cli.kit.status_line import LineHandler  # noqa: PLC0415 - only a worker at work needs it
    from haulwright.runtime.log_lines import JsonFormatter, TextFormatter  # noqa: PLC0415 - it pulls the engine in
    from haulwright.runtime.terminal_lines import TerminalFormatter  # noqa: PLC0415 - as above

    log_format = settings["log_format"]
    if log_format not in FORMATS:
        raise InvalidValue("log_format", log_format, f"is neither {' nor '.join(FORMATS)}")
    handler = LineHandler(line)
    if log_format == "json":
        handler.setFormatter(JsonFormatter())
    elif sys.stderr.isatty():
        plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") in DUMB_TERMINALS
        handler.setFormatter(TerminalFormatter(colour=not plain))
    else:
        handler.setFormatter(TextFormatter())
    return handler


def _peek(site: Site, settings: Settings, limit: int) -> int:
    """Say what a worker would claim first, and return how many that are."""
    queues, batch = queues_of(settings), limit or int(settings["concurrency"])
    preview = site.app.operations(site.principal()).workers.would_claim(queues, batch)
    table = site.out.table(CLAIM_COLUMNS, preview.candidates, now=preview.at or 0, empty="Nothing is due.")
    site.out.show(claim_preview_view(preview), table)
    return len(preview.candidates)
