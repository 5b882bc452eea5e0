"""A terminal for tests: what a person would see at the end, whatever was written over on the way."""

from __future__ import annotations

import codecs
import fcntl
import os
import re
import struct
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SEQUENCE = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z])|\x1b[()][A-Z0-9]|[\r\n\b]|[^\x1b\r\n\b]+|\x1b")


class Screen:
    """Lines of text under a cursor. It knows the sequences that progress bars use, and scrolls without an end."""

    def __init__(self, columns: int = 100) -> None:
        self._columns = columns
        self._lines: list[str] = [""]
        self._row = self._column = 0

    @property
    def lines(self) -> list[str]:
        """What is on the screen and above it."""
        return [line.rstrip() for line in self._lines]

    def feed(self, text: str) -> None:
        """Draw what a program wrote."""
        for match in SEQUENCE.finditer(text):
            text_part = match[0]
            if match[2]:
                self._steer(match[1], match[2])
            elif text_part == "\r":
                self._column = 0
            elif text_part == "\n":
                self._go_down()
            elif text_part == "\b":
                self._column = max(0, self._column - 1)
            elif not text_part.startswith("\x1b"):
                for letter in text_part:
                    self._put(letter)

    def _put(self, letter: str) -> None:
        if self._column == self._columns:
            self._column = 0
            self._go_down()
        line = self._lines[self._row].ljust(self._column)
        self._lines[self._row] = line[: self._column] + letter + line[self._column + 1 :]
        self._column += 1

    def _go_down(self) -> None:
        self._row += 1
        if self._row == len(self._lines):
            self._lines.append("")

    def _steer(self, numbers: str, verb: str) -> None:
        first = numbers.partition(";")[0]
        count = int(first) if first.isdigit() else 1
        line = self._lines[self._row]
        if verb == "A":
            self._row = max(0, self._row - count)
        elif verb == "B":
            self._row = min(len(self._lines) - 1, self._row + count)
        elif verb == "G":
            self._column = count - 1
        elif verb == "K":
            self._lines[self._row] = "" if first == "2" else line[: self._column]
        elif verb == "J":
            self._lines[self._row :] = [line[: self._column]]


@contextmanager
def pseudo_terminal(columns: int = 100, rows: int = 30) -> Iterator[tuple[int, Screen, threading.Thread]]:
    """The end for a program, the screen, and the thread that draws until the last program has closed its end."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    screen = Screen(columns)
    drawing = threading.Thread(target=_draw, args=(ours, screen), daemon=True)
    drawing.start()
    try:
        yield theirs, screen, drawing
    finally:
        os.close(ours)


def _draw(end: int, screen: Screen) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while True:
        try:
            data = os.read(end, 65536)
        except OSError:  # nobody holds the other end any more
            return
        if not data:
            return
        screen.feed(decoder.decode(data))
