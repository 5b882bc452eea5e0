"""Syncs on both databases, by a clock that only the test moves, at an Airbyte on loopback."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from penstock import Penstock
from penstock.apps.syncs.application import Syncs
from penstock.sandbox import Clock, Sandbox
from penstock.stores import migrations
from penstock.stores.opening import open_database
from penstock.testing.bench import Bench
from tests.apps.syncs.scenes import PACKAGE, World
from tests.support.postgres import Addressed


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.sources.airbyte.client.LOOK_SECONDS", 0.01)
    monkeypatch.setattr("penstock.sources.airbyte.client.LAG_SECONDS", 0.02)
    monkeypatch.setattr("penstock.sources.source.FINGERPRINT_ROUNDS", 10)


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the machine's own Airbyte reaches a test."""
    for part in ("BASE_URL", "API_TOKEN", "CLIENT_ID", "CLIENT_SECRET", "WORKSPACE_ID"):
        monkeypatch.delenv(f"AIRBYTE_{part}", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def syncs_postgres_url(postgres_server: Addressed) -> Iterator[str]:
    """A schema with all tables in it, made once: making it anew would be most of the time of most tests."""
    schema = f"syncs_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server.url(), autocommit=True) as server:
        server.execute(f"create schema {schema}")
        url = postgres_server.url(search_path=schema)
        with closing(open_database(url)) as database:
            migrations.migrate(database)
            migrations.migrate(database, PACKAGE)
        yield url
        server.execute(f"drop schema {schema} cascade")


@pytest.fixture
def emptied_postgres_url(syncs_postgres_url: str) -> Iterator[str]:
    """That schema, empty again after each test."""
    yield syncs_postgres_url
    with psycopg.connect(syncs_postgres_url, autocommit=True) as connection:
        tables = connection.execute("select tablename from pg_tables where schemaname = current_schema()").fetchall()
        emptied = [f"delete from {name};" for (name,) in tables if name != "penstock_migrations"]  # noqa: S608 - read
        connection.execute("set lock_timeout = '10s'; set penstock.retention = 'on';" + "".join(emptied))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> str:
    """Each database in turn: what is asked of one is asked of both."""
    return str(request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "emptied_postgres_url"))


@pytest.fixture
def bench(database_url: str, tmp_path: Path) -> Iterator[Bench]:
    with closing(Bench(database_url, tmp_path)) as bench:
        yield bench


@pytest.fixture
def sandbox(bench: Bench) -> Iterator[Sandbox]:
    with Sandbox(seed=7, clock=Clock(lambda: bench.clock.now() / 1_000_000)) as sandbox:
        yield sandbox


@pytest.fixture
def world(bench: Bench, sandbox: Sandbox) -> World:
    return World.open(bench, sandbox)


@pytest.fixture
def app(world: World) -> Penstock:
    return world.app


@pytest.fixture
def syncs(world: World) -> Syncs:
    return world.syncs
