"""Two tenants behind the second wall: rows of both in every table, whatever the table is for."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg

from haulwright import Haulwright
from haulwright.client.store_view import seen_through
from haulwright.operations.principal import Principal
from haulwright.operations.request_stores import store_for

T = TypeVar("T")

ACME = Principal.of_tenant("acme")
GLOBEX = Principal.of_tenant("globex")
SUPPORT = Principal.support("ann", tenant="acme", reason="ticket 7")
ADMIN = Principal.admin("root")
INSTALLATION = {"haulwright_workers", "haulwright_queues", "haulwright_pauses"}
"""Tables that are about no tenant, and that every tenant may read."""
_TABLES = """select relname::text from pg_class
where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and relname <> 'haulwright_migrations'
  and not relispartition"""
_COLUMNS = """select a.attname, format_type(a.atttypid, null), a.attidentity <> '' or a.attgenerated <> ''
from pg_attribute a where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum"""


@contextmanager
def request_of(app: Haulwright, principal: Principal):
    """What is done in here, is done as by a request of a principal."""
    with seen_through(app, store_for(app, principal)):
        yield app.operations(principal)


def execute(app: Haulwright, principal: Principal, sql: str, params: Any = None) -> list[tuple[Any, ...]]:
    """SQL of nobody's predicates, through the view that a principal's requests have."""
    return store_for(app, principal).database.transact(lambda connection: connection.execute(sql, params))


def tables_of(url: str) -> dict[str, list[tuple[str, str]]]:
    """Every table with its columns that can be written."""
    with psycopg.connect(url) as connection:
        names = [name for (name,) in connection.execute(_TABLES).fetchall()]
        return {
            name: [(column, kind) for column, kind, made in connection.execute(_COLUMNS, [name]).fetchall() if not made]
            for name in sorted(names)
        }


def row_of(table: str, columns: list[tuple[str, str]], tenant: str) -> dict[str, Any]:
    """A row of a tenant: every text names it, and every id is the one that all its rows have."""
    whose = "everybody" if table in INSTALLATION else tenant
    text = f"x@{whose}" if table in {"haulwright_sources", "haulwright_traffic"} else f'"x@{whose}"'
    values: dict[str, Any] = {
        "text": text,
        "uuid": uuid.uuid5(uuid.NAMESPACE_DNS, whose),
        "boolean": True,
        "bytea": whose.encode(),
        "tsvector": whose,
    }
    figure = 1 + ["acme", "globex", "everybody"].index(whose)
    return {column: tenant if column == "tenant" else values.get(kind, figure) for column, kind in columns}


def fill(url: str) -> None:
    """A row of each tenant in every table. What keeps nonsense out of a table is taken away before."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("set session_replication_role = replica")
        checks = """select 'alter table ' || conrelid::regclass || ' drop constraint ' || quote_ident(conname)
            from pg_constraint where connamespace = current_schema()::regnamespace and contype in ('c', 'f')
                and coninhcount = 0"""
        for (statement,) in connection.execute(checks).fetchall():
            connection.execute(statement)
        for table, columns in tables_of(url).items():
            for tenant in ("acme", "globex") if table not in INSTALLATION else ("acme",):
                insert(connection, table, row_of(table, columns, tenant))


def insert(connection: Any, table: str, row: dict[str, Any]) -> None:
    """Write a row."""
    marks = ", ".join(["%s"] * len(row))
    connection.execute(f"insert into {table} ({', '.join(row)}) values ({marks})", list(row.values()))  # noqa: S608


def dump(url: str) -> dict[str, list[str]]:
    """Every row of every table that is of globex, as text."""
    with psycopg.connect(url) as connection:
        rows = {
            table: connection.execute(f"select t::text from {table} t").fetchall()  # noqa: S608 - read
            for table in tables_of(url)
        }
    foreign = str(row_of("", [("id", "uuid")], "globex")["id"])
    return {
        table: sorted(text for (text,) in texts if "globex" in text or foreign in text) for table, texts in rows.items()
    }


def refusal(act: Callable[[], Any]) -> str | None:
    """What the server says to something that it refuses; None where it lets it pass."""
    try:
        act()
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.RaiseException) as error:
        return str(error)
    return None
