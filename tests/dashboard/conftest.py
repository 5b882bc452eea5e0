"""What the tests of the dashboard stand on: a real server on loopback, on each database, and people with sessions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from haulwright import Context, Haulwright
from tests.support.api import Served
from tests.support.dashboard import Person, people


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
    """An app with tasks that succeed, fail, and do something outside."""
    app = Haulwright(database_url)

    @app.task()
    def add(a: int, b: int = 2) -> int:
        return a + b

    @app.task(audit=True, retry=1)
    def fail(why: str) -> None:
        raise RuntimeError(why)

    @app.task()
    def greet(ctx: Context, name: str) -> str:
        return str(ctx.effect("greeting", lambda: {"words": f"Hello {name}"})["words"])

    app.operations().schema.migrate()
    return app


@pytest.fixture
def served(app: Haulwright) -> Iterator[Served]:
    """The app behind its API and its dashboard."""
    with closing(app), people(app) as served:
        yield served


@pytest.fixture
def person(served: Served) -> Person:
    """Somebody who has not logged in."""
    return Person(served)


@pytest.fixture
def admin(served: Served) -> Person:
    """Somebody who runs the installation, with a session."""
    return Person(served).log_in()
