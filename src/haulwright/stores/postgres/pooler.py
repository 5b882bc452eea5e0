"""A pooler before the server: recognised where the database URL says nothing of it, and told with what to write."""

from __future__ import annotations

from typing import Any

import psycopg

from haulwright.errors import DatabaseUnsuitable
from haulwright.stores.postgres.address import safe_url

LOOKS = 3
"""How often each of two connections is asked who serves it: an idle pooler gives both the same, a busy one any."""


def is_direct(raw: psycopg.Connection[Any], settings: str) -> bool:
    """Set what our work needs of a session, if the server at the other end is the one that we greeted.

    A pooler makes up the number that the greeting carries. On its connection nothing is set: it may not be ours.
    """
    return raw.execute(f"{settings} where pg_backend_pid() = {raw.info.backend_pid}".encode()).rowcount > 0


def shares_sessions(one: psycopg.Connection[Any], other: psycopg.Connection[Any]) -> bool:
    """Whether two connections of ours are not two of the server, each its own: then settings do not stay with them."""
    backends: tuple[set[int], set[int]] = (set(), set())
    for _ in range(LOOKS):
        for raw, pids in zip((one, other), backends, strict=True):
            pids.update(pid for (pid,) in raw.execute("select pg_backend_pid()").fetchall())
    return any(len(pids) > 1 for pids in backends) or not backends[0].isdisjoint(backends[1])


def unannounced_pooler(url: str) -> DatabaseUnsuitable:
    """Tell of a transaction pooler, and the line to type."""
    message = (
        f"At {safe_url(url)} stands a pooler that gives each transaction another connection of the server, "
        "as PgBouncer does with pool_mode = transaction, and the database URL does not say so."
    )
    line = safe_url(url).replace("://", "://user:password@", 1)
    return DatabaseUnsuitable(message, hint=f"Write {line}?pooler=transaction")
