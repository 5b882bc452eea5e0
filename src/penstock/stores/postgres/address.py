"""The address of a server, as people may see it."""

from __future__ import annotations

import psycopg


def safe_url(url: str) -> str:
    """A database URL without its password or options, for people to read."""
    try:
        facts = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return "(hidden, for it may contain a password)"
    host, port, name = facts.get("host", ""), facts.get("port", ""), facts.get("dbname", "")
    return f"postgresql://{host}{f':{port}' if port else ''}/{name}"
