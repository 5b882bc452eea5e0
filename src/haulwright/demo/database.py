"""Where the demo plays: a file or a schema of its own, so that it meets nobody's rows and leaves none behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, quote, urlencode

from haulwright.discovery import installed_applications
from haulwright.engine.ids import new_id
from haulwright.errors import Refused
from haulwright.stores.connect import open_database

if TYPE_CHECKING:
    from haulwright.stores.connection import Connection

SCHEMA: Final = "haulwright_demo_"
"""How its schemas are named; one that a demo killed with -9 left behind can be dropped."""
_JOBS: Final = ("haulwright_jobs", "haulwright_history")
_TABLES: Final = """
select quote_ident(table_name) from information_schema.columns
where column_name = 'tenant' and table_schema = any (current_schemas(false)) order by table_name"""


@contextmanager
def place(folder: Path, said_database: str | None) -> Iterator[str]:
    """The address of a fresh database: a file in the folder, or a schema of the PostgreSQL that was named.

    The schema is dropped at the end. A database in which somebody works is refused before anything is made.
    """
    if said_database is None:
        yield f"sqlite:///{folder}/haulwright.db"
        return
    with closing(open_database(said_database, pool_size=1)) as database:
        if database.dialect == "sqlite":
            message = "The demo plays on an SQLite file of its own."
            raise Refused(message, hint="Leave --database out, or name a PostgreSQL.")
        database.read(_require_unused)
        schema = SCHEMA + new_id()[-12:]
        database.transact(lambda connection: connection.execute(f"create schema {schema}"))
        try:
            yield _within(said_database, schema)
        finally:
            database.transact(lambda connection: connection.execute(f"drop schema {schema} cascade"))


def _require_unused(connection: Connection) -> None:
    """Refuse a database with jobs, or rows of applications: workers that are killed belong beside nobody's work."""
    work = (*_JOBS, *(f"{name}_" for name in installed_applications().specs))
    for (table,) in connection.execute(_TABLES):
        one_row = f"select 1 from {table} limit 1"  # noqa: S608 - quoted by the database
        if table.startswith(work) and connection.execute(one_row):
            message = f"Somebody works on this database: there are rows in {table}."
            raise Refused(message, hint="Give the demo a database of its own, or leave --database out.")


def _within(url: str, schema: str) -> str:
    """The same database, seen from a schema of it."""
    address, _, query = url.partition("?")
    known = dict(parse_qsl(query))
    known["options"] = f"{known.get('options', '')} -c search_path={schema}".strip()
    return f"{address}?{urlencode(known, quote_via=quote)}"
