"""Documents on both databases, by a clock that only the test moves, at a host of files on loopback."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.apps.documents import Documents
from penstock.sandbox import Sandbox
from penstock.testing.bench import Bench
from tests.apps.documents.scenes import World


@pytest.fixture
def database_url(made_database_url: str) -> str:
    return made_database_url


@pytest.fixture
def world(bench: Bench, sandbox: Sandbox, tmp_path: Path) -> World:
    return World.open(bench, sandbox, tmp_path / "content")


@pytest.fixture
def documents(world: World) -> Documents:
    return world.documents
