"""What the worker's tests stand on: a bench with a clock of its own, or a real worker by the database's clock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from haulwright import Haulwright
from haulwright.runtime.options import WorkerOptions
from haulwright.runtime.worker import Worker
from haulwright.settings import Settings
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.testing.harness import Harness
from tests.runtime.recorder import Recorder


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> str:
    """Each database in turn, with the tables of the engine and nothing in them."""
    return str(request.getfixturevalue(f"made_{request.param}_url"))


@pytest.fixture
def bench(database_url: str, tmp_path: Path) -> Iterator[Harness]:
    """An empty database of each kind, by a clock that only the test moves."""
    with closing(Harness(database_url, tmp_path)) as bench:
        yield bench


@pytest.fixture
def app(database_url: str) -> Iterator[Haulwright]:
    """An app on an empty database of each kind, by that database's clock."""
    with closing(open_database(database_url)) as database:
        migrations.migrate(database)
    with closing(Haulwright(database_url)) as app:
        yield app


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The defaults, with sweeps that a test can wait for."""
    return Settings.load({"HAULWRIGHT_STALE_CHECK_INTERVAL_SECONDS": "0.2"}, tmp_path)


@pytest.fixture
def start_worker(app: Haulwright, settings: Settings) -> Iterator[Callable[..., Worker]]:
    """Run a worker on a thread of its own; it is stopped at the end."""
    running: list[tuple[Worker, threading.Thread]] = []

    def start(of: Haulwright = app, **options: object) -> Worker:
        worker = Worker(of, WorkerOptions(**{"poll_interval": 0.05, "grace": 0.0, **options}), settings)
        thread = threading.Thread(target=worker.run)
        thread.start()
        running.append((worker, thread))
        return worker

    yield start
    for worker, _ in running:
        worker.stop()
    for _, thread in running:
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture
def recorder(app: Haulwright) -> Recorder:
    """What happens in the workers of the app, call by call."""
    recorder = Recorder()
    app.observe(recorder)
    return recorder
