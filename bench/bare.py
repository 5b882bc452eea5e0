"""Rows written by a bare driver: what an enqueue could cost at best, into the same table with the same indexes."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import psycopg

from haulwright.engine.ids import new_id

Row = tuple[Any, ...]
WARM_UP = 100
"""Rows before the clock starts: a driver prepares a statement that it has seen a few times."""
_PRAGMAS = """
pragma journal_mode = wal;
pragma synchronous = full;
pragma cache_size = -4096;
"""


def one_by_one(address: str, count: int) -> float:
    """Seconds for so many rows, each a statement that commits itself: one round trip."""
    with _connected(address) as raw:
        statement, rows = _prepared(raw, address, count)
        return _timed(rows, lambda row: raw.execute(statement, row))


def in_transactions(address: str, count: int) -> float:
    """The same, with a transaction begun and committed in so many words: three round trips."""
    begin = "begin immediate" if address.startswith("sqlite") else "begin"

    def write(row: Row) -> None:
        raw.execute(begin)
        raw.execute(statement, row)
        raw.execute("commit")

    with _connected(address) as raw:
        statement, rows = _prepared(raw, address, count)
        return _timed(rows, write)


def bulk(address: str, count: int) -> float:
    """Seconds for so many rows by COPY, or by executemany in one transaction."""
    with _connected(address) as raw:
        statement, rows = _prepared(raw, address, count)
        began = time.perf_counter()
        if isinstance(raw, sqlite3.Connection):
            raw.execute("begin immediate")
            raw.executemany(statement, rows)
            raw.execute("commit")
        else:
            _copy(raw, _columns(raw), rows)
        return time.perf_counter() - began


def _timed(rows: Sequence[Row], write: Callable[[Row], object]) -> float:
    for row in rows[:WARM_UP]:
        write(row)
    began = time.perf_counter()
    for row in rows[WARM_UP:]:
        write(row)
    return (time.perf_counter() - began) * len(rows) / len(rows[WARM_UP:])


def _prepared(raw: Any, address: str, count: int) -> tuple[str, list[Row]]:
    """A statement, and rows like the one that Haulwright wrote, ready for the driver, each with keys of its own."""
    columns = _columns(raw)
    model = dict(zip(columns, raw.execute("select * from haulwright_jobs limit 1").fetchall()[0], strict=True))
    rows = []
    for _ in range(count):
        key = new_id()
        rows.append(tuple({**model, "id": key, "job_key": key}.values()))
    marks = ", ".join(["?" if address.startswith("sqlite") else "%s"] * len(columns))
    return f"insert into haulwright_jobs ({', '.join(columns)}) values ({marks})", rows


def _columns(raw: Any) -> list[str]:
    return [column[0] for column in raw.execute("select * from haulwright_jobs limit 0").description]


def _copy(raw: psycopg.Connection[Row], columns: Sequence[str], rows: Sequence[Row]) -> None:
    with (
        raw.cursor() as cursor,
        cursor.copy(f"copy haulwright_jobs ({', '.join(columns)}) from stdin".encode()) as copy,
    ):
        for row in rows:
            copy.write_row(row)


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    if not address.startswith("sqlite"):
        with psycopg.connect(address, autocommit=True) as raw:
            yield raw
        return
    path = address.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as file:
        file.executescript(_PRAGMAS)
        yield file
