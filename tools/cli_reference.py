"""Writes the reference pages of the command line: commands, exit codes, settings.

python tools/cli_reference.py           write them
python tools/cli_reference.py --check   exit 1 if one is not current
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from haulwright.cli.kit.exits import MEANINGS
from haulwright.cli.kit.root import root
from haulwright.cli.kit.verbs import Verb, common_options
from haulwright.settings import Figure, Settings

FOLDER = Path(__file__).parent.parent / "docs" / "reference"


def commands_page() -> str:
    """Every command with its help and its options."""
    lines = [
        "# Command line",
        "",
        "Data goes to stdout, everything else to stderr. Every command takes these options, before or after its name:",
        "",
        *_options(common_options(), click.Context(root)),
        "",
        "With `--json` each command prints one document (`event tail`: one object a line), and an error is",
        '`{"error": {"code", "message", "hint"}}` on stderr. Times are ISO 8601 in UTC.',
        "",
        "The app is found by `-A package.module:app`, `HAULWRIGHT_APP`, or `app` under `[tool.haulwright]` in",
        "pyproject.toml, with the current folder on the path. Commands that only need the database work without one.",
        "",
        "How a command ends: [exit codes](exit-codes.md). What can be set: [settings](settings.md).",
        "",
    ]
    for path, command in walk():
        lines += _section(path, command)
    return "\n".join(lines).rstrip() + "\n"


def exits_page() -> str:
    """Every exit code and its meaning."""
    rows = [f"| {int(code)} | {meaning} |" for code, meaning in MEANINGS.items()]
    lines = ["# Exit codes", "", "A code keeps its meaning for ever.", "", "| code | meaning |", "|---|---|", *rows]
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    """Every figure that can be set."""
    lines = [
        "# Settings",
        "",
        "The last one that says something wins: the default, `[tool.haulwright]` in the nearest pyproject.toml, the",
        "environment, a flag or an argument in code. `haulwright settings` shows each value and where it came from.",
        "",
        "The owner is the engine, or the application whose figure it is. Those of an application that you install are",
        "listed by `haulwright settings` as well.",
        "",
        "| setting | default | owner | meaning | environment |",
        "|---|---|---|---|---|",
        *(_figure_row(figure) for figure in Settings.figures()),
    ]
    return "\n".join(lines) + "\n"


def walk() -> Iterator[tuple[str, click.Command]]:
    """Every command that can be typed, aliases left out, with its full name."""
    seen: set[int] = set()
    context = click.Context(root, info_name="haulwright")
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        if command is None or id(command) in seen:
            continue
        seen.add(id(command))
        verbs = command.commands if isinstance(command, click.Group) else {}
        yield f"haulwright {name}", command
        yield from ((f"haulwright {name} {verb}", one) for verb, one in verbs.items())


def _section(path: str, command: click.Command) -> list[str]:
    alias = ["`haulwright dlq` is the same.", ""] if path == "haulwright dead" else []
    if isinstance(command, click.Group):
        return [f"## {path}", "", command.help or "", "", *alias]
    context = click.Context(command, info_name=path)
    usage = " ".join(command.collect_usage_pieces(context))
    level = "##" if path.count(" ") == 1 else "###"
    own = command.own_params if isinstance(command, Verb) else command.params
    options = _options(own, context)
    told = [f"{level} {path}", "", f"`{path} {usage}`", "", _paragraphs(command.help or ""), ""]
    return [*told, *options, ""] if options else told


def _options(params: list[click.Parameter], context: click.Context) -> list[str]:
    options = [param for param in params if isinstance(param, click.Option)]
    records = [record for option in options if (record := option.get_help_record(context))]
    if not records:
        return []
    rows = [f"| `{_cell(names)}` | {_cell(text)} |" for names, text in records]
    return ["| option | meaning |", "|---|---|", *rows]


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _figure_row(figure: Figure) -> str:
    default = "" if figure.default is None else f"`{figure.default}`"
    variables = ", ".join(f"`{name}`" for name in figure.variables)
    return f"| `{figure.name}` | {default} | {figure.owner} | {figure.meaning} | {variables} |"


PAGES = {"cli.md": commands_page, "exit-codes.md": exits_page, "settings.md": settings_page}


def main(arguments: list[str]) -> int:
    """Write the pages, or say which are not current."""
    stale = []
    for name, page in PAGES.items():
        path, text = FOLDER / name, page()
        if "--check" in arguments:
            stale += [name] if not path.exists() or path.read_text("utf-8") != text else []
        else:
            path.write_text(text, "utf-8")
    if stale:
        print(f"Not current: {', '.join(stale)}. Run: python tools/cli_reference.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
