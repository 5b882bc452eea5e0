"""A table fits the terminal it is drawn on."""

from __future__ import annotations

from haulwright.cli.kit.drawing import fitting
from haulwright.cli.kit.output import Table

TABLE = Table(("id", "a", "b", "text"), [("x" * 10, "y" * 10, "", "z" * 50)], optional_columns=("a", "id"))


def shown(width):
    return [TABLE.headers[place] for place in fitting(TABLE, width)]


def test_a_column_without_a_value_is_left_out():
    assert shown(200) == ["id", "a", "text"]


def test_a_narrow_terminal_goes_without_what_can_be_spared_in_its_order():
    assert shown(44) == ["id", "a", "text"]
    assert shown(43) == ["id", "text"]
    assert shown(31) == ["text"]
