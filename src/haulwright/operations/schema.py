"""The schema of a database: how far each chain of migrations has come, and bringing it up to date."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from haulwright.discovery import installed_applications
from haulwright.operations.access import allowed
from haulwright.operations.onlooker import Onlooker
from haulwright.stores import migrations
from haulwright.stores.connect import open_database


@dataclass(frozen=True, slots=True)
class ChainStatus:
    """How far one chain of migrations has come."""

    schema: str
    """`engine`, or the name of an application."""
    applied: int
    known: int

    @property
    def current(self) -> bool:
        """Whether nothing is left to apply."""
        return self.applied == self.known


@dataclass(frozen=True, slots=True)
class AppliedMigration:
    """A migration that was applied just now."""

    schema: str
    number: int
    name: str


@dataclass(frozen=True, slots=True)
class MigrationRun:
    """What a run of the migrations did."""

    version: int
    """Of the engine's schema, as it is now."""
    applied: list[AppliedMigration]


class SchemaOperations(Onlooker):
    """Look at the schema, and migrate it: the engine's chain, those that the app needs, and those of applications."""

    @allowed("schema.read")
    def status(self) -> list[ChainStatus]:
        """How far the engine's chain and those that the app needs have come. Nothing is made and nothing changed."""
        with self._app.existing_store() as store:
            states = [
                migrations.Status(package, 0, len(migrations.chain_of(package, "sqlite")))
                if store is None
                else migrations.status(store.database, package)
                for package in self._packages(())
            ]
        return [ChainStatus(_short(state.chain), state.applied, state.known) for state in states]

    @allowed("schema.migrate")
    def migrate(self, applications: Sequence[str] = ()) -> MigrationRun:
        """Apply what is missing of the engine's chain, of those the app needs and of these, each in one transaction."""
        with closing(open_database(self._app.database_url)) as database:
            counts = {package: migrations.migrate(database, package) for package in self._packages(applications)}
        applied = [
            AppliedMigration(_short(package), migration.number, migration.name)
            for package, count in counts.items()
            if count
            for migration in migrations.chain_of(package, database.dialect)[-count:]
        ]
        return MigrationRun(len(migrations.chain_of(migrations.ENGINE, database.dialect)), applied)

    @allowed("schema.read")
    def script(self, dialect: str, applications: Sequence[str] = ()) -> str:
        """The whole schema as a script for the database's own shell. Connects to nothing."""
        return "\n".join(migrations.printed(dialect, package) for package in self._packages(applications))

    def _packages(self, applications: Sequence[str]) -> list[str]:
        """The chains in question, the engine's first."""
        named = [installed_applications().get(name).package for name in applications]
        return list(dict.fromkeys([migrations.ENGINE, *named, *self._app.tables]))


def _short(package: str) -> str:
    return "engine" if package == migrations.ENGINE else installed_applications().name_of(package)
