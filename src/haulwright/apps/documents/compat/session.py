"""A connection of the caller's as a store of the engine, and what this connection has leased."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from haulwright import LeaseLost
from haulwright.clock import clock_from_environment
from haulwright.engine.job import DEFAULT_TENANT, Lease
from haulwright.errors import Refused
from haulwright.stores.books import book
from haulwright.stores.caller_connection import adopt_connection
from haulwright.stores.sqlite.connection import SqliteDatabase
from haulwright.stores.store import Store

PACKAGE: Final = "haulwright.apps.documents"
QUEUE: Final = "documents"
TASK: Final = "documents.fetch"
_HELD: Final = """create temp table if not exists documents_held (
    job_id text not null primary key, owner text not null, lease text not null) without rowid"""
"""In the temporary part of the connection: it is gone with the connection, and nobody else can see it."""
_TENANTS: Final = "create temp table if not exists documents_tenants (tenant text not null unique)"
"""Whose jobs this connection has leased, the last one with the highest row."""


@contextmanager
def transaction(conn: sqlite3.Connection) -> Iterator[Store]:
    """The engine on this connection, in one transaction: all that is done inside is on disk afterwards, or nothing."""
    if conn.in_transaction:
        message = "The connection has a transaction open, which would hold up every other worker."
        raise Refused(message, hint="Commit or roll it back first: each of these functions is one of its own.")
    conn.execute("begin immediate")
    try:
        yield store_on(conn)
        conn.execute("commit")
    except BaseException:
        if conn.in_transaction:
            conn.execute("rollback")
        raise


def store_on(conn: sqlite3.Connection) -> Store:
    """The engine, seen through a connection that has a transaction open."""
    file = next(path for _, name, path in rows(conn, "pragma database_list") if name == "main")
    return Store(adopt_connection(conn, SqliteDatabase(Path(file), clock=clock_from_environment())))


def rows(conn: sqlite3.Connection, sql: str, params: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
    """Plain rows, whatever row factory the caller likes."""
    cursor = conn.cursor()
    cursor.row_factory = None
    return cursor.execute(sql, params or {}).fetchall()


def entry(name: str) -> str:
    """A statement of this vocabulary."""
    (statement,) = book(f"{PACKAGE}.compat", "sqlite", "leases")[name]
    return statement


def remember_lease(conn: sqlite3.Connection, owner: str, lease: Lease) -> None:
    """Remember a lease with the connection that took it."""
    conn.execute(_HELD)
    params = {"job_id": lease.id, "owner": owner, "lease": json.dumps(lease)}
    conn.execute("insert or replace into temp.documents_held values (:job_id, :owner, :lease)", params)
    conn.execute(_TENANTS)
    conn.execute("insert or replace into temp.documents_tenants values (:tenant)", {"tenant": lease.tenant})


def find_lease(conn: sqlite3.Connection, job_id: str, owner: str | None = None) -> Lease | None:
    """The lease that this connection took, by this owner where one is named; it may have been lost since."""
    conn.execute(_HELD)
    sql = "select lease from temp.documents_held where job_id = :job_id and (:owner is null or owner = :owner)"
    lease_rows = rows(conn, sql, {"job_id": job_id, "owner": owner})
    return Lease(*json.loads(lease_rows[0][0])) if lease_rows else None


def tenants(conn: sqlite3.Connection) -> list[str]:
    """Whose jobs this connection has to do with: those it leased, the last one first, and those it plans."""
    conn.execute(_TENANTS)
    tenant_rows = rows(conn, "select tenant from temp.documents_tenants order by rowid desc")
    return list(dict.fromkeys([*(tenant for (tenant,) in tenant_rows), DEFAULT_TENANT]))


def require_lease(conn: sqlite3.Connection, job_id: str, verb: str) -> Lease:
    """The same; refused where this connection never leased the job."""
    lease = find_lease(conn, job_id)
    if lease is None:
        raise LeaseLost(job_id, 0, verb)
    return lease


def forget_lease(conn: sqlite3.Connection, job_id: str) -> None:
    """Forget a lease."""
    conn.execute("delete from temp.documents_held where job_id = :job_id", {"job_id": job_id})
