"""What the tests of the API stand on: a real server on loopback, on each database in turn, and callers with tokens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from haulwright import Haulwright
from tests.support.api import Served, serving

__all__ = ["Served", "serving"]


@pytest.fixture
def walled() -> bool:
    """The database is as `db migrate` leaves it."""
    return True


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> str:
    """Each database in turn, with the tables of the engine and nothing in them."""
    return str(request.getfixturevalue(f"made_{request.param}_url"))


@pytest.fixture
def app(database_url: str) -> Haulwright:
    """An app with two tasks."""
    app = Haulwright(database_url)

    @app.task()
    def add(a: int, b: int = 2) -> int:
        return a + b

    @app.task(audit=True, retry=1)
    def fail(why: str) -> None:
        raise RuntimeError(why)

    app.operations().schema.migrate()
    return app


@pytest.fixture
def served(app: Haulwright) -> Iterator[Served]:
    """The app behind its API."""
    with closing(app), serving(app) as served:
        yield served
