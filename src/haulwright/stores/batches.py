"""Batches that a database takes: so many rows, and so many bytes, at most."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

BATCH_BYTES = 8 << 20
"""What one statement carries at most. Far more, and the server refuses it, or has no memory for it."""


def batches(rows: Iterable[T], most_rows: int, size_of: Callable[[T], int]) -> Iterator[list[T]]:
    """The rows in order, in batches within both bounds; a row that is too large by itself is a batch of its own."""
    batch: list[T] = []
    total = 0
    for row in rows:
        size = size_of(row)
        if batch and (len(batch) >= most_rows or total + size > BATCH_BYTES):
            yield batch
            batch, total = [], 0
        batch.append(row)
        total += size
    if batch:
        yield batch


def size_of_text(text: str | None) -> int:
    """The bytes of a text as it is sent."""
    if text is None:
        return 0
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
