"""Brings a schema up to date: numbered SQL files, each applied once, under a lock, and checked by its digest.

The engine and each application have their own chain. A schema that is newer than the code, or a file that was changed
after it was applied, is refused. Files only add: what an older version writes stays valid, so that its workers can
finish what they hold (decision 16).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TypeVar

from haulwright.errors import SchemaMismatch
from haulwright.stores.connection import Connection, Database
from haulwright.stores.view_names import declared_names, names_script, take_names

T = TypeVar("T")

ENGINE = "haulwright.stores"
"""The package that holds the engine's own chain."""

_LOCK = 7_361_200_814
"""The advisory lock that migrations take on PostgreSQL; SQLite has one writer anyway."""

_TABLE = """create table if not exists haulwright_migrations (
    chain text not null, number integer not null, name text not null, digest text not null,
    applied_at text not null default current_timestamp, primary key (chain, number))"""
_EXISTS = {
    "sqlite": "select 1 from sqlite_master where name = 'haulwright_migrations'",
    "postgres": "select 1 where to_regclass('haulwright_migrations') is not null",
}
_DUPLICATE = "42P07"
"""What PostgreSQL says of a relation whose name something else has."""
_DUPLICATE_WORDS = re.compile(r"^(table|view|index|trigger) \S+ already exists|^there is already an? ")
"""What SQLite says of it."""
_INSERT = {
    "sqlite": "insert into haulwright_migrations (chain, number, name, digest) values (?, ?, ?, ?)",
    "postgres": "insert into haulwright_migrations (chain, number, name, digest) values (%s, %s, %s, %s)",
}


@dataclass(frozen=True, slots=True)
class Migration:
    """One file of a chain."""

    number: int
    name: str
    sql: str

    @property
    def digest(self) -> str:
        """What was applied, so that a later change of the file is noticed."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Status:
    """How far a schema has come."""

    chain: str
    applied: int
    known: int

    @property
    def current(self) -> bool:
        """Whether nothing is left to apply."""
        return self.applied >= self.known


@cache
def chain_of(package: str, dialect: str) -> tuple[Migration, ...]:
    """The files of a chain, in order, without a gap."""
    folder = files(package) / dialect / "migrations"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    chain = tuple(
        Migration(int(name[:4]), name[5:].removesuffix(".sql"), (folder / name).read_text("utf-8")) for name in names
    )
    if [migration.number for migration in chain] != list(range(1, len(chain) + 1)):
        message = f"The migrations of {package} for {dialect} are not numbered without a gap: {names}."
        raise SchemaMismatch(message, hint="The installation is damaged; install Haulwright again.")
    return chain


def migrate(database: Database, package: str = ENGINE) -> int:
    """Apply what is missing, in one transaction, and return how many files that were."""
    chain = chain_of(package, database.dialect)
    return transact_alone(database, lambda connection: _apply(connection, package, chain))


def transact_alone(database: Database, work: Callable[[Connection], T]) -> T:
    """Run work on the schema in one transaction, which no other such work goes beside."""
    return database.transact(lambda connection: work(_locked(connection)))


def _locked(connection: Connection) -> Connection:
    if connection.dialect == "postgres":
        connection.execute(f"select pg_advisory_xact_lock({_LOCK})")
    return connection


def status(database: Database, package: str = ENGINE, *, newer: bool = False) -> Status:
    """How far the schema has come; refuses one that does not belong to this code, or `newer` accepts what was added."""
    chain = chain_of(package, database.dialect)
    applied = database.read(lambda connection: _applied(connection, package))
    _verify(package, chain, applied[: len(chain)] if newer else applied)
    return Status(package, len(applied), len(chain))


def printed(dialect: str, package: str = ENGINE) -> str:
    """The whole chain as one script for the database's own shell, with its record keeping."""
    parts = ["begin;", _TABLE + ";"]
    chain = chain_of(package, dialect)
    for migration in chain:
        record = f"('{package}', {migration.number}, '{migration.name}', '{migration.digest}')"
        parts += [
            f"-- {migration.number:04} {migration.name}",
            migration.sql.rstrip(),
            f"insert into haulwright_migrations (chain, number, name, digest) values {record};",  # noqa: S608 - our own files
        ]
    return "\n".join([*parts, *names_script(chain, dialect), "commit;"]) + "\n"


def _apply(connection: Connection, package: str, chain: tuple[Migration, ...]) -> int:
    connection.execute(_TABLE)
    applied = _applied(connection, package)
    _verify(package, chain, applied)
    for migration in chain[len(applied) :]:
        _run(connection, migration.sql)
        row = (package, migration.number, migration.name, migration.digest)
        connection.execute(_INSERT[connection.dialect], row)
    # Those of what is new: a name of before that is free was given up on purpose.
    take_names(connection, declared_names(chain[len(applied) :]))
    return len(chain) - len(applied)


def _run(connection: Connection, sql: str) -> None:
    try:
        connection.script(sql)
    except Exception as error:
        text = str(error).partition("\n")[0]
        if getattr(error, "sqlstate", None) != _DUPLICATE and not _DUPLICATE_WORDS.search(text):
            raise
        message = f"The database has something of somebody else's under a name of ours: {text}. Nothing was changed."
        hint = "Give Haulwright a file of its own, or on PostgreSQL a schema: ?options=-csearch_path%3Dhaulwright"
        raise SchemaMismatch(message, hint=hint) from error


def applied_chains(database: Database) -> list[str]:
    """The packages whose chains the schema has, at least in part."""
    return database.read(_chains)


def _chains(connection: Connection) -> list[str]:
    if not connection.execute(_EXISTS[connection.dialect]):
        return []
    return [chain for (chain,) in connection.execute("select distinct chain from haulwright_migrations order by 1")]


def _applied(connection: Connection, package: str) -> list[tuple[int, str]]:
    if not connection.execute(_EXISTS[connection.dialect]):
        return []
    mark = "?" if connection.dialect == "sqlite" else "%s"
    sql = f"select number, digest from haulwright_migrations where chain = {mark} order by number"  # noqa: S608 - constant
    return [(number, digest) for number, digest in connection.execute(sql, (package,))]


def _verify(package: str, chain: tuple[Migration, ...], applied: list[tuple[int, str]]) -> None:
    if len(applied) > len(chain):
        message = f"The schema of {package} is at version {len(applied)}, and this code knows {len(chain)}."
        raise SchemaMismatch(message, hint="Upgrade Haulwright on this host; an older version must not touch it.")
    for migration, (number, digest) in zip(chain, applied, strict=False):
        if (migration.number, migration.digest) != (number, digest):
            message = f"Migration {number} of {package} was applied from another file than this code has."
            raise SchemaMismatch(message, hint="Install the version that made this schema, or restore a backup.")
