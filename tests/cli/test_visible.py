"""Whatever stands in a row, an operator sees text: no value steers the terminal that it is shown on."""

from __future__ import annotations

import ast
import json
import os
import pty
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

import haulwright
from haulwright.cli.kit.output import Fields, Out, Table
from haulwright.cli.kit.root import root
from haulwright.cli.kit.status_line import StatusLine
from haulwright.visible import visible, visible_json, visible_line, without_controls
from tests.cli import hostile
from tests.cli.hostile import CONTROLS, HOSTILE, SHOP, SHOWN

STYLE = re.compile(r"\x1b\[[0-9;]*m")
"""What a table is drawn with."""
SOURCE = Path(haulwright.__file__).parent

SHOWING = (
    "job list", "job show {queued}", "job show {dead}", "job show {done}", "job why {queued}", "job why {retried}",
    "dead list", "dead counts", "queue list", "source show {source}", "schedule list",
    "schedule show {schedule}", "schedule next", "event list", "event tail --for 0s", "effect list {done}",
    "effect unresolved", "workers", "top --once", "doctor", "brief list", "price list", "price show {intake}",
    "price export {intake}", "price export {intake} --format svg", "sync list --tenant default", "brand list",
    "doc status", "doc status {document}",
)  # fmt: skip
"""Commands that show rows of the hostile database."""
OTHERS = (
    "job why {dead}", "dead requeue {dead} --dry-run", "event list --job {dead}", "settings", "db status", "db verify",
    "source list", "brief list --briefs", "brief show", "brief show --format json", "brief runs",
    "brief show --format html", "brief show --format atom",
    "price source", "price export {intake} --format json", "sync list --jobs --tenant default", "sync stats",
    "brand status {brand}", "doc search evil", "worker -A {shop} --dry-run",
)  # fmt: skip
REFUSALS = (
    "{hostile}", "job {hostile}", "job list {hostile}", "job list --{hostile}", "job show {hostile}",
    "job list --state {hostile}", "job list --where x:{hostile}", "job list --limit {hostile}",
    "job list --after {hostile}", "schedule show {hostile}", "source show {hostile}",
    "schedule trigger {hostile} --scheduled-for 2024-01-01T00:00:00Z",
    "effect list {hostile}",
    "event list --name {hostile}", "run -A {hostile} price", "run -A {shop} {hostile}", "run -A {shop} price {hostile}",
    "run -A {shop} price {hostile}=1", "run -A {shop} price sku=1 --tenant {hostile}", "top --interval {hostile}",
    "brief show {hostile}", "brief add {hostile}", "brief add https://{hostile}", "doc add {hostile}",
    "price show {hostile}", "price collect {hostile}", "brand show {hostile}", "sync show x{hostile} --tenant default",
    "worker -A {shop} --queues {hostile} --concurrency {hostile}",
)  # fmt: skip
"""What a person may paste, and gets back in the sentence that refuses it."""
PROBLEMS = 5


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """The hostile database and what commands call its rows."""
    path = tmp_path_factory.mktemp("hostile") / "jobs.db"
    return path, hostile.make(path) | {"shop": SHOP, "hostile": HOSTILE}


def words_of(command, rows, *more):
    path, names = rows
    return [*(word.format_map(names) for word in command.split()), *more, "--database", f"sqlite:///{path}"]


def printed(result):
    return (result.stdout_bytes + result.stderr_bytes).decode()


@pytest.mark.parametrize("command", [*SHOWING, *OTHERS])
def test_no_command_prints_a_control_character_whatever_its_rows_hold(rows, command):
    result = CliRunner().invoke(root, words_of(command, rows))

    assert CONTROLS.findall(printed(result)) == []
    assert result.exit_code in {0, PROBLEMS} or "no compile" in result.stderr
    assert SHOWN in result.stdout or r"\x1b]0;" in result.stdout or command in OTHERS


@pytest.mark.parametrize("command", [*SHOWING, *OTHERS])
def test_json_is_safe_to_print_and_says_the_same(rows, command):
    result = CliRunner().invoke(root, words_of(command, rows, "--json"))

    assert CONTROLS.findall(printed(result)) == []
    if result.stdout and command != "event tail --for 0s":
        values = json.dumps(json.loads(result.stdout), ensure_ascii=False)
        assert json.dumps(HOSTILE, ensure_ascii=False)[1:-1] in values or command in OTHERS


