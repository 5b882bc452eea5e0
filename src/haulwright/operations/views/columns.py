"""Columns of a table, declared beside the JSON of a noun. A door decides how it draws them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    """One column: its name, and what it shows of a thing."""

    name: str
    value: Callable[[T], object]
    moment: bool = False
    """The value is an instant or None: a door shows it as a time or as an age."""
    optional: int = 0
    """Above 0 a narrow door may go without it, the lowest first."""


def optional_columns(columns: Sequence[Column[T]]) -> list[str]:
    """The names of the columns that a narrow door may go without, in the order in which they go."""
    return [column.name for column in sorted(columns, key=lambda column: column.optional) if column.optional]
