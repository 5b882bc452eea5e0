"""A backup of PostgreSQL by its own tool: the schema that our tables are in, at one moment, while others write."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import psycopg

from haulwright.errors import DatabaseUnavailable, Refused
from haulwright.redaction import redact
from haulwright.stores.backup import BackupFile, Progress, whole_file
from haulwright.stores.postgres.connection import PostgresDatabase

_ABOUT = "select current_schema(), current_setting('server_version_num')::int / 10000"
_SERVER = ("host", "hostaddr", "port", "user", "dbname", "sslmode")
"""What a line to type says of an address; a password comes from PGPASSWORD or ~/.pgpass."""
_COUNTS = "select count(*) from haulwright_migrations"


def back_up_schema(database: PostgresDatabase, target: Path, *, force: bool, progress: Progress) -> BackupFile:
    """Dump the schema that our tables are in, with what else is in it, and look through the dump.

    What `ctx.commit` wrote must come back together with the ledger that says so: so all tables of the schema are in it.
    """
    ((schema, version),) = database.read(lambda connection: connection.execute(_ABOUT))
    ((migrations,),) = database.read(lambda connection: connection.execute(_COUNTS))
    program = _program("pg_dump", version)
    with whole_file(target, force=force) as part:
        words = ["--format=custom", "--no-password", f"--schema={_pattern(schema)}", f"--file={part}"]
        progress(0, 1)
        _run([program, *words], database.url)
        tables = _tables_in(part, version)
        size_bytes = part.stat().st_size
        progress(1, 1)
    if "haulwright_jobs" not in tables:
        message = f"The dump has no table haulwright_jobs: the tables are not in the schema {schema!r}."
        raise Refused(message, hint="Give the search_path in the address of the database.")
    contents = {"migrations": int(migrations), "tables": len(tables)}
    return BackupFile(target, "pg_dump", size_bytes, contents, (restore_line(database.url, schema, target),))


def restore_line(url: str, schema: str, target: Path) -> str:
    """What puts a dump back into the same database, beside whoever works on it: all of it, or nothing."""
    words = ["pg_restore", "--clean", "--if-exists", "--no-owner", "--single-transaction", f"--schema={schema}"]
    parts: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(url)
    server = psycopg.conninfo.make_conninfo(**{name: parts[name] for name in _SERVER if name in parts})
    return shlex.join([*words, f"--dbname={server}", str(target.resolve())])


def libpq_environment(url: str) -> dict[str, str]:
    """An address as the variables that PostgreSQL's tools read: nothing of it is in the list of processes."""
    parts: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(url)
    names = {
        option.keyword.decode(): option.envvar.decode()
        for option in psycopg.pq.Conninfo.get_defaults()
        if option.envvar
    }
    return os.environ | {names[name]: str(value) for name, value in parts.items() if name in names}


def _program(name: str, version: int) -> str:
    program = shutil.which(name)
    if program is None:
        message = f"A backup of PostgreSQL needs {name}, which is not on the PATH."
        raise Refused(message, hint=f"Install it: apt install postgresql-client-{version}")
    words = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603 - found by name
    number = re.search(r"(\d+)", words)
    if number is None or int(number.group()) < version:
        message = f"{program} is of version {number.group() if number else '?'}, and the server of version {version}."
        raise Refused(message, hint=f"Install one that knows this server: apt install postgresql-client-{version}")
    return program


def _tables_in(part: Path, version: int) -> set[str]:
    """The tables whose rows are in a dump, as its own reader lists them."""
    listing = _run([_program("pg_restore", version), "--list", str(part)], None)
    return set(re.findall(r" TABLE DATA \S+ (\S+) ", listing))


def _run(command: list[str], url: str | None) -> str:
    environment = None if url is None else libpq_environment(url)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - a program of PostgreSQL
    if done.returncode:
        words = redact(" ".join(done.stderr.split()))[:500]
        message = f"{Path(command[0]).name} ended with {done.returncode}: {words}"
        raise DatabaseUnavailable(message, hint="Nothing of the backup was kept. Try again once that is mended.")
    return done.stdout


def _pattern(schema: str) -> str:
    """A name as a pattern that matches itself alone."""
    return '"' + schema.replace('"', '""') + '"'
