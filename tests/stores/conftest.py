"""What the conformance suite stands on: the same store on each database, by a clock that only the test moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from penstock.clock import SettableClock
from penstock.engine.ids import new_id
from penstock.engine.job import NewJob
from penstock.stores import migrations
from penstock.stores.opening import open_database
from penstock.stores.store import Store
from tests.stores.scenes import START, new_job


@pytest.fixture
def clock(tmp_path: Path) -> SettableClock:
    """One clock for all stores of a test, at midnight."""
    clock = SettableClock(tmp_path / "clock")
    clock.set(START)
    return clock


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
def worker() -> str:
    return new_id()


@pytest.fixture
def other_worker() -> str:
    return new_id()
