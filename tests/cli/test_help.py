"""The command line explains itself, quickly, and its pages are current."""

from __future__ import annotations

import json
import subprocess
import sys

import click
import pytest

from haulwright import __version__
from haulwright.cli.kit.exits import MEANINGS, Exit
from haulwright.cli.kit.root import COMMANDS, root
from haulwright.cli.kit.verbs import Verb
from haulwright.discovery import installed_applications
from haulwright.errors import HaulwrightError
from tools.cli_reference import FOLDER, PAGES, walk

EVERYTHING = dict(walk())


@pytest.mark.parametrize("path", EVERYTHING)
def test_every_command_and_every_option_has_its_help(path):
    command = EVERYTHING[path]

    assert command.help
    assert command.help[0].isupper()
    silent = [one.name for one in command.params if isinstance(one, click.Option) and not one.help]
    assert silent == []


@pytest.mark.parametrize("path", [path for path, command in EVERYTHING.items() if not isinstance(command, click.Group)])
def test_every_command_takes_the_common_options(path, bare):
    assert isinstance(EVERYTHING[path], Verb)

    answer = bare(*path.split()[1:], "--help")

    assert answer.code == 0
    for option in ("--json", "--database", "--app", "--utc", "--debug"):
        assert option in answer.out


def test_the_list_of_commands_says_of_groups_what_they_say_of_themselves():
    context = click.Context(root)
    lines = {name: line for name, (_, line) in COMMANDS.items()}
    lines |= {spec.command: spec.summary for spec in installed_applications().specs.values()}
    for name, line in lines.items():
        command = root.get_command(context, name)
        if isinstance(command, click.Group) and name != "dlq":
            assert command.help == line


@pytest.mark.parametrize("name", PAGES)
def test_the_reference_pages_are_current(name):
    assert (FOLDER / name).read_text("utf-8") == PAGES[name](), "run: python tools/cli_reference.py"


def test_every_exit_code_of_an_error_is_documented():
    kinds = [HaulwrightError]
    for kind in kinds:
        kinds += kind.__subclasses__()

    assert {kind.exit_code for kind in kinds} <= {int(code) for code in MEANINGS}
    assert set(MEANINGS) == set(Exit)


def test_the_version_is_told_without_loading_the_engine():
    program = (
        "import json, sys\nfrom haulwright.cli import main\n"
        "try: main()\nexcept SystemExit: print(json.dumps([m for m in sys.modules]))\n"
    )

    done = subprocess.run([sys.executable, "-c", program, "--version"], capture_output=True, text=True, check=True)

    version, modules = done.stdout.splitlines()
    assert version == f"haulwright {__version__}"
    heavy = {"pydantic", "psycopg", "rich", "sqlite3", "asyncio", "haulwright.stores", "haulwright.client"}
    assert heavy.isdisjoint(json.loads(modules))


def test_a_mistyped_verb_is_guessed(bare):
    assert "Did you mean 'requeue'?" in bare("dead", "reqeue").err


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("why", "job why"),
        ("requeue", "dead requeue"),
        ("migrate", "db migrate"),
        ("enqueue", "run"),
        ("status", "doctor"),
        ("help", "--help"),
        ("wroker", "worker"),
    ],
)
def test_a_word_that_is_no_command_is_answered_with_the_one_that_was_meant(bare, word, meant):
    assert f"There is no command {word!r}. Did you mean {meant!r}?" in bare(word).err
