"""The tree of commands. A command's module is imported when it is typed, so that the others cost nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from penstock.__about__ import __version__
from penstock.cli.verbs import COMMON_HELP, Suggesting, common_options

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo", "See it work: five applications, two workers, one of them killed, nothing lost."),
    "worker": ("worker", "Run jobs."),
    "run": ("run", "Enqueue a job, and wait for it if asked to."),
    "job": ("jobs", "Look at jobs, and ask why one does not run."),
    "dead": ("dead", "Dead letters: list, count, requeue."),
    "dlq": ("dead", "The same as dead."),
    "queue": ("queues", "Queues: what waits, pause, resume, drain."),
    "source": ("sources", "Sources: their rate, breaker and budget; pause, resume, set."),
    "schedule": ("schedules", "Schedules and their slots."),
    "event": ("events", "What happened, in the order of commits."),
    "effect": ("effects", "What runs did through the ledger."),
    "workers": ("workers", "Who works here."),
    "top": ("top", "Watch queues, workers, throughput and failures, live."),
    "brand": ("brands", "Brands: compile what their sources say; each paid run is bought once."),
    "brief": ("brief", "Brief: feeds in, each article once, events, and the brief of the day."),
    "sync": ("syncs", "Syncs: the Airbyte connections of many tenants, each at its cadence."),
    "doc": ("documents", "Documents: manifests of addresses become verified files that can be searched."),
    "price": ("prices", "Prices: what intakes are worth, by price points from governed sources."),
    "sandbox": ("sandbox", "A stand-in for the outside world, on this machine."),
    "settings": ("figures", "Every figure, its value, and where it came from."),
    "db": ("db", "The schema of the database."),
    "doctor": ("doctor", "Is all well here? What to do where it is not."),
}
"""Each command with its module and its line in the list. The command there is called `command`."""


class Root(Suggesting, click.Group):
    """All commands, and the one place where an error becomes a message and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Import a command; None where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        found = import_module(f"penstock.cli.{COMMANDS[cmd_name][0]}").command
        return found if isinstance(found, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run a command and leave with its code. No traceback, unless it was asked for."""
        typed = sys.argv[1:] if args is None else list(args)
        extra["standalone_mode"] = False
        try:
            returned = super().main(typed, *rest, **extra)
            code = returned if isinstance(returned, int) else 0
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told in a line and a code
            from penstock.cli.failing import code_of  # noqa: PLC0415 - most commands do not fail

            code = code_of(error, as_json="--json" in typed, debug="--debug" in typed)
        _flush()
        sys.exit(code)


def _flush() -> None:
    """Hand over what was printed. A reader that left early (`| head`) is no failure."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more on its way out: let it do so into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


root = Root(
    name="penstock",
    help="Durable jobs on SQLite and PostgreSQL: they survive crashes, and their effects happen once.",
    epilog=f"{COMMON_HELP}\n\nStart with: penstock demo",
    params=common_options(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
click.version_option(__version__, prog_name="penstock", message="%(prog)s %(version)s")(root)
