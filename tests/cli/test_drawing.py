"""A table fits the terminal it is drawn on."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from haulwright.cli.kit.drawing import drawing_of, fitting
from haulwright.cli.kit.output import Table
from haulwright.operations.views.columns import optional_columns
from haulwright.operations.views.schedules import SCHEDULE_COLUMNS

TABLE = Table(("id", "a", "b", "text"), [("x" * 10, "y" * 10, "", "z" * 50)], optional_columns=("a", "id"))


def shown(width):
    return [TABLE.headers[place] for place in fitting(TABLE, width)]


def test_a_column_without_a_value_is_left_out():
    assert shown(200) == ["id", "a", "text"]


def test_a_narrow_terminal_goes_without_what_can_be_spared_in_its_order():
    assert shown(44) == ["id", "a", "text"]
    assert shown(43) == ["id", "text"]
    assert shown(31) == ["text"]


def test_how_a_schedule_stands_is_readable_on_a_narrow_terminal():
    row = (
        "hourly prices",
        "0 * * * *",
        "Europe/Berlin",
        "all_prices",
        "default",
        "in 34 min 39 s",
        "paused by " + "a" * 20,
    )
    headers = [column.name for column in SCHEDULE_COLUMNS]

    places = fitting(Table(headers, [row], optional_columns=optional_columns(SCHEDULE_COLUMNS)), 80)

    assert [headers[place] for place in places] == ["schedule", "cron", "zone", "next", "status"]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("fold", [True, False])
def test_only_the_last_column_gives_way(width, fold):
    failures = Table(
        ("when", "what", "task", "queue", "job", "attempt", "error"),
        [("3 s ago", "failed", "documents.fetch", "documents", "6bf865c5e30d", "1", "the server ended " * 20)] * 3,
        optional_columns=("queue", "job", "attempt"),
    )
    console = Console(width=width, file=io.StringIO())
    console.print(drawing_of(failures, width, fold=fold))
    lines = console.file.getvalue().splitlines()

    assert max(map(len, lines)) <= width
    assert [line.split("  ")[0] for line in lines if line.startswith("3 s")] == ["3 s ago"] * 3
    assert all(word in lines[1] for word in ("failed", "documents.fetch", "6bf865c5e30d"))
    assert fold or len(lines) == 4
