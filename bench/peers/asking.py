"""Asks a PostgreSQL peer's tables over a connection that stays open, so that asking takes no time of a drain."""

from __future__ import annotations

from functools import cache
from typing import Any

import psycopg

from bench.peers import ADDRESS


def finds(statement: str) -> bool:
    """Whether a statement finds a row."""
    return bool(_connection().execute(statement.encode()).fetchall())


@cache
def _connection() -> psycopg.Connection[tuple[Any, ...]]:
    return psycopg.connect(ADDRESS, autocommit=True)
