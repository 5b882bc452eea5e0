"""A database in which every text that somebody else may write wants to steer a terminal."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

from click.testing import CliRunner

from haulwright.cli.kit.root import root

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\r\u202eevil\u2066\u2028\x85x\b"
SHOWN = r"\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\r\u202eevil\u2066\u2028\x85x\x08"
HALF = "\ud800"
"""Half a surrogate pair: no driver takes it, but JSON does."""
SHOP = "tests.cli.shop:app"
DAY = "2024-01-01"
NEVER = 10**17
"""Later than any clock: a worker that was just seen."""
JSON = ("headers", "progress", "result", "attributes", "detail")
# What a command parses or looks rows up by; everything else is free text.
_KEPT = re.compile(
    r".*_?id|requeued_\w+|state|kind|tenant|cron|tz|overlap|template|disposition|day|currency|price_type|breaker|stored|"
    r"unique_scope|rules|declared|overridden|chain|digest|event_fields|.*sha256|source|.*key|outcome|version|task"
)
BRIEF = {
    "day": DAY, "title": HOSTILE, "published_at": "2024-01-01T06:00:00Z", "clustering_version": "1", "articles": 1,
    "sources": 1, "events_not_shown": 1, "events": [{
        "rank": 1, "id": HOSTILE + HALF, "headline": HOSTILE + HALF, "link": f"https://a.example/{HOSTILE}",
        "summary": [{"text": HOSTILE, "source": HOSTILE, "link": None}], "sources": [HOSTILE],
        "reports": [{"title": HOSTILE, "source": HOSTILE, "link": "https://[", "published_at": "2024-01-01T06:00:00Z",
                     "article_id": "a"}],
        "reports_not_named": 0, "score": 1, "size": 1, "novelty": 1, "weight": 1, "why": HOSTILE,
    }],
}  # fmt: skip


def make(path: Path) -> dict[str, str]:
    """Make the database, and return the names that commands ask for."""

    def run(*words: str) -> str:
        result = CliRunner().invoke(root, [*words, "--database", f"sqlite:///{path}"])
        assert result.exit_code == 0, result.output
        return result.stdout.strip()

    names = {
        "dead": run("run", "-A", SHOP, "price", "sku=bad", "--key", HOSTILE.replace("\r", "")),
        "done": run("run", "-A", SHOP, "price", "sku=A1"),
        "retried": run("run", "-A", SHOP, "fetch", f"url={HOSTILE}"),
    }
    run("worker", "-A", SHOP, "--until-empty", "--queues", "default,slow")
    names["queued"] = run("run", "-A", SHOP, "price", f"sku={HOSTILE}", "--correlation-id", HOSTILE)
    run("brief", "add", "https://news.example/feed")
    names |= {"intake": run("price", "add", "Penny"), "brand": run("brand", "add", "Acme")}
    run("doc", "add", "https://docs.example/a.pdf")
    run("db", "migrate", "syncs")
    with closing(sqlite3.connect(path)) as connection:
        _fill(connection, names)
        for table, column in _free_texts(connection):
            _spoil(connection, table, column)
        connection.commit()
        names["schedule"] = f"daily prices{HOSTILE}"
        names["document"] = connection.execute("select key from documents_artifacts").fetchone()[0]
    return names | {"source": "shop"}


def _fill(connection: sqlite3.Connection, names: dict[str, str]) -> None:
    tenant = {"tenant": "default"}
    _insert(connection, "haulwright_sources", key="shop", declared="{}", overridden=None, breaker="closed")
    _insert(connection, "haulwright_queues", name="default")
    _insert(connection, "haulwright_workers", id="w", queues='["default"]', tasks="[]", stopped_at=None, seen_at=NEVER)
    _insert(connection, "haulwright_slots", schedule="daily prices", disposition="fired", job_id=names["done"])
    effect = {"job_key": names["dead"], "job_id": names["dead"], "kind": "effect", "state": "unknown"}
    _insert(connection, "haulwright_effects", **tenant, **effect, result=None, stored="inline")
    _insert(connection, "brief_briefs", **tenant, day=DAY, document=json.dumps(BRIEF))
    point = {"intake_id": names["intake"], "currency": "EUR", "price_type": "sold", "day": DAY}
    _insert(connection, "prices_points", **tenant, **point)
    _insert(connection, "syncs_connections", **tenant)


def _columns(connection: sqlite3.Connection, table: str) -> list[tuple[str, str]]:
    return [(row[1], row[2].lower()) for row in connection.execute(f"pragma table_info({table})")]


def _insert(connection: sqlite3.Connection, table: str, **chosen: object) -> None:
    row = {name: HOSTILE if kind == "text" else 1 for name, kind in _columns(connection, table)} | chosen
    places = ", ".join(f":{name}" for name in row)
    connection.execute(f"insert or replace into {table} ({', '.join(row)}) values ({places})", row)  # noqa: S608


def _free_texts(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Every column of free text."""
    tables = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
    ours = [name for (name,) in tables if not re.search("migrations|events|meta|sqlite|words|keys|briefs", name)]
    return [
        (table, name)
        for table in ours
        for name, kind in _columns(connection, table)
        if kind == "text" and not _KEPT.fullmatch(name)
    ]


def _spoil(connection: sqlite3.Connection, table: str, column: str) -> None:
    """Add to a text what no terminal should see, inside of JSON where it is that."""
    for old in {value for (value,) in connection.execute(f"select {column} from {table}")}:  # noqa: S608
        statement = f"update {table} set {column} = ? where {column} is ?"  # noqa: S608
        connection.execute(statement, (_spoiled("{}" if old is None and column in JSON else old), old))


def _spoiled(old: str | None) -> str:
    if not (old or "").startswith(("{", "[", '"')) and not (old or "").isdecimal():
        return f"{old or ''}{HOSTILE}"
    value = json.loads(old or "")
    if isinstance(value, dict):
        return json.dumps(value | {HOSTILE: HOSTILE + HALF})
    return json.dumps([*value, HOSTILE] if isinstance(value, list) else HOSTILE + HALF)
