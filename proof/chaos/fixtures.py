"""Where the chaos and the soak take place: each database in turn, one of its own that may be mistreated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from proof.chaos.campaign import CLIENTS, WORKERS
from proof.chaos.places import Place, postgres_place, sqlite_place
from tests.support.binaries import PostgresUnavailable

DATABASES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=DATABASES)
def small_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """On a small disk of its own, where one may be mounted."""
    yield from _place(request, tmp_path, own_disk=True)


@pytest.fixture(params=DATABASES)
def roomy_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """On the disk of this machine."""
    yield from _place(request, tmp_path, own_disk=False)


def _place(request: pytest.FixtureRequest, folder: Path, *, own_disk: bool) -> Iterator[Place]:
    if request.param == "sqlite":
        with sqlite_place(folder, WORKERS, CLIENTS, own_disk=own_disk) as place:
            yield place
        return
    try:
        with postgres_place(WORKERS, CLIENTS, own_disk=own_disk) as place:
            yield place
    except PostgresUnavailable as reason:
        pytest.skip(f"no PostgreSQL: {reason}")
