"""What the conformance suite stands on: the same store on each database, by a clock that only the test moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from haulwright.clock import SettableClock
from haulwright.engine.ids import new_id
from haulwright.engine.job import Lease, NewJob
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.store import Store
from tests.stores.scenes import START, claim_one, new_job


@pytest.fixture
def clock(tmp_path: Path) -> SettableClock:
    """One clock for all stores of a test, at midnight."""
    clock = SettableClock(tmp_path / "clock")
    clock.set(START)
    return clock


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> str:
    """Each database in turn, with the tables of the engine and nothing in them."""
    return str(request.getfixturevalue(f"made_{request.param}_url"))


@pytest.fixture
def open_store(database_url: str, clock: SettableClock) -> Iterator[Callable[[], Store]]:
    """Open the same database once more, with connections of its own, as another process would."""
    with ExitStack() as opened:
        yield lambda: Store(opened.enter_context(closing(open_database(database_url, clock=clock))))


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Store:
    """An empty store with its schema in place."""
    store = open_store()
    migrations.status(store.database)
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
