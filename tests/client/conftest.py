"""What the client's tests stand on: the bench, on SQLite as `haulwright`, on each database in turn as `bench`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from haulwright.testing.harness import Harness
from tests.client import joined


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
def on_the_bench(bench: Harness) -> None:
    """The tasks of the tests of joins are those of the bench, and nothing has run yet."""
    joined.runs.clear()
    bench.use(joined.app)
