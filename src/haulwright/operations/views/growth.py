"""How large a database is and what retention will remove of it, as JSON and as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import TypedDict

from haulwright.clock import Instant
from haulwright.engine.durations import spell
from haulwright.operations.views.columns import Column
from haulwright.stores.growth import TableSize

if TYPE_CHECKING:
    from haulwright.operations.growth import DatabaseGrowth, RetentionStatus

SHOWN_BYTES: Final = 1024**2
"""A smaller table is not worth a line to people."""


class TableSizeView(TypedDict):
    """How large a table is, or the file of SQLite. The rows are as many as the server last counted."""

    name: str
    rows: int | None
    size_bytes: int
    partitions: int


class RetentionView(TypedDict):
    """How long something is kept, and what of it is past that: so much, or more."""

    kind: str
    kept_seconds: float
    setting: str
    due: int
    more: bool
    oldest_due_at: int | None


SIZE_COLUMNS: Final[tuple[Column[TableSize], ...]] = (
    Column("table", lambda table: table.name),
    Column("rows, about", lambda table: "" if table.rows is None else f"{table.rows:,}"),
    Column("size", lambda table: f"{table.size_bytes / 1024**2:,.1f} MiB"),
    Column("partitions", lambda table: table.partitions or ""),
)
RETENTION_COLUMNS: Final[tuple[Column[RetentionStatus], ...]] = (
    Column("what is kept", lambda row: row.kind),
    Column("for", lambda row: spell(row.kept_seconds)),
    Column("due to go", lambda row: f"{row.due.rows:,}{' or more' if row.due.is_more else ''}"),
    Column("the oldest", lambda row: row.due.oldest, moment=True),
    Column("setting", lambda row: row.setting),
)


def growth_tables(growth: DatabaseGrowth | None) -> list[tuple[Sequence[Column[Any]], Sequence[Any], Instant]]:
    """What people are shown: the tables that are worth a line, what is kept for how long, and the time by which."""
    if growth is None:
        return []
    large = [table for table in growth.tables if table.size_bytes >= SHOWN_BYTES or table.partitions]
    sizes = [*large, TableSize("in all", None, growth.size_bytes, 0)]
    return [(SIZE_COLUMNS, sizes, growth.now), (RETENTION_COLUMNS, growth.retention, growth.now)]


def table_size_view(table: TableSize) -> TableSizeView:
    """A table."""
    return {
        "name": table.name,
        "rows": table.rows,
        "size_bytes": table.size_bytes,
        "partitions": table.partitions,
    }


def retention_view(row: RetentionStatus) -> RetentionView:
    """What is kept."""
    return {
        "kind": row.kind,
        "kept_seconds": row.kept_seconds,
        "setting": row.setting,
        "due": row.due.rows,
        "more": row.due.is_more,
        "oldest_due_at": row.due.oldest,
    }
