"""Brands on each database, by a clock that only the test moves, with the sandbox as the outside world."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from penstock import Penstock
from penstock.apps.brands.application import Brands
from penstock.apps.brands.figures import Figures
from penstock.apps.brands.rows import Brand
from penstock.sandbox import Clock, Sandbox
from penstock.stores import migrations
from penstock.stores.opening import open_database
from penstock.testing.bench import Bench
from tests.support.postgres import Addressed

PACKAGE = "penstock.apps.brands"
TENANT = "acme-inc"


@pytest.fixture(scope="session")
def brands_postgres_url(postgres_server: Addressed) -> Iterator[str]:
    """A schema with our tables in it, made once."""
    schema = f"brands_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server.url(), autocommit=True) as server:
        server.execute(f"create schema {schema}")
        url = postgres_server.url(search_path=schema)
        with closing(open_database(url)) as database:
            migrations.migrate(database)
            migrations.migrate(database, PACKAGE)
        yield url
        server.execute(f"drop schema {schema} cascade")


@pytest.fixture
def clean_postgres_url(brands_postgres_url: str) -> Iterator[str]:
    """That schema, empty again after each test."""
    yield brands_postgres_url
    with psycopg.connect(brands_postgres_url, autocommit=True) as connection:
        rows = connection.execute("select tablename from pg_tables where schemaname = current_schema()").fetchall()
        names = sorted(name for (name,) in rows if name not in {"penstock_migrations", "penstock_events"})
        connection.execute(f"set lock_timeout = '10s'; truncate {', '.join(names)} cascade;")
        connection.execute("set penstock.retention = 'on'; delete from penstock_events;")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> str:
    """Each database in turn: what is asked of one is asked of both."""
    return str(request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "clean_postgres_url"))


@pytest.fixture
def bench(database_url: str, tmp_path: Path) -> Iterator[Bench]:
    with closing(Bench(database_url, tmp_path)) as bench:
        yield bench


@pytest.fixture
def sandbox(bench: Bench) -> Iterator[Sandbox]:
    """The outside world, by the clock of the bench."""
    with Sandbox(seed=7, clock=Clock(lambda: bench.clock.now() / 1_000_000)) as sandbox:
        sandbox.apify.longest_wait_seconds = 0
        yield sandbox


@pytest.fixture
def install(bench: Bench, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Brands]:
    """Puts brands on a new app of the bench, with an account at the sandbox."""
    monkeypatch.setenv("APIFY_TOKEN", "token-of-mine")
    monkeypatch.setenv("APIFY_BASE_URL", f"{sandbox.url}/apify")

    def make(**figures: float) -> Brands:
        app = Penstock()
        brands = Brands(app, figures=Figures(**{"lag_seconds": 0.001, **figures}))
        bench.use(app)
        return brands

    return make


@pytest.fixture
def brands(install: Callable[..., Brands]) -> Brands:
    return install()


@pytest.fixture
def brand(brands: Brands) -> Brand:
    """One brand of one tenant."""
    return brands.add(TENANT, "Acme", {"mission": "Coffee that is worth the walk."})


@pytest.fixture
def settle(bench: Bench) -> Callable[[], None]:
    """Work and let time pass until no job is active."""

    def run(rounds: int = 60, seconds: float = 10) -> None:
        for _ in range(rounds):
            bench.drain()
            counts = bench.store.queues.counts()
            if not any(queue.due + queue.parked + queue.running for queue in counts):
                return
            bench.advance(seconds)
        raise AssertionError("some job is still active")

    return run
