"""The tree of commands. A command's module is imported when it is typed, so that the others cost nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click

from haulwright.__about__ import __version__
from haulwright.cli.kit import other_words
from haulwright.cli.kit.verbs import COMMON_HELP, Suggesting, common_options
from haulwright.errors import Refused
from haulwright.visible import visible

if TYPE_CHECKING:
    from haulwright.discovery import Applications, ApplicationSpec

GROUPS: dict[str, tuple[str, ...]] = {
    "Run": ("demo", "dev", "worker", "serve", "run", "sandbox"),
    "Look": ("top", "job", "queue", "source", "schedule", "event", "effect", "workers"),
    "Repair": ("dead", "dlq", "bulk", "doctor"),
    "Set-up": ("db", "token", "settings"),
}
"""What the commands of the engine are for, as the list shows them; the applications' come before the set-up."""
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("haulwright.demo.cli", "See it work: five applications, two workers, one of them killed, nothing lost."),
    "dev": ("haulwright.cli.dev", "Write an app: a worker and the web, started again when its code changes."),
    "worker": ("haulwright.cli.worker", "Run jobs."),
    "serve": ("haulwright.cli.serve", "Answer HTTP requests: the API for programs."),
    "run": ("haulwright.cli.run", "Enqueue a job, and wait for it if asked to."),
    "job": ("haulwright.cli.jobs", "Look at jobs, and ask why one does not run."),
    "dead": ("haulwright.cli.dead", "Dead letters: list, count, requeue."),
    "dlq": ("haulwright.cli.dead", "The same as dead."),
    "bulk": ("haulwright.cli.bulk", "One act on many jobs, as a durable job."),
    "queue": ("haulwright.cli.queues", "Queues: what waits, pause, resume, drain."),
    "source": ("haulwright.cli.sources", "Sources: their rate, breaker and budget; pause, resume, set."),
    "schedule": ("haulwright.cli.schedules", "Schedules and their slots."),
    "event": ("haulwright.cli.events", "What happened, in the order of commits."),
    "effect": ("haulwright.cli.effects", "What runs did through the ledger."),
    "workers": ("haulwright.cli.workers", "Who works here."),
    "top": ("haulwright.cli.top", "Watch queues, workers, throughput and failures, live."),
    "sandbox": ("haulwright.cli.sandbox", "A stand-in for the outside world, on this machine."),
    "settings": ("haulwright.cli.settings", "Every figure, its value, and where it came from."),
    "db": ("haulwright.cli.db", "The schema of the database, and its backups."),
    "token": ("haulwright.cli.tokens", "Tokens for the HTTP API: create, list, revoke."),
    "doctor": ("haulwright.cli.doctor", "Is all well here? What to do where it is not."),
}
"""Each command of the engine with its module and its line in the list. The command there is called `command`.

Those of applications are found by entry point, when a word is none of these or when all are listed.
"""


class Root(Suggesting, click.Group):
    """All commands, and the one place where an error becomes a message and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The engine's commands in the order of the table, then those of the applications."""
        return [*COMMANDS, *_application_commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Import a command; None where there is none of that name."""
        if cmd_name in COMMANDS:
            command = import_module(COMMANDS[cmd_name][0]).command
        else:
            command = _application_command(cmd_name)
        return command if isinstance(command, click.Command) else None

    def guess(self, ctx: click.Context, name: str) -> str:
        """A word that others have for it, a verb whose noun is missing, or the nearest command."""
        return other_words.COMMANDS.get(name) or self._with_its_noun(ctx, name) or super().guess(ctx, name)

    def _with_its_noun(self, ctx: click.Context, verb: str) -> str:
        for noun in (*GROUPS["Look"], *GROUPS["Repair"], *GROUPS["Set-up"]):
            group = self.get_command(ctx, noun)
            if isinstance(group, click.Group) and verb in group.commands:
                return f"{noun} {verb}"
        return ""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command. Where there is none, an application that cannot be imported may be why, and is told."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            message = " ".join([error.message, *map(str, _applications().broken)])
            raise click.UsageError(message, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """List the commands without importing them, and what stops an application from being listed."""
        sections = {title: [(name, COMMANDS[name][1]) for name in names] for title, names in GROUPS.items()}
        setting_up = sections.pop("Set-up")
        sections["Applications"] = [(word, spec.summary) for word, spec in _application_commands().items()]
        for title, lines in {**sections, "Set-up": setting_up}.items():
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)
        for failure in _applications().broken:
            formatter.write_paragraph()
            formatter.write_text(visible(str(failure)))

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run a command and leave with its code. No traceback, unless it was asked for."""
        words = sys.argv[1:] if args is None else list(args)
        extra["standalone_mode"] = False
        try:
            returned = super().main(words, *rest, **extra)
            code = returned if isinstance(returned, int) else 0
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told in a line and a code
            from haulwright.cli.kit.failing import code_of  # noqa: PLC0415 - most commands do not fail

            code = code_of(error, as_json="--json" in words, debug="--debug" in words)
        _flush()
        sys.exit(code)


def _applications() -> Applications:
    from haulwright.discovery import installed_applications  # noqa: PLC0415 - most commands are the engine's

    return installed_applications()


def _application_commands() -> dict[str, ApplicationSpec]:
    """The applications by the word of their commands; a word of the engine's own is refused."""
    specs = {spec.command: spec for spec in _applications().specs.values() if spec.command and spec.commands}
    for word in COMMANDS:
        if word in specs:
            message = f"The application {specs[word].name} has the command {word!r}, which is one of the engine's."
            raise Refused(
                message, hint=f"Uninstall it: pip uninstall {_applications().distributions[specs[word].name]}"
            )
    return specs


def _application_command(word: str) -> Any:
    spec = _applications().with_command(word)
    if spec is None or spec.commands is None:
        return None
    spec.require_extra()
    return _applications().import_part(spec, spec.commands).command


def _flush() -> None:
    """Hand over what was printed. A reader that left early (`| head`) is no failure."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more on its way out: let it do so into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


root = Root(
    name="haulwright",
    help="Durable jobs on SQLite and PostgreSQL: they survive crashes, and their effects happen once.",
    epilog=f"{COMMON_HELP}\n\nStart with: haulwright demo",
    params=common_options(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
click.version_option(__version__, prog_name="haulwright", message="%(prog)s %(version)s")(root)
