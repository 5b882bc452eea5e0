"""How the command line behaves among other programs: pipes, terminals, interruptions, defects."""

from __future__ import annotations

import os
import pty
import signal
import subprocess

import pytest

from haulwright.stores.listing import Listing


def test_a_reader_that_leaves_early_is_no_failure(process, on_file, sqlite_url):
    on_file("db", "migrate")
    reader, writer = os.pipe()
    os.close(reader)

    asked = process("settings", "--database", sqlite_url, stdout=writer)
    os.close(writer)
    _, told = asked.communicate(timeout=90)

    assert (asked.returncode, told) == (0, "")


def test_an_interruption_ends_with_130_and_no_traceback(process, sqlite_url, on_made_file):
    on_made_file("queue", "pause", "q")
    tail = process("event", "tail", "--database", sqlite_url)
    tail.stdout.readline()

    tail.send_signal(signal.SIGINT)
    _, told = tail.communicate(timeout=90)

    assert tail.returncode == 130
    assert told.strip() == "Error: Interrupted."


@pytest.fixture
def defect(monkeypatch):
    """A defect of our own in the middle of a command."""

    def page(*_args, **_more):
        message = "at postgresql://user:hunter22@host/db"
        raise RuntimeError(message)

    monkeypatch.setattr(Listing, "page", page)


@pytest.mark.usefixtures("defect")
def test_a_defect_is_one_line_and_the_way_to_more(on_file):
    on_file("db", "migrate")
    answer = on_file("job", "list")

    assert answer.code == 1
    assert answer.err.splitlines() == [
        "Error: RuntimeError: at postgresql://***@host/db",
        "  This was not foreseen. Run again with --debug for the traceback.",
    ]


@pytest.mark.usefixtures("defect")
def test_debug_shows_the_traceback_without_secrets(on_file):
    on_file("db", "migrate")
    answer = on_file("job", "list", "--debug")

    assert "Traceback" in answer.err
    assert "hunter22" not in answer.err


@pytest.mark.parametrize(("colour", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_gets_colours_unless_it_does_not_want_them(process, on_file, sqlite_url, colour, coloured):
    on_file("db", "migrate")
    ours, theirs = pty.openpty()

    asked = process("db", "verify", "--database", sqlite_url, stdout=theirs, extra={"TERM": "xterm", **colour})
    os.close(theirs)
    shown = _read_all(ours)
    asked.communicate(timeout=90)

    assert "version" in shown
    assert ("\x1b[32m" in shown) is coloured


def test_a_pipe_gets_plain_columns(process, on_file, sqlite_url):
    on_file("db", "migrate")

    shown, _ = process("db", "verify", "--database", sqlite_url, stdout=subprocess.PIPE).communicate(timeout=90)

    assert "\x1b" not in shown
    assert shown.splitlines()[0].split() == ["level", "check", "finding"]


def _read_all(terminal: int) -> str:
    text = b""
    try:
        while piece := os.read(terminal, 65536):
            text += piece
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    return text.decode()
