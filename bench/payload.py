"""The job that every contender is given: one argument, a JSON object of four small fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Item = dict[str, Any]


def item(number: int) -> Item:
    """One argument."""
    return {"number": number, "user": "ada", "kind": "noop", "url": f"https://example.com/items/{number}"}


def items(count: int) -> list[Item]:
    """So many of them."""
    return [item(number) for number in range(count)]


def chunks(count: int, size: int = 1000) -> Iterator[list[Item]]:
    """So many of them, in lists for a bulk call."""
    for start in range(0, count, size):
        yield [item(number) for number in range(start, min(count, start + size))]
