"""What the tests of the API stand on: a real server on loopback, on each database in turn, and callers with tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from haulwright import Haulwright
from tests.api.tokens import Issuer
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


@pytest.fixture(scope="session")
def issuers() -> dict[str, Issuer]:
    """One issuer for each algorithm; their keys are made once."""
    return {algorithm: Issuer.new(algorithm) for algorithm in ("HS256", "RS256", "ES256", "EdDSA")}


@pytest.fixture
def key_file(tmp_path: Path) -> Callable[[Issuer], Path]:
    """Writes the public key of an issuer into a file, for whoever verifies by it."""

    def write(issuer: Issuer) -> Path:
        path = tmp_path / "key.pem"
        path.write_bytes(issuer.pem)
        return path

    return write
