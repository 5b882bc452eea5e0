"""The brief on both databases, by a clock that only the test moves, with feeds on loopback."""

from __future__ import annotations

from pathlib import Path

import pytest

from haulwright.sandbox import Sandbox
from haulwright.testing.harness import Harness
from tests.apps.brief.scenes import USUAL, World


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the machine's own settings reaches a test."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def database_url(made_database_url: str) -> str:
    return made_database_url


@pytest.fixture
def world(bench: Harness, sandbox: Sandbox) -> World:
    return World.open(bench, sandbox)


@pytest.fixture
def scheduled(bench: Harness, sandbox: Sandbox) -> World:
    """The same with the schedules as they usually are."""
    return World.open(bench, sandbox, USUAL)
