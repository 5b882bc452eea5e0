"""The schema of a database: how far each chain of migrations has come, and bringing it up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from haulwright.discovery import installed_applications
from haulwright.errors import NotFound, Refused
from haulwright.operations.access import allowed
from haulwright.operations.growth import DatabaseGrowth, measure
from haulwright.operations.onlooker import Onlooker, current_store
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.integrity import Integrity
from haulwright.stores.view_names import ViewName, declared_names, drop_names, find_names, take_names

if TYPE_CHECKING:
    from haulwright.settings import Settings
    from haulwright.stores.connection import Connection, Database


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
    encoding: str
    """In which the database keeps text, in the server's own word."""
    left_alone: list[ViewName]
    """Names of documents that something of somebody else's has, and that were therefore not taken for our views."""


@dataclass(frozen=True, slots=True)
class ApplicationViewName:
    """A name of an application's document for one of its views, and who has it."""

    application: str
    held: ViewName


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

    @allowed("schema.read")
    def growth(self, settings: Settings) -> DatabaseGrowth | None:
        """How large the database is, and what retention will remove; None where it is missing, or behind this code."""
        with self._app.existing_store() as store:
            if store is None or not migrations.status(store.database).current:
                return None
            return measure(store, settings)

    @allowed("schema.migrate")
    def migrate(self, applications: Sequence[str] = ()) -> MigrationRun:
        """Apply what is missing of the engine's chain, of those the app needs and of these, each in one transaction."""
        with closing(open_database(self._app.database_url)) as database:
            counts = {package: migrations.migrate(database, package) for package in self._packages(applications)}
            _raise_wall(database, list(counts))
            names = [name for package in counts for name in _declared(package, database)]
            rows = database.read(lambda connection: find_names(connection, names))
            encoding = Integrity(database).encoding()
        applied = [
            AppliedMigration(_short(package), migration.number, migration.name)
            for package, count in counts.items()
            if count
            for migration in migrations.chain_of(package, database.dialect)[-count:]
        ]
        left_alone = [row for row in rows if row.state == "foreign"]
        version = len(migrations.chain_of(migrations.ENGINE, database.dialect))
        return MigrationRun(version, applied, encoding, left_alone)

    @allowed("schema.read")
    def script(self, dialect: str, applications: Sequence[str] = ()) -> str:
        """The whole schema as a script for the database's own shell. Connects to nothing."""
        packages = self._packages(applications)
        scripts = [migrations.printed(dialect, package) for package in packages]
        if dialect == "postgres":
            from haulwright.stores.postgres.wall import wall_script  # noqa: PLC0415 - the driver is optional

            scripts.append(wall_script(packages))
        return "\n".join(scripts)

    @allowed("schema.read")
    def view_names(self) -> list[ApplicationViewName]:
        """The names that documents have for the views of applications, and who has each. Nothing is changed."""
        with self._declared_names() as (database, owners):
            return _by_application(owners, database.read(lambda connection: find_names(connection, owners)))

    @allowed("schema.migrate")
    def take_view_names(self, names: Sequence[str] = ()) -> list[ApplicationViewName]:
        """Put our views under these names, or under all that are free. What somebody else has is never touched."""
        return self._change_names(take_names, names)

    @allowed("schema.migrate")
    def drop_view_names(self, names: Sequence[str] = ()) -> list[ApplicationViewName]:
        """Give up these names, or all that our views have; the views themselves stay under their own names."""
        return self._change_names(drop_names, names)

    def _change_names(
        self, change: Callable[[Connection, Iterable[str]], list[ViewName]], names: Sequence[str]
    ) -> list[ApplicationViewName]:
        with self._declared_names() as (database, owners):
            for name in names:
                if name not in owners:
                    hint = f"There are: {', '.join(owners) or 'none, for no application has tables here'}."
                    raise NotFound("view name", name, hint=hint)

            def work(connection: Connection) -> list[ViewName]:
                _require_not_foreign(find_names(connection, names))
                return change(connection, names or owners)

            return _by_application(owners, migrations.transact_alone(database, work))

    @contextmanager
    def _declared_names(self) -> Iterator[tuple[Database, dict[str, str]]]:
        """The database, and the application of each name that the chains in it have a view for."""
        installed = {spec.package for spec in installed_applications().specs.values()} | set(self._app.tables)
        with current_store(self._app) as store:
            chains = [chain for chain in migrations.applied_chains(store.database) if chain in installed]
            yield store.database, {name: _short(chain) for chain in chains for name in _declared(chain, store.database)}

    def _packages(self, applications: Sequence[str]) -> list[str]:
        """The chains in question, the engine's first."""
        named = [installed_applications().get(name).package for name in applications]
        return list(dict.fromkeys([migrations.ENGINE, *named, *self._app.tables]))


def _raise_wall(database: Database, packages: Sequence[str]) -> None:
    """Put the second wall up where it can be; `doctor` says where it is not, and why."""
    if database.dialect == "postgres":
        from haulwright.stores.postgres.wall import raise_wall  # noqa: PLC0415 - the driver is optional

        raise_wall(database, packages)


def _short(package: str) -> str:
    return "engine" if package == migrations.ENGINE else installed_applications().name_of(package)


def _declared(package: str, database: Database) -> list[str]:
    return declared_names(migrations.chain_of(package, database.dialect))


def _by_application(owners: dict[str, str], rows: list[ViewName]) -> list[ApplicationViewName]:
    return [ApplicationViewName(owners[row.name], row) for row in rows]


def _require_not_foreign(rows: list[ViewName]) -> None:
    for row in rows:
        if row.state == "foreign":
            message = f"The name {row.name} belongs to a {row.kind} that is not ours, and that is left as it is."
            raise Refused(message, hint=f"{row.instead.capitalize()} instead, or rename the {row.kind} first.")
