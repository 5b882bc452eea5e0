"""What the conformance suite stands on: the same store on each database, by a clock that only the test moves."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from haulwright.clock import SettableClock
from haulwright.engine.ids import new_id
from haulwright.engine.job import Lease, NewJob
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.store import Store
from tests.stores.scenes import START, claim_one, new_job
from tests.support.postgres import Addressed


@pytest.fixture
def clock(tmp_path: Path) -> SettableClock:
    """One clock for all stores of a test, at midnight."""
    clock = SettableClock(tmp_path / "clock")
    clock.set(START)
    return clock


@pytest.fixture(scope="session")
def migrated_postgres_url(postgres_server: Addressed) -> Iterator[str]:
    """A schema with our tables in it, made once: making it anew would be most of the time of most tests."""
    schema = f"stores_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server.url(), autocommit=True) as server:
        server.execute(f"create schema {schema}")
        url = postgres_server.url(search_path=schema)
        with closing(open_database(url)) as database:
            migrations.migrate(database)
        yield url
        server.execute(f"drop schema {schema} cascade")


@pytest.fixture
def clean_postgres_url(migrated_postgres_url: str) -> Iterator[str]:
    """That schema, empty again after each test."""
    yield migrated_postgres_url
    # A transaction that a test left open is a defect of that test, and shows as a lock time-out here.
    options = "set lock_timeout = '10s'; set haulwright.retention = 'on';"
    with psycopg.connect(migrated_postgres_url, autocommit=True) as connection:
        tables = connection.execute("select tablename from pg_tables where schemaname = current_schema()").fetchall()
        ours = {name for (name,) in tables if name.startswith("haulwright_")}
        emptied = [f"delete from {name};" for name in sorted(ours - {"haulwright_migrations"})]  # noqa: S608 - names read
        dropped = [f"drop table {name};" for (name,) in tables if name not in ours]
        connection.execute(options + "".join(emptied + dropped))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> str:
    """Each database in turn: what is asked of one is asked of both."""
    return str(request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "clean_postgres_url"))


@pytest.fixture
def open_store(database_url: str, clock: SettableClock) -> Iterator[Callable[[], Store]]:
    """Open the same database once more, with connections of its own, as another process would."""
    with ExitStack() as opened:
        yield lambda: Store(opened.enter_context(closing(open_database(database_url, clock=clock))))


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Store:
    """An empty store with its schema in place."""
    store = open_store()
    migrations.migrate(store.database)
    return store


@pytest.fixture
def make_job(store: Store) -> Callable[..., NewJob]:
    """Enqueue a job with these words changed, and return it."""

    def make(**words: Any) -> NewJob:
        job = new_job(**words)
        assert store.jobs.enqueue([job])[0].created
        return job

    return make


@pytest.fixture
def a_job(make_job: Callable[..., NewJob]) -> NewJob:
    """One queued job."""
    return make_job()


@pytest.fixture
def lease(store: Store, worker: str, make_job: Callable[..., NewJob]) -> Lease:
    """The run of one job by the worker."""
    make_job()
    return claim_one(store, worker)


@pytest.fixture
def worker() -> str:
    return new_id()


@pytest.fixture
def other_worker() -> str:
    return new_id()
