"""Filters of jobs, as the pages that lead to jobs write them into addresses."""

from __future__ import annotations

from haulwright.operations.filters import FilterWord


def jobs_query(**words: str | None) -> str:
    """The filter that these fields make, each value in quotes where it needs them. What is None is left out."""
    return " ".join(str(FilterWord(name, (value,))) for name, value in words.items() if value is not None)
