"""Tables on a terminal. Rich is imported here and nowhere else but for progress bars."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table as Drawing
from rich.text import Text

from haulwright.cli.kit.output import Table

STYLES = {
    "succeeded": "green", "ok": "green", "running": "cyan", "retrying": "yellow", "warn": "yellow", "dead": "red",
    "problem": "bold red", "cancelled": "dim", "skipped": "dim",
}  # fmt: skip
"""The colours of words that stand alone in a cell; the word itself always says it too."""
GAP = 2
FOLDED_CHARS = 20
"""The least width of the last column, whose text may take several lines."""


def draw(table: Table) -> None:
    """Print a table that fits the terminal: empty columns go first, then those that it can spare."""
    console = Console()
    console.print(drawing_of(table, console.width))


def drawing_of(table: Table, width: int, *, fold: bool = True) -> Drawing:
    """A table in this width. Only the last column gives way: it is folded, or cut; the others stay whole."""
    places = fitting(table, width)
    *kept, last = places
    drawing = Drawing(box=None, pad_edge=False, header_style="bold")
    for place in kept:
        drawing.add_column(Text(table.headers[place]), no_wrap=True, min_width=_width(table, place))
    room = width - sum(_width(table, place) + GAP for place in kept)
    cut = {"no_wrap": True, "overflow": "ellipsis", "max_width": max(room, 1)}
    drawing.add_column(Text(table.headers[last]), **({"overflow": "fold"} if fold else cut))
    for row in table.rows:
        drawing.add_row(*(Text(str(row[place]), STYLES.get(str(row[place]), "")) for place in places))
    return drawing


def fitting(table: Table, width: int) -> list[int]:
    """The places of the columns that are shown in this width."""
    places = [place for place in range(len(table.headers)) if any(str(row[place]) for row in table.rows)]
    for name in table.optional_columns:
        if _needed(table, places) <= width:
            break
        places = [place for place in places if table.headers[place] != name]
    return places


def _width(table: Table, place: int) -> int:
    return max(len(table.headers[place]), *(len(str(row[place])) for row in table.rows))


def _needed(table: Table, places: list[int]) -> int:
    widths = [_width(table, place) for place in places]
    widths[-1] = min(widths[-1], FOLDED_CHARS)
    return sum(widths) + GAP * (len(widths) - 1)
