"""What all commands share: the options that each of them takes, and a guess where one is mistyped."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from haulwright.cli.kit.hints import NOT_FOUND_HINTS
from haulwright.cli.kit.other_words import OPTIONS
from haulwright.errors import HaulwrightError, NotFound

if TYPE_CHECKING:
    from haulwright.cli.kit.site import Site

COMMON_HELP = "The first options may stand before or after the command."
JOB_ID_TYPE = "job id"
"""The name of the type whose values are completed; the type itself is imported with the commands that need it."""
_COMMON = ("app_spec", "database", "json", "utc", "debug")


def common_options(*, hidden: bool = False) -> list[click.Parameter]:
    """The options of every command, made anew for each."""
    database = "The database to use instead of the app's or the settings'."
    options = [
        click.Option(["-A", "--app", "app_spec"], metavar="MODULE:APP", help="The app, as package.module:name."),
        click.Option(["--database"], metavar="URL", help=database),
        click.Option(["--json"], is_flag=True, help="JSON for programs, on stdout; errors too, on stderr."),
        click.Option(["--utc"], is_flag=True, help="Absolute times in UTC instead of 3 min ago."),
        click.Option(["--debug"], is_flag=True, help="Show the traceback of an error."),
    ]
    for option in options:
        option.hidden = hidden
    return [*options]


class Suggesting(click.Group):
    """A group that guesses what was meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; a mistyped one is refused with the nearest that there is."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            guess = self.guess(ctx, name)
            raise click.UsageError(f"There is no command {name!r}.{f' Did you mean {guess!r}?' if guess else ''}", ctx)
        return super().resolve_command(ctx, args)

    def guess(self, ctx: click.Context, name: str) -> str:
        """What was meant by a word that is no command; empty where nothing comes near."""
        return next(iter(get_close_matches(name, self.list_commands(ctx), n=1)), "")


class Verb(click.Command):
    """A command that stands on a site: the app, the database, and the way to tell what it found."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._own = len(self.params)
        self.params += common_options()

    @property
    def own_params(self) -> list[click.Parameter]:
        """The parameters that only this command has."""
        return self.params[: self._own]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the line. An option of other tools, and an app that stands alone, are answered with what was meant."""
        ctx.allow_extra_args = True
        try:
            surplus = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            names = {name for param in self.params for name in param.opts}
            meant = next((name for name in OPTIONS.get(error.option_name, ()) if name in names), None)
            if meant is None:
                raise
            message = f"{error.message} Did you mean {meant!r}?"
            raise click.NoSuchOption(error.option_name, message, ctx=error.ctx) from None
        if surplus and not ctx.resilient_parsing:
            hint = f" Did you mean -A {surplus[0]}?" if ":" in surplus[0] or surplus[0].endswith(".py") else ""
            raise click.UsageError(f"Nothing is expected where {surplus[0]!r} stands.{hint}", ctx)
        return surplus

    def invoke(self, ctx: click.Context) -> Any:
        """Run with a site made of the common options, wherever on the line they stood."""
        from haulwright.cli.kit.site import Site  # noqa: PLC0415 - `haulwright --version` needs none of it

        common = common_values(ctx)
        for name in _COMMON:
            ctx.params.pop(name, None)
        as_json, utc = bool(common["json"]), bool(common["utc"])
        group = ctx.parent.command if ctx.parent is not None else None
        makes_database = isinstance(group, NounGroup) and group.may_make_database(self.name or "")
        with Site(
            common["app_spec"], common["database"], as_json=as_json, utc=utc, makes_database=makes_database
        ) as ctx.obj:
            try:
                if any(param.type.name == JOB_ID_TYPE for param in self.own_params):
                    from haulwright.cli.kit.job_ids import complete_job_ids  # noqa: PLC0415 - as above

                    complete_job_ids(ctx.obj, self.own_params, ctx.params)
                return super().invoke(ctx)
            except BrokenPipeError:
                ctx.exit()  # the reader of our output has seen enough
            except HaulwrightError as error:
                _complete_hint(error, ctx.obj)
                raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of this command first, then those of every command."""
        shared = self.params[self._own :]
        for title, params in (("Options", [*self.own_params, self.get_help_option(ctx)]), ("Everywhere", shared)):
            options = [param for param in params if isinstance(param, click.Option)]
            records = [record for option in options if (record := option.get_help_record(ctx))]
            with formatter.section(title):
                formatter.write_dl(records)


class NounGroup(Suggesting):
    """A group of verbs about one thing.

    `makes_database` names those that make the SQLite file, or the tables in it, where they are missing. Without a word
    all of them do; the others refuse, and leave somebody's file as it is.
    """

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs, each with its whole first sentence."""
        verbs = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        lines = [(name, _first_sentence(verb)) for name, verb in verbs if verb is not None and not verb.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(lines)

    command_class = Verb

    def __init__(self, *args: Any, makes_database: Collection[str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += common_options(hidden=True)
        self._makes_database = makes_database

    def may_make_database(self, verb: str) -> bool:
        """Whether a command may make what is missing."""
        return self._makes_database is None or verb in self._makes_database


def _first_sentence(command: click.Command) -> str:
    """What a command does: the first paragraph of its help, which click would cut."""
    text = command.short_help or (command.help or "").partition("\n\n")[0]
    return " ".join(text.split()).replace("\b", "")


def _complete_hint(error: HaulwrightError, site: Site) -> None:
    """Say what to do next where the error does not, and to people in words that they can type; JSON stays as it is."""
    if not error.hint and isinstance(error, NotFound):
        error.hint = NOT_FOUND_HINTS.get(error.what, "")
    if not site.out.as_json:
        error.hint = site.typable(error.hint)


def common_values(ctx: click.Context) -> dict[str, Any]:
    """What the options of every command say, wherever on the line they stood."""
    return {name: ctx.params.get(name) or _option_before(ctx, name) for name in _COMMON}


def _option_before(ctx: click.Context, name: str) -> Any:
    """A common option that stood before the command, or before its verb: the nearest one that says something."""
    contexts = []
    while (parent := ctx.parent) is not None:
        contexts.append(parent)
        ctx = parent
    return next((value for context in contexts if (value := context.params.get(name))), None)
