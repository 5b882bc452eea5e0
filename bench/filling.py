"""Large tables, made inside the database by repeating one row that is there already under other keys."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing

import psycopg

from haulwright.engine.job import PRIORITY_LIMIT

FAR_FUTURE_US = 4_102_444_800_000_000
"""The year 2100."""
_CHUNK = 100_000
"""Rows in one transaction on SQLite, so that its log stays small."""
_NUMBERS = """(
    with recursive series (n) as (select {first} union all select n + 1 from series where n < {last})
    select n from series) numbers"""


def park(address: str, count: int) -> None:
    """Jobs of the best priority that are not due for long."""
    _repeat(address, "haulwright_jobs", count, {"rank": str(-PRIORITY_LIMIT), "run_at": str(FAR_FUTURE_US)})


def backlog(address: str, count: int) -> None:
    """Jobs that are due."""
    _repeat(address, "haulwright_jobs", count, {})


def history(address: str, count: int) -> None:
    """Finished jobs, each a microsecond older than the one before."""
    _repeat(address, "haulwright_history", count, {"finished_at": "model.finished_at - numbers.n"})


def mixed_history(address: str, count: int, *, tenants: int, dead_every: int) -> None:
    """Finished jobs of many tenants, each a millisecond older than the one before, one in so many of them dead."""
    state = f"case when numbers.n % {dead_every} = 0 then 'dead' else model.state end"
    finished = "model.finished_at - 1000 * cast(numbers.n as bigint)"
    other = {"state": state, "tenant": _tenant(address, tenants), "finished_at": finished}
    _repeat(address, "haulwright_history", count, other)


def events(address: str, count: int, *, tenants: int) -> None:
    """Events of many tenants, all of them of one name."""
    other = {"name": "'job.enqueued'", "tenant": _tenant(address, tenants)}
    _repeat(address, "haulwright_events", count, other, without=("seq",))


def _tenant(address: str, tenants: int) -> str:
    if address.startswith("sqlite"):
        return f"'tenant-' || substr('00' || (numbers.n % {tenants}), -3)"
    return f"'tenant-' || lpad((numbers.n % {tenants})::text, 3, '0')"


def _repeat(address: str, table: str, count: int, other: Mapping[str, str], *, without: Sequence[str] = ()) -> None:
    family = f"01900000-{secrets.token_hex(2)}-7000-8000-"  # ids of our form, all older than any real one
    if address.startswith("sqlite"):
        values = {**_keys(f"'{family}' || printf('%012x', numbers.n)"), **other}
        _repeat_sqlite(address, table, count, values, without)
    else:
        ids = f"'{family}' || lpad(to_hex(numbers.n), 12, '0')"
        uuids = dict.fromkeys(("id", "job_id"), f"({ids})::uuid")
        _repeat_postgres(address, table, count, {**_keys(ids), **uuids, **other}, without)


def _keys(ids: str) -> dict[str, str]:
    return {"id": ids, "job_id": ids, "job_key": ids}


def _repeat_postgres(address: str, table: str, count: int, other: Mapping[str, str], without: Sequence[str]) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        found = connection.execute(f"select * from {table} limit 0")
        columns = [column.name for column in found.description or () if column.name not in without]
        numbers = f"generate_series(1, {count}) as numbers (n)"
        connection.execute(_statement(table, columns, other, numbers).encode())
        connection.execute(f"vacuum (analyze) {table}".encode())


def _repeat_sqlite(address: str, table: str, count: int, other: Mapping[str, str], without: Sequence[str]) -> None:
    path = address.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as connection:
        connection.execute("pragma synchronous = off")  # nobody measures this
        found = connection.execute(f"select * from {table} limit 0")
        columns = [column[0] for column in found.description if column[0] not in without]
        for start in range(0, count, _CHUNK):
            numbers = _NUMBERS.format(first=start + 1, last=min(count, start + _CHUNK))
            connection.execute(_statement(table, columns, other, numbers))
        connection.execute("pragma wal_checkpoint (truncate)")


def _statement(table: str, columns: Sequence[str], other: Mapping[str, str], numbers: str) -> str:
    values = ", ".join(other.get(column, f"model.{column}") for column in columns)
    return (
        f"insert into {table} ({', '.join(columns)}) select {values} "
        f"from (select * from {table} limit 1) model cross join {numbers}"
    )