@pytest.mark.parametrize("form", [(), ("--json",), ("--debug",)])
@pytest.mark.parametrize("command", REFUSALS)
def test_a_refusal_repeats_what_was_typed_as_text(rows, command, form):
    result = CliRunner().invoke(root, words_of(command, rows, *form))

    assert CONTROLS.findall(printed(result)) == []
    assert result.exit_code != 0


@pytest.mark.parametrize("command", ["job list", "job show {dead}", "top --once", "event list", "job show {hostile}"])
def test_a_terminal_gets_styles_and_no_other_control(rows, process, command):
    ours, theirs = pty.openpty()
    shown = process(*words_of(command, rows), stdin=theirs, stdout=theirs, stderr=theirs, extra={"TERM": "xterm"})
    os.close(theirs)
    seen = drain(ours)
    shown.wait(90)

    assert CONTROLS.findall(STYLE.sub("", seen).replace("\r\n", "\n")) == []
    assert r"\x1b]0;owned" in seen


def drain(terminal):
    seen = b""
    while True:
        try:
            seen += (block := os.read(terminal, 65536))
        except OSError:  # the other end is closed
            block = b""
        if not block:
            os.close(terminal)
            return seen.decode()


def test_a_status_line_is_one_line_of_text(capsys):
    line = StatusLine()
    line.draw(f"queue {HOSTILE}\n: 3 left")
    line.end()

    text = capsys.readouterr().err.removeprefix("\r\x1b[K").removesuffix("\n")
    assert CONTROLS.findall(text) == []
    assert "\n" not in text


def test_a_value_of_several_lines_cannot_look_like_another_field(capsys):
    Out(as_json=False, utc=False).show(None, Fields([("note", "one\nstate  succeeded"), ("state", "dead")]))

    assert capsys.readouterr().out.splitlines() == ["note   one", "       state  succeeded", "state  dead"]


def test_a_cell_and_a_line_are_one_line_whatever_they_hold(capsys):
    out, table = Out(as_json=False, utc=False), Table(("a", "b"), [("one\ntwo\r\nthree\tfour", "five\rsix")])
    out.show(None, table)
    out.line({}, "12:00 job.dead\n12:01 job.succeeded")

    assert capsys.readouterr().out.splitlines() == [
        "a                   b",
        r"one two three four  five\rsix",
        r"12:00 job.dead\n12:01 job.succeeded",
    ]
    assert list(table.rows) == [["one two three four", r"five\rsix"]]  # as rich draws it


UNSAFE = "".join(one for one in map(chr, range(0x10000)) if CONTROLS.match(one))


@example(UNSAFE)
@given(st.lists(st.sampled_from("\r\n\té" + UNSAFE[:200]) | st.text(max_size=3)).map("".join))
def test_any_text_becomes_safe_and_keeps_what_was_safe(text):
    for shown, allowed in ((visible(text), "\n\t"), (visible_line(text), ""), (without_controls(text), "\n\t")):
        assert CONTROLS.findall(shown.replace("\r\n", "\n")) == []
        assert set(shown) & set("\n\t") <= set(allowed)
        shown.encode()
    halves = "surrogatepass"  # two that stand side by side are one character to JSON
    assert json.loads(visible_json(text)).encode("utf-16", halves) == text.encode("utf-16", halves)
    assert CONTROLS.search(visible_json([text], indent=2)) is None
    if not CONTROLS.search(text):
        assert visible(text) == without_controls(text) == text


def test_commands_print_through_one_door():
    """Who prints past it would have to be careful each time."""
    doors = {"cli/kit/output.py", "cli/kit/status_line.py", "cli/__init__.py"}
    streams = re.compile(r"(?:click\.s?echo|print|sys\.(?:stdout|stderr)\.write|click\.echo_via_pager)\b")
    calls = {
        str(path.relative_to(SOURCE)): [
            name for node in ast.walk(ast.parse(path.read_text())) if (name := called(node))
        ]
        for path in sorted(SOURCE.rglob("*.py"))
    }
    printing = {file for file, names in calls.items() if any(streams.fullmatch(name) for name in names)}

    assert printing - doors == {"apps/documents/pdf_child.py"}  # it answers its parent, in JSON


def called(node):
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""
