"""`haulwright top` on a terminal: the frame in place of the one before, and a key that ends it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table as Drawing
from rich.text import Text

from haulwright.cli.kit.drawing import drawing_of
from haulwright.cli.kit.output import Out, Table
from haulwright.cli.top_tables import frame_tables, headline
from haulwright.operations.overview import Frame
from haulwright.visible import visible_line

QUIT_KEYS = frozenset("qQ\x03\x04")
HELP = "q ends this"
Sleep = Callable[[float], bool]
"""Wait so long; True where somebody pressed the key that ends it."""


class Screen:
    """The terminal while `top` has it."""

    def __init__(self, live: Live, out: Out) -> None:
        self._live = live
        self._out = out
        self._tables: list[Table] = []
        self._headline = ""

    def show(self, frame: Frame) -> None:
        """Put a frame in place of the one before."""
        self._headline, self._tables = headline(frame), frame_tables(frame, self._out)
        self._draw(Text(HELP, "dim"))

    def trouble(self, sentence: str) -> None:
        """Leave the last frame, and say why there is no new one."""
        self._draw(Text(visible_line(sentence), "bold red"))

    def _draw(self, last: Text) -> None:
        width = self._live.console.width
        parts = [part for table in self._tables for part in (_drawing_of(table, width), Text())]
        self._live.update(Group(Text(self._headline, "bold"), Text(), *parts, last), refresh=True)


@contextmanager
def screen(out: Out) -> Iterator[tuple[Screen, Sleep]]:
    """Take the terminal, and give it back as it was."""
    with (
        _keyboard() as sleep,
        Live(console=Console(), screen=True, auto_refresh=False, vertical_overflow="crop") as live,
    ):
        yield Screen(live, out), sleep


@contextmanager
def _keyboard() -> Iterator[Sleep]:
    """Keys as they are pressed, where there is a keyboard that can say so."""
    try:
        import select  # noqa: PLC0415 - where the system has it
        import termios  # noqa: PLC0415 - as above
        import tty  # noqa: PLC0415 - as above
    except ImportError:
        yield _sleep
        return
    if not sys.stdin.isatty():
        yield _sleep
        return
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)

    def wait_for_key(seconds: float) -> bool:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            ready, _, _ = select.select([sys.stdin], [], [], left)
            if ready and sys.stdin.read(1) in QUIT_KEYS | {""}:
                return True
        return False

    try:
        tty.setcbreak(keyboard)
        yield wait_for_key
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


def _sleep(seconds: float) -> bool:
    time.sleep(seconds)
    return False


def _drawing_of(table: Table, width: int) -> Drawing | Text:
    return drawing_of(table, width, fold=False) if table.rows else Text(table.empty, "dim")
