"""How a command tells what it found: JSON for programs, tables for people, notes beside them on stderr."""

from __future__ import annotations

import re
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import click

from haulwright.cli.kit.times import ago, utc_seconds
from haulwright.operations.views.columns import Column, optional_columns
from haulwright.visible import visible, visible_json, visible_line

T = TypeVar("T")

LINE_EVERY_SECONDS = 10.0
"""How often long work says how far it is where no bar can be drawn."""
_BREAK = re.compile(r"\r?\n|\t")


def write(text: str, *, err: bool = False, newline: bool = True) -> None:
    """Print a text. All commands do it here, so that no value of a row can steer the terminal it is shown on."""
    click.echo(visible(text), err=err, nl=newline)


SHORTEST_BAR = 2
"""Fewer steps than this need no bar."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headers."""

    headers: Sequence[str]
    rows: Sequence[Sequence[object]]
    empty: str = "Nothing."
    """What is said instead where there is no row."""
    optional_columns: Sequence[str] = ()
    """The columns that a narrow terminal goes without, in this order."""

    def __post_init__(self) -> None:
        """Make every cell a text in one line, whoever draws it."""
        object.__setattr__(self, "headers", [_cell_text(header) for header in self.headers])
        object.__setattr__(self, "rows", [[_cell_text(cell) for cell in row] for row in self.rows])


@dataclass(frozen=True, slots=True)
class Fields:
    """Names and values of one thing; those without a value are left out."""

    pairs: Sequence[tuple[str, object]]


class Out:
    """Writes what a command answers. `typable` completes the commands that it names."""

    def __init__(self, *, as_json: bool, utc: bool, typable: Callable[[str], str] = str) -> None:
        self.as_json = as_json
        self._utc = utc
        self._typable = typable

    def show(self, document: Any, *parts: Table | Fields | str) -> None:
        """The result: as one JSON document where that was asked for, else as these parts."""
        if self.as_json:
            write(visible_json(document, indent=2))
            return
        for part in parts:
            self._tell(part)

    def line(self, document: Any, text: str) -> None:
        """One of many results that come one by one: a line of JSON, or of text."""
        write(visible_json(document) if self.as_json else visible_line(text))

    def note(self, text: str) -> None:
        """Something beside the result, for people."""
        write(text, err=True)

    def more(self, cursor: str | None) -> None:
        """Say that there is another page, and how to see it."""
        if cursor and not self.as_json:
            self.note(f"There are more: add --after {shlex.quote(cursor)}")

    def next_step(self, command: str) -> None:
        """What to type next."""
        if command and not self.as_json:
            self.note(f"Next: {self._typable(command)}")

    def when(self, instant: int | None, now: int) -> str:
        """A moment: how long ago, or the time itself with --utc."""
        if instant is None:
            return ""
        return utc_seconds(instant) if self._utc else ago(instant, now)

    def table(
        self, columns: Sequence[Column[T]], items: Iterable[T], *, now: int = 0, empty: str = "Nothing."
    ) -> Table:
        """Things as rows of the columns that are declared for them."""
        rows = [[self._cell(column, item, now) for column in columns] for item in items]
        return Table([column.name for column in columns], rows, empty, optional_columns(columns))

    def _cell(self, column: Column[T], item: T, now: int) -> object:
        value = column.value(item)
        return self.when(cast("int | None", value), now) if column.moment else value

    def progress(self, items: Iterable[T], label: str, total: int) -> Iterator[T]:
        """Pass items on and show how far it is: a bar on a terminal, else a line now and then."""
        if self.as_json or total < SHORTEST_BAR or not sys.stderr.isatty():
            return self._progress_lines(items, label, total)
        return _progress_bar(items, label, total)

    def _progress_lines(self, items: Iterable[T], label: str, total: int) -> Iterator[T]:
        last_line_at = time.monotonic()
        for count, item in enumerate(items, 1):
            yield item
            if time.monotonic() - last_line_at >= LINE_EVERY_SECONDS:
                last_line_at = time.monotonic()
                self.note(f"{label}: {count} of {total}")

    def _tell(self, part: Table | Fields | str) -> None:
        match part:
            case str():
                write(part)
            case Fields():
                fields = [(name, _word(value)) for name, value in part.pairs if value is not None and value != ""]
                width = max((len(name) for name, _ in fields), default=0)
                # A value of several lines is set in, so that none of them looks like another name.
                lines = (f"{name:<{width}}  " + value.replace("\n", "\n" + " " * (width + 2)) for name, value in fields)
                write("\n".join(lines))
            case Table(rows=[]) | Table(rows=()):
                self.note(part.empty)
            case Table() if sys.stdout.isatty():
                from haulwright.cli.kit.drawing import draw  # noqa: PLC0415 - only where something is drawn

                draw(part)
            case Table():
                write(_plain(part))


def _word(value: object) -> str:
    """A value as people read it: what is not text as JSON."""
    return value if isinstance(value, str) else visible_json(value)


def _cell_text(value: object) -> str:
    return visible_line(_BREAK.sub(" ", str(value)))


def _plain(table: Table) -> str:
    """Aligned columns, each cell whole and on one line."""
    cells = [[str(cell) for cell in row] for row in [table.headers, *table.rows]]
    widths = [max(len(row[place]) for row in cells) for place in range(len(table.headers))]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )


def _progress_bar(items: Iterable[T], label: str, total: int) -> Iterator[T]:
    from rich.console import Console  # noqa: PLC0415 - only where something is drawn
    from rich.progress import track  # noqa: PLC0415 - as above

    yield from track(items, description=label, total=total, console=Console(stderr=True), transient=True)
