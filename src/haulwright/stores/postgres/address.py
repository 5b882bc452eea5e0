"""The address of a server: what people may see of it, and what it says about a pooler in front."""

from __future__ import annotations

import psycopg

from haulwright.errors import DatabaseUnsuitable

POOLER = "pooler"
"""The one parameter of a database URL that is ours and not libpq's."""


def without_pooler(url: str) -> tuple[str, bool]:
    """The URL as libpq takes it, and whether a transaction pooler stands before the server."""
    address, _, query = url.partition("?")
    options = query.split("&")
    ours = [option for option in options if option.partition("=")[0] == POOLER]
    if not ours:
        return url, False
    if ours != [f"{POOLER}=transaction"]:
        message = "The database URL asks for a pooler of a kind that we do not know."
        raise DatabaseUnsuitable(message, hint="Write pooler=transaction, or leave it out for a session pooler.")
    rest = "&".join(option for option in options if option not in ours)
    return f"{address}?{rest}" if rest else address, True


def safe_url(url: str) -> str:
    """A database URL without its password or options, for people to read; of a cluster, each node with its port."""
    try:
        parts = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return "(hidden, for it may contain a password)"
    hosts, ports = str(parts.get("host", "")).split(","), str(parts.get("port", "")).split(",")
    ports = ports if len(ports) == len(hosts) else ports[:1] * len(hosts)  # one for all, as libpq takes it
    servers = ",".join(f"{host}:{port}" if port else host for host, port in zip(hosts, ports, strict=True))
    return f"postgresql://{servers}/{parts.get('dbname', '')}"
