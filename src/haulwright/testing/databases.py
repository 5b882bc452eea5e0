"""An empty database for one test: a file in its folder, or a schema of its own on a PostgreSQL server."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from haulwright.errors import InvalidValue
from haulwright.extras import needs_extra


@contextmanager
def fresh_database(server: str | None, folder: Path) -> Iterator[str]:
    """The address of an empty database, which is gone afterwards."""
    if server is None:
        yield f"sqlite:///{quote(str(folder))}/haulwright.db"
        return
    if urlsplit(server).scheme not in {"postgres", "postgresql"}:
        hint = "Without it each test has an SQLite file of its own."
        raise InvalidValue("--haulwright-database", server, "is not the address of a PostgreSQL server", hint=hint)
    with _schema(server) as url:
        yield url


@contextmanager
def _schema(server: str) -> Iterator[str]:
    with needs_extra("postgres", "A test on PostgreSQL"):
        import psycopg  # noqa: PLC0415 - the driver is optional
        from psycopg import sql  # noqa: PLC0415 - as above

    name = f"haulwright_test_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("create schema {}").format(sql.Identifier(name)))
        try:
            yield _within(server, name)
        finally:
            connection.execute(sql.SQL("drop schema {} cascade").format(sql.Identifier(name)))


def _within(server: str, schema: str) -> str:
    """The same address with the schema first in the search path."""
    parts = urlsplit(server)
    query = dict(parse_qsl(parts.query))
    query["options"] = f"{query.get('options', '')} -c search_path={schema}".strip()
    return urlunsplit(parts._replace(query=urlencode(query, quote_via=quote)))
