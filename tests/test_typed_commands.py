"""Every command that a page has people type is one that there is, with options and arguments that it takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from haulwright.cli.kit.root import root

ROOT = Path(__file__).parent.parent
PAGES = [path for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]) if path.name != "CHANGELOG.md"]
BLOCK = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(haulwright [^`\n]+)`")
LEFT_OUT = re.compile(r"\.\.\.|…|\[")
"""What stands for words of the reader's own."""
OF_THE_EXAMPLE = "weather"
"""The application that a guide writes."""


def lines_of(page: str) -> Iterator[str]:
    """What is typed in the blocks of a page, and what its sentences name."""
    for kind, block in BLOCK.findall(page):
        if kind == "console":
            yield from block.replace("\\\n", " ").splitlines()
    yield from INLINE.findall(BLOCK.sub("", page))


def calls_in(line: str) -> Iterator[list[str]]:
    """The words of each call of the program in a line of a shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:  # an answer with an apostrophe in it, and nothing to type
        return
    call: list[str] | None = None
    for word in [*words, ";"]:
        if call is None:
            call = [] if word == "haulwright" else None
        elif set(word) <= set("();<>|&"):
            yield call
            call = None
        else:
            call.append(word)


def why_not(words: list[str]) -> str:
    """What keeps these words from being a call of the program; empty where nothing does."""
    command: click.Command = root
    context: click.Context | None = None
    name, rest = "haulwright", words
    while True:
        context = click.Context(command, info_name=name, parent=context)
        try:
            _, rest, _ = command.make_parser(context).parse_args(list(rest))
        except click.UsageError as error:
            return error.format_message()
        if not isinstance(command, click.Group) or not rest:
            return f"more than it takes: {rest}" if rest else ""
        name, *rest = rest
        found = command.get_command(context, name)
        if found is None:
            return f"there is no {name}"
        command = found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_is_one_that_there_is(page):
    calls = [call for line in lines_of(page.read_text("utf-8")) for call in calls_in(line)]

    wrong = {
        shlex.join(call): reason
        for call in calls
        if call[:1] != [OF_THE_EXAMPLE] and not LEFT_OUT.search(" ".join(call)) and (reason := why_not(call))
    }

    assert wrong == {}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("$ haulwright job shwo last", "there is no shwo"),
        ("ID=$(haulwright run price sku=A1 --prority 3)", "No such option '--prority'"),
        ("true && haulwright doctor now | less", "more than it takes"),
        ("haulwright -A shop:app worker --until-empty  # to its end", ""),
    ],
)
def test_a_command_that_is_not_there_would_be_seen(line, reason):
    (call,) = calls_in(line)

    assert reason in why_not(call)
    assert bool(reason) == bool(why_not(call))
