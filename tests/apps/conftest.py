"""What the tests of applications share: tables that are made once, a worker without threads, and one outside world.

A folder of tests is named after its application; `made_database_url` is each database in turn with the tables of the
engine and of that application in it, and nothing else.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from haulwright.discovery import installed_applications
from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.testing.harness import Harness
from tests.support.postgres import Addressed

SEED = 7


@pytest.fixture(autouse=True)
def _quick_fingerprints(monkeypatch: pytest.MonkeyPatch) -> None:
    """What makes a credential hard to guess from its fingerprint would be most of the time of most tests."""
    monkeypatch.setattr("haulwright.sources.source.FINGERPRINT_ROUNDS", 10)


class Tables:
    """Databases with the tables of an application, each made once in a process: it takes longer than most tests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, Path] = {}
        self._schemas: dict[str, str] = {}

    def file(self, package: str) -> Path:
        """An SQLite file to be copied."""
        if package not in self._files:
            self._files[package] = self._folder / f"{package}.db"
            _migrate(f"sqlite:///{self._files[package]}", package)
        return self._files[package]

    def schema(self, package: str, server: Addressed) -> str:
        """A schema of a PostgreSQL server, to be left empty."""
        if package not in self._schemas:
            name = f"apps_{uuid.uuid4().hex}"
            with psycopg.connect(server.url(), autocommit=True) as connection:
                connection.execute(f"create schema {name}")
            self._schemas[package] = server.url(search_path=name)
            _migrate(self._schemas[package], package)
        return self._schemas[package]


def _migrate(url: str, package: str) -> None:
    with closing(open_database(url)) as database:
        migrations.migrate(database)
        migrations.migrate(database, package)


def _empty(url: str) -> None:
    """Delete every row, whatever refers to it and whoever forbids it: triggers and keys do not hold for a replica."""
    with psycopg.connect(url, autocommit=True) as connection:
        tables = connection.execute("select tablename from pg_tables where schemaname = current_schema()").fetchall()
        emptied = [f"delete from {name};" for (name,) in tables if name != "haulwright_migrations"]  # noqa: S608 - read
        connection.execute("set lock_timeout = '10s'; set session_replication_role = replica;" + "".join(emptied))


@pytest.fixture
def package(request: pytest.FixtureRequest) -> str:
    """The application that the folder of a test is about."""
    return installed_applications().get(request.path.parent.name).package


@pytest.fixture(scope="session")
def made_tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return Tables(tmp_path_factory.mktemp("tables"))


@pytest.fixture
def made_sqlite_url(made_tables: Tables, package: str, tmp_path: Path) -> str:
    """A file with the tables in it."""
    return f"sqlite:///{shutil.copy(made_tables.file(package), tmp_path / 'haulwright.db')}"


@pytest.fixture
def made_postgres_url(made_tables: Tables, package: str, postgres_server: Addressed) -> Iterator[str]:
    """A schema with the tables in it, empty again after each test."""
    url = made_tables.schema(package, postgres_server)
    yield url
    _empty(url)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def made_database_url(request: pytest.FixtureRequest) -> str:
    """Each database in turn: what is asked of one is asked of both."""
    return str(request.getfixturevalue(f"made_{request.param}_url"))


@pytest.fixture
def bench(database_url: str, tmp_path: Path) -> Iterator[Harness]:
    """A worker without threads, by a clock that only the test moves."""
    with closing(Harness(database_url, tmp_path)) as bench:
        yield bench


class Time:
    """The time of the outside world: that of whichever bench is in use."""

    bench: Harness | None = None

    def now(self) -> float:
        return self.bench.clock.now() / 1_000_000 if self.bench else 0.0


@pytest.fixture(scope="session")
def outside() -> Iterator[tuple[Sandbox, Time]]:
    """The outside world of this process; what a test did to it is forgotten before the next."""
    time = Time()
    with Sandbox(seed=SEED, clock=SandboxClock(time.now)) as sandbox:
        yield sandbox, time


@pytest.fixture
def sandbox(bench: Harness, outside: tuple[Sandbox, Time]) -> Iterator[Sandbox]:
    """The outside world, by the clock of the bench."""
    sandbox, time = outside
    time.bench = bench
    sandbox.reset()
    sandbox.clock.set(time.now())
    sandbox.apify.longest_wait_seconds = 0
    yield sandbox
    sandbox.faults.clear()
