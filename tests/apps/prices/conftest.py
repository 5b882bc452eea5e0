"""Prices on both databases, by a clock that only the test moves, at shops on loopback."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from haulwright import Haulwright
from haulwright.apps.prices import Prices
from haulwright.clock import CLOCK_VARIABLE, TESTING_VARIABLE
from haulwright.sandbox import Sandbox
from haulwright.testing.harness import Harness
from tests.apps.prices.scenes import World

WHEN_SHOPS_ARE_FULL = datetime(2026, 9, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the machine's own settings reaches a test."""
    for name in ("JOB_LOCK_TIMEOUT_SECONDS", "CACHE_TTL_SECONDS", "CACHE_ENABLED", "WORKER_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def database_url(made_database_url: str) -> str:
    return made_database_url


@pytest.fixture
def bench(bench: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
    """The worker without threads, when the shops have something to show; what is kept grows old by its clock too."""
    bench.freeze(WHEN_SHOPS_ARE_FULL)
    monkeypatch.setenv(CLOCK_VARIABLE, str(tmp_path / "haulwright-clock"))
    monkeypatch.setenv(TESTING_VARIABLE, "1")
    return bench


@pytest.fixture
def world(bench: Harness, sandbox: Sandbox) -> World:
    return World.open(bench, sandbox)


@pytest.fixture
def app(world: World) -> Haulwright:
    return world.app


@pytest.fixture
def prices(world: World) -> Prices:
    return world.prices
